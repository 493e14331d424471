"""How two results, or two claim ledgers, differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from onset.errors import OnsetError
from onset.pipeline.explain import differences

if TYPE_CHECKING:
    import xarray as xr


def compare_files(first: Path, second: Path, rtol: float, atol: float) -> tuple[str, bool]:
    """What differs between two files, and whether they agree within `atol + rtol * |first|`.

    Of two netCDF results the parameters and every variable are compared; missing values must be in the same
    places.  Of two ledgers (JSON) the verdict on every claim is.  Raises OnsetError where a file is neither,
    is damaged, or they are of different kinds.
    """
    if first.suffix == second.suffix == ".json":
        from onset.claims.comparison import compare_ledgers, read_ledger

        lines, same = compare_ledgers(read_ledger(first), read_ledger(second), rtol, atol)
        return "\n".join(lines), same
    for path in (first, second):
        if path.suffix != ".nc":
            raise OnsetError(
                f"{path} cannot be compared: name two results (.nc), or two claim ledgers (.json)"
            )
    from onset.store.netcdf import read_result

    one, two = read_result(first), read_result(second)
    before, after = (json.loads(dataset.attrs["onset_params"]) for dataset in (one, two))
    lines = [f"parameter {key}: {old!r} -> {new!r}" for key, old, new in differences(before, after)]
    if one.attrs["onset_content"] == two.attrs["onset_content"]:
        return "\n".join([*lines, "the content is the same, bit for bit"]), True
    found = list(_compare_variables(one, two, rtol, atol))
    beyond = sum(not agrees for _, agrees in found)
    lines += [line for line, _ in found]
    lines.append(
        f"{beyond} of {len(found)} variable(s) differ by more than {atol:g} + {rtol:g} times the first"
    )
    return "\n".join(lines), beyond == 0


def _compare_variables(
    one: xr.Dataset, two: xr.Dataset, rtol: float, atol: float
) -> Iterator[tuple[str, bool]]:
    """A line for each variable of either, and whether it agrees."""
    for name in sorted(map(str, {*one.variables, *two.variables})):
        if name not in one.variables or name not in two.variables:
            yield f"{name}: only in the {'first' if name in one.variables else 'second'}", False
        else:
            line, agrees = _compare_arrays(one[name].variable, two[name].variable, rtol, atol)
            yield f"{name}: {line}", agrees


def _compare_arrays(a: xr.Variable, b: xr.Variable, rtol: float, atol: float) -> tuple[str, bool]:
    import numpy as np

    if dict(a.sizes) != dict(b.sizes):
        return f"shape {_spell(a)} -> {_spell(b)}", False
    if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        same = bool((a.values == b.values).all())
        return ("the same" if same else "differs"), same
    old, new = a.values.astype(float), b.transpose(*a.dims).values.astype(float)
    missing = int((np.isnan(old) != np.isnan(new)).sum())
    if missing:
        return f"{missing} value(s) are missing in one alone", False
    kept = ~np.isnan(old) & (old != new)
    if not kept.any():
        return "the same", True
    gap = np.abs(new[kept] - old[kept])
    agrees = bool((gap <= atol + rtol * np.abs(old[kept])).all())
    judged = "within" if agrees else "beyond"
    return (
        f"largest difference {gap.max():.3g}, at {int(kept.sum())} value(s), {judged} the tolerance",
        agrees,
    )


def _spell(variable: xr.Variable) -> str:
    return "(" + ", ".join(f"{dim} {size}" for dim, size in variable.sizes.items()) + ")"
