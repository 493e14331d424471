"""What a file is and what made it; how two results differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onset.errors import OnsetError
from onset.pipeline.explain import differences
from onset.store.record import read_record


def format_file(path: Path) -> str:
    """Identity, parameters, provenance and, for results and checkpoints, variables of a published file.

    Raises OnsetError where it is missing or not a file of this pipeline.
    """
    if not path.exists():
        raise OnsetError(f"{path} does not exist")
    record = read_record(path) or {}
    lines = [str(path)]
    if path.suffix == ".nc":
        from onset.store.netcdf import read_result

        dataset = read_result(path)
        lines += _fields({k: v for k, v in dataset.attrs.items() if k != "onset_params"})
        lines += _parameters(json.loads(dataset.attrs["onset_params"]))
        lines += ["variables:"]
        for name, variable in dataset.variables.items():
            shape = ", ".join(f"{dim} {size}" for dim, size in variable.sizes.items())
            meaning = variable.attrs.get("long_name", "")
            lines.append(f"  {name} ({shape}) {variable.dtype} [{variable.attrs.get('units', '')}] {meaning}")
    elif path.suffix == ".safetensors":
        from onset.store.checkpoints import read_checkpoint

        arrays, attributes = read_checkpoint(path)
        lines += _fields({k: v for k, v in attributes.items() if k != "onset_params"})
        lines += [f"  {name} {array.shape} {array.dtype}" for name, array in arrays.items()]
    elif record:
        lines += _parameters(record["parameters"])
    else:
        raise OnsetError(f"{path} has no record beside it, so it is not known what made it")
    if record:
        shown = (
            "recipe",
            "revision",
            "rule",
            "code",
            "python",
            "libraries",
            "device",
            "seconds",
            "peak_memory_mb",
        )
        lines += ["record:", *_fields({key: record[key] for key in shown if key in record})]
        lines += ["made from:"]
        lines += [
            f"  {part['step']} (recipe {recipe})" for recipe, part in record.get("ancestry", {}).items()
        ]
    return "\n".join(lines)


def format_difference(first: Path, second: Path) -> str:
    """Parameters that differ, and for each variable of both results the largest absolute difference."""
    import numpy as np

    from onset.store.netcdf import read_result

    one, two = read_result(first), read_result(second)
    before, after = (json.loads(d.attrs["onset_params"]) for d in (one, two))
    lines = [f"parameter {key}: {old!r} -> {new!r}" for key, old, new in differences(before, after)]
    if one.attrs["onset_content"] == two.attrs["onset_content"]:
        return "\n".join([*lines, "the content is the same, bit for bit"])
    for name in sorted(map(str, {*one.variables, *two.variables})):
        if name not in one.variables or name not in two.variables:
            lines.append(f"{name}: only in {first if name in one.variables else second}")
            continue
        a, b = one[name], two[name]
        if a.shape != b.shape:
            lines.append(f"{name}: shape {a.shape} -> {b.shape}")
        elif a.dtype.kind in "fiub" and b.dtype.kind in "fiub":
            gap = np.abs(a.values.astype(float) - b.values.astype(float))
            lines.append(f"{name}: largest difference {np.nanmax(gap) if gap.size else 0:.3g}")
        elif not a.equals(b):
            lines.append(f"{name}: differs")
    return "\n".join(lines)


def _fields(values: dict[str, Any]) -> list[str]:
    return [f"  {key}: {value}" for key, value in values.items()]


def _parameters(tree: dict[str, Any]) -> list[str]:
    return [
        "parameters:",
        *(f"  {key.removeprefix('own.')}: {value}" for key, _, value in differences({}, tree)),
    ]
