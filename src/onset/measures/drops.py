"""Abrupt drops of a loss curve: how many, when, and the plateaus between them.

A drop is a prominent peak of s = -dL/d ln(step), the slope of the loss L on a logarithmic axis of steps.  On
that axis a drop that took from step t to 2t looks the same whenever it happens, while slow decay is flat.
L enters divided by (first - least) loss, so that prominences are shares of what the run has to learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

POINTS = 2000  # grid of the logarithmic axis
WIDTH = 0.03  # standard deviation of the smoothing, in units of ln(step)


@dataclass(frozen=True)
class Drops:
    """Drops in order of time: `position` in steps (n,), `height` of the peak of s (n,)."""

    position: np.ndarray
    height: np.ndarray

    def __len__(self) -> int:
        return len(self.position)


def log_slope(step: np.ndarray, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Steps evenly spaced in ln(step) and s there, loss scaled to its range and smoothed over `WIDTH`.

    `step` (T,) increases and may begin with 0, which is left out; `loss` (T,).  Entries that are not finite
    are left out.  Raises ValueError where fewer than five records are left.
    """
    step, loss = np.asarray(step, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    first = loss[np.isfinite(loss)][:1]
    kept = (step > 0) & np.isfinite(loss)
    step, loss = step[kept], loss[kept]
    if len(step) < 5:
        raise ValueError(f"a loss curve of {len(step)} finite records after step 0 is too short; at least 5")
    scale = float(first[0] - loss.min())
    if scale <= 0:
        return step, np.zeros_like(step)
    axis = np.linspace(np.log(step[0]), np.log(step[-1]), POINTS)
    on_axis = np.interp(axis, np.log(step), loss / scale)
    spacing = axis[1] - axis[0]
    reach = max(1, round(4 * WIDTH / spacing))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * spacing / WIDTH) ** 2)
    padded = np.pad(on_axis, reach, mode="reflect", reflect_type="odd")
    smooth = np.convolve(padded, kernel / kernel.sum(), mode="valid")
    # Rounding joins what is flat but for the last bit, which would count as peaks of equal height.
    return np.exp(axis), -np.gradient(smooth, spacing).round(9)


def find_drops(step: np.ndarray, loss: np.ndarray, prominence: float = 0.03) -> Drops:
    """Peaks of s whose prominence is at least `prominence`.

    Prominence has its usual meaning: how far one has to come down from a peak to reach a higher one.  A
    curve that never falls has none, and neither has a fall that is still getting steeper at the last record
    or was steepest at the first.  Use about 0.03 for linear attention and 0.1 where training is noisy.
    """
    axis, slope = log_slope(step, loss)
    peaks, prominences = find_peaks(slope)
    kept = peaks[prominences >= prominence]
    return Drops(axis[kept], slope[kept])


def find_peaks(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the local maxima of `values` (T,) and their prominences, (n,) each.

    A flat top counts once, at its middle; the ends are no peaks.  As `scipy.signal.find_peaks`, whose import
    takes longer than evaluating all claims of a figure.
    """
    starts = np.flatnonzero(np.diff(values, prepend=np.nan) != 0)  # of the stretches of equal values
    ends = np.append(starts[1:], len(values)) - 1
    rising = np.diff(values[starts]) > 0
    tops = np.flatnonzero(rising[:-1] & ~rising[1:]) + 1
    peaks = (starts[tops] + ends[tops]) // 2
    return peaks, np.array([_prominence(values, peak) for peak in peaks])


def _prominence(values: np.ndarray, peak: int) -> float:
    """Height of a peak above the higher of the lowest values on the way to something higher, or to an end."""
    higher = np.flatnonzero(values > values[peak])
    left, right = higher[higher < peak], higher[higher > peak]
    before = values[left[-1] + 1 if len(left) else 0 : peak + 1]
    after = values[peak : right[0] if len(right) else len(values)]
    return float(values[peak] - max(before.min(), after.min()))


def count_drops(step: np.ndarray, loss: np.ndarray, prominence: float = 0.03) -> int:
    """Number of abrupt drops."""
    return len(find_drops(step, loss, prominence))


def half_drop_step(step: np.ndarray, loss: np.ndarray) -> float:
    """First step at which the loss is half-way from its first to its least value; NaN if it never falls."""
    step, loss = np.asarray(step, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    return crossing_step(step, loss, (loss[0] + np.nanmin(loss)) / 2) if np.nanmin(loss) < loss[0] else np.nan


def crossing_step(step: np.ndarray, loss: np.ndarray, level: float) -> float:
    """First step at which the loss is at or below `level`, linear between records; NaN where it never is."""
    step, loss = np.asarray(step, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    below = np.flatnonzero(loss <= level)
    if not len(below):
        return np.nan
    i = below[0]
    if i == 0:
        return float(step[0])
    share = (loss[i - 1] - level) / (loss[i - 1] - loss[i])
    return float(step[i - 1] + share * (step[i] - step[i - 1]))


def plateau_levels(step: np.ndarray, loss: np.ndarray, prominence: float = 0.03) -> np.ndarray:
    """Loss on each plateau (n+1,): the first, that of the flattest place between drops, and the last."""
    step, loss = np.asarray(step, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    axis, slope = log_slope(step, loss)
    drops = find_drops(step, loss, prominence)
    levels = [loss[0]]
    for left, right in zip(drops.position[:-1], drops.position[1:], strict=True):
        between = np.flatnonzero((axis >= left) & (axis <= right))
        levels.append(float(np.interp(axis[between[slope[between].argmin()]], step, loss)))
    return np.asarray([*levels, *loss[-1:]] if len(drops) else levels)


def dwell(step: np.ndarray, loss: np.ndarray, level: float, band: float) -> float:
    """Steps spent with |loss - level| <= band, each record standing for the steps to the next one."""
    step, loss = np.asarray(step, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    inside = np.abs(loss[:-1] - level) <= band
    return float(np.diff(step)[inside].sum())


def map_curves(
    loss: xr.DataArray, measure: Callable[..., float], dim: str = "epoch", **given: Any
) -> xr.DataArray:
    """A scalar measure of (step, loss) for every curve of a DataArray along `dim`; NaN where all is NaN."""
    import xarray as xr

    step = loss[dim].values

    def one(curve: np.ndarray) -> float:
        return float(measure(step, curve, **given)) if np.isfinite(curve).all() else np.nan

    return xr.apply_ufunc(one, loss, input_core_dims=[[dim]], vectorize=True, output_dtypes=[np.float64])
