"""What claims of several figures share: medians over seeds, comparisons of runs, final scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.claims.seeds import median_interval
from onset.papers.gmc.selection import (
    BEST,
    NAMES,
    SCORES,
    emergence_steps,
    loss_progress,
    take_best,
    take_levels,
)

Inputs = Mapping[str, xr.Dataset]
EMERGED = "the loss is half-way from the uniform average to the Bayes floor"


def describe_seeds(values: np.ndarray) -> str:
    """`median of 4 seeds, 0.91 to 0.95`, of values that are finite; for one seed, that it is one."""
    if len(values) == 1:
        return "one seed"
    return f"median of {len(values)} seeds, {values.min():.3g} to {values.max():.3g}"


def take_median(values: xr.DataArray, detail: str = "") -> Measured:
    """Median over seeds of values (seed,), with their range; undecided where half of them do not exist."""
    found = values.values.astype(np.float64).ravel()
    finite = found[np.isfinite(found)]
    if 2 * len(finite) <= len(found):
        return Measured(
            None, undecided=f"{len(found) - len(finite)} of {len(found)} seeds have no such number"
        )
    missing = f"; {len(found) - len(finite)} without" if len(finite) < len(found) else ""
    text = describe_seeds(finite) + missing
    return Measured(
        float(np.median(finite)), f"{text}; {detail}" if detail else text, spread=median_interval(finite)
    )


def take_worst(values: Mapping[str, xr.DataArray], largest: bool = True) -> Measured:
    """The largest (or least) over names of the medians over seeds; every median in the detail."""
    medians = {name: take_median(found) for name, found in values.items()}
    for name, one in medians.items():
        if one.value is None:
            return Measured(None, undecided=f"{name}: {one.undecided}")
    numbers = {name: float(one.value or 0.0) for name, one in medians.items()}
    detail = "; ".join(f"{name}: {numbers[name]:.3g} ({one.detail})" for name, one in medians.items())
    return Measured((max if largest else min)(numbers.values()), detail)


def last_best(runs: xr.Dataset, name: str) -> xr.DataArray:
    """Score of the best head at the last record, on the sequences used along training: (seed,)."""
    return take_best(runs[name]).isel(step=-1, drop=True)


def final_best(runs: xr.Dataset, name: str) -> xr.DataArray:
    """PTH or IH-MC of the best head on all test sequences at the end: (seed,)."""
    return runs[f"final_{name}"].astype(np.float64).max(BEST)


def first_best(runs: xr.Dataset) -> dict[str, xr.DataArray]:
    """Scores of the best head before the first step, by the score's name: (seed,) each."""
    return {NAMES[name]: take_best(runs[name]).isel(step=0, drop=True) for name in SCORES}


def final_progress(runs: xr.Dataset, floors: xr.Dataset, role: str) -> xr.DataArray:
    """Share of the way from uniform average to Bayes floor, all test sequences, at the end: (seed,)."""
    return loss_progress(runs.final_loss, take_levels(floors, role, "all"))


def emergence_of(inputs: Inputs, role: str) -> xr.DataArray:
    """Emergence step of each seed of a role's runs: (seed,), NaN where there is none."""
    return emergence_steps(inputs[role], take_levels(inputs["floors"], role))


def compare_pairs(first: xr.DataArray, second: xr.DataArray, what: str, resolution: float = 0.0) -> Measured:
    """Median over common seeds of second/first, steps (seed,) each: runs of equal seed share start and data.

    Undecided where seeds do not agree which is larger, where a seed lacks a number, or where the median
    difference is below `resolution` steps.
    """
    first, second = xr.align(first, second, join="inner")
    if first.sizes["seed"] == 0:
        return Measured(None, absent="no seed in common")
    ratio = (second / first).values.astype(np.float64)
    if not np.isfinite(ratio).all():
        return Measured(None, undecided=f"a seed has no {what}")
    pairs = f"{len(ratio)} pair" + "s" * (len(ratio) > 1)
    detail = f"{what}: {_list_numbers(first)} and {_list_numbers(second)}, {pairs}"
    undecided = ""
    if len(set(np.sign(ratio - 1))) > 1:
        undecided = f"seeds disagree: ratios {', '.join(f'{one:.3g}' for one in ratio)}"
    elif abs(float((second - first).median())) < resolution:
        undecided = f"apart by less than the {resolution:g} steps that records resolve"
    return Measured(float(np.median(ratio)), detail, undecided)


def record_interval(runs: xr.Dataset) -> float:
    """Steps between two records."""
    return float(np.diff(runs["step"].values).max())


def _list_numbers(values: xr.DataArray) -> str:
    return ", ".join(f"{value:.4g}" for value in values.values)
