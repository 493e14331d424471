"""From one number or one yes a seed to what a claim is judged by."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.claims.seeds import median_interval

Inputs = Mapping[str, xr.Dataset]
LEARNED = 0.8
"""A run has learned something where its excess loss falls below this share of that before training."""


def count_seeds(seeds: int) -> str:
    """`one seed` or `4 seeds`."""
    return "one seed" if seeds == 1 else f"{seeds} seeds"


def list_numbers(values: xr.DataArray) -> str:
    """Numbers of all seeds, three digits each."""
    return ", ".join(f"{value:.3g}" for value in np.asarray(values, dtype=np.float64).ravel())


def judge_share(holds: xr.DataArray, known: xr.DataArray, least: float, detail: str = "") -> Measured:
    """Share of seeds for which something holds, where it is to be at least `least`.

    holds, known (seed,) bool.  Seeds of which it is not known can turn out either way: undecided where that
    would turn the verdict.
    """
    yes, unknown, seeds = int((holds & known).sum()), int((~known).sum()), holds.size
    text = f"{yes} of {count_seeds(seeds)}" + (f", {unknown} not known" if unknown else "")
    text = f"{text}; {detail}" if detail else text
    if yes >= least * seeds:
        return Measured(yes / seeds, text)
    if yes + unknown < least * seeds:
        return Measured((yes + unknown) / seeds, text)
    return Measured(None, undecided=text)


def take_median(values: xr.DataArray, detail: str = "") -> Measured:
    """Median over seeds of values (seed,), with all of them; undecided where half of them do not exist."""
    found = values.values.astype(np.float64).ravel()
    finite = found[np.isfinite(found)]
    if 2 * len(finite) <= len(found):
        return Measured(None, undecided=f"{len(found) - len(finite)} of {len(found)} seeds have no number")
    text = f"{count_seeds(len(found))}: {list_numbers(values)}"
    return Measured(
        float(np.median(finite)), f"{text}; {detail}" if detail else text, spread=median_interval(finite)
    )


def take_extreme(values: xr.DataArray, largest: bool, detail: str = "") -> Measured:
    """The largest or least over seeds of values (seed,), with all of them; undecided where one is missing."""
    found = values.values.astype(np.float64).ravel()
    text = f"{count_seeds(len(found))}: {list_numbers(values)}"
    if not np.isfinite(found).all():
        return Measured(None, undecided=f"a seed has no number; {text}")
    return Measured(float(found.max() if largest else found.min()), f"{text}; {detail}" if detail else text)


def list_increasing(steps: xr.DataArray, dim: str) -> xr.DataArray:
    """Whether steps (seed, dim) strictly increase along `dim`: (seed,) bool; False where one is NaN."""
    values = steps.transpose("seed", dim).values
    with np.errstate(invalid="ignore"):
        return steps.isel({dim: 0}, drop=True).copy(data=(np.diff(values, axis=-1) > 0).all(-1))


def lack_run(label: str) -> Measured:
    """What a measure returns where this scale leaves its run out."""
    return Measured(None, absent=f"there is no run {label} at this scale")
