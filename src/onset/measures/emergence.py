"""When something emerges in training: crossings of a share of the way, and how steep the change is.

A curve's progress is its share of the way from a level where nothing is learned (a plateau's loss, a random
score) to one where all is (a floor, a ceiling), so that losses, which fall, and scores, which rise, are read
alike and a curve that never gets there has no crossing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

EXPONENTIAL_SPAN = float(1 / np.log(2))
"""Steps of the whole way at the steepest rate over steps to half of it, for an exponential approach."""


def measure_progress(
    curve: xr.DataArray, start: xr.DataArray | float, end: xr.DataArray | float
) -> xr.DataArray:
    """Share of the way from `start` to `end`: 0 and 1 there, for falling and rising curves alike.

    `start` and `end` are numbers or arrays that broadcast against the curve.
    """
    return (curve.astype(np.float64) - start) / (end - start)


def crossing_step(progress: xr.DataArray, share: float = 0.5, dim: str = "step") -> xr.DataArray:
    """First step at which progress (..., step) is at or above `share`, on a straight line between records.

    The first record's step where it starts there; NaN where it never gets there.
    """
    steps = progress[dim].values.astype(np.float64)
    above = progress.transpose(..., dim)
    values = above.values - share
    reached = values >= 0
    after = reached.argmax(-1)
    before = np.maximum(after - 1, 0)
    high, low = (np.take_along_axis(values, at[..., None], -1)[..., 0] for at in (after, before))
    part = np.divide(-low, high - low, out=np.zeros_like(high), where=high > low)
    crossed = steps[before] + np.where(after > 0, part, 0.0) * (steps[after] - steps[before])
    return _without(progress, dim, np.where(reached.any(-1), crossed, np.nan))


def rise_time(progress: xr.DataArray, low: float = 0.1, high: float = 0.5, dim: str = "step") -> xr.DataArray:
    """Steps from the first crossing of `low` to that of `high`; NaN where the latter never comes."""
    return crossing_step(progress, high, dim) - crossing_step(progress, low, dim)


def change_rates(progress: xr.DataArray, dim: str = "step") -> tuple[np.ndarray, np.ndarray]:
    """Steps of the records (T,) and the change of progress by step between them (..., T-1)."""
    steps = progress[dim].values.astype(np.float64)
    return steps, np.diff(progress.transpose(..., dim).values, axis=-1) / np.diff(steps)


def steepest_step(progress: xr.DataArray, dim: str = "step") -> xr.DataArray:
    """Middle of the interval between records in which progress rises fastest; the first of equal ones.

    NaN where it never rises.
    """
    steps, rates = change_rates(progress, dim)
    middles = 0.5 * (steps[1:] + steps[:-1])
    fastest = np.nan_to_num(rates, nan=-np.inf).argmax(-1)
    found = np.where((rates > 0).any(-1), middles[fastest], np.nan)
    return _without(progress, dim, found)


def drop_span(progress: xr.DataArray, dim: str = "step") -> xr.DataArray:
    """Steps that the whole way takes at the steepest rate between two records; NaN where it never rises.

    Short against the step of the half-way crossing where the change is abrupt; for an exponential approach,
    which is steepest at its start, it is EXPONENTIAL_SPAN times that step.
    """
    _, rates = change_rates(progress, dim)
    fastest = np.nan_to_num(rates, nan=-np.inf).max(-1)
    found = np.where(fastest > 0, 1 / np.where(fastest > 0, fastest, 1.0), np.nan)
    return _without(progress, dim, found)


def drop_start(progress: xr.DataArray, share: float = 0.1, dim: str = "step") -> xr.DataArray:
    """Step at which the steepest change begins: where the interval ends that is the last slow one before it.

    Slow is slower than `share` of the steepest rate.  NaN where none before it is.
    """
    steps, rates = change_rates(progress, dim)
    rates = np.nan_to_num(rates, nan=-np.inf)
    fastest = rates.argmax(-1)[..., None]
    slow = (rates < share * rates.max(-1, keepdims=True)) & (np.arange(rates.shape[-1]) < fastest)
    last = rates.shape[-1] - 1 - slow[..., ::-1].argmax(-1)
    found = np.where(slow.any(-1) & (rates.max(-1) > 0), steps[last + 1], np.nan)
    return _without(progress, dim, found)


def progress_at(progress: xr.DataArray, step: xr.DataArray, dim: str = "step") -> xr.DataArray:
    """Progress (..., step) at a step for each curve, linear between records; NaN where the step is NaN."""
    import xarray as xr

    steps = progress[dim].values.astype(np.float64)

    def one(curve: np.ndarray, at: float) -> float:
        return float(np.interp(at, steps, curve)) if np.isfinite(at) else np.nan

    return xr.apply_ufunc(
        one, progress, step, input_core_dims=[[dim], []], vectorize=True, output_dtypes=[np.float64]
    )


def _without(progress: xr.DataArray, dim: str, values: np.ndarray) -> xr.DataArray:
    """Values on the dimensions of `progress` but `dim`, which comes last in them."""
    return progress.transpose(..., dim).isel({dim: 0}, drop=True).copy(data=values)
