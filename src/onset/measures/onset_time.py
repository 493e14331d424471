"""One definition of emergence time for every order parameter, and how sharp the emergence is.

An order parameter's progress is its share of the way from its first value to its last (see
`measure_ends`).  Its time of emergence is read in three ways: where progress crosses a stated level, where it
rises fastest, and where a step function fits it best.  Sharpness is the 10-90 % width over the crossing of
one half.  The axis may be anything that increases: training steps, or the number of training sequences.
"""

from __future__ import annotations

import numpy as np

TAIL = 0.05
"""Share of the records, at least one, whose mean is a curve's last value."""


def measure_ends(curves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First value (...) and mean over the last records (...) of curves (..., T)."""
    count = max(1, round(TAIL * curves.shape[-1]))
    return curves[..., 0], curves[..., -count:].mean(-1)


def share_of_way(curves: np.ndarray) -> np.ndarray:
    """Curves (..., T) as the share of the way from first to last value; NaN where these are equal."""
    start, end = measure_ends(np.asarray(curves, dtype=np.float64))
    way = np.where(end != start, end - start, np.nan)
    return (curves - start[..., None]) / way[..., None]


def cross(axis: np.ndarray, progress: np.ndarray, level: float) -> float:
    """Where a curve (T,) first is at or above `level`, linear between records; NaN where it never is."""
    above = np.flatnonzero(progress >= level)
    if not len(above):
        return float("nan")
    after = above[0]
    if after == 0:
        return float(axis[0])
    low, high = progress[after - 1], progress[after]
    return float(axis[after - 1] + (level - low) / (high - low) * (axis[after] - axis[after - 1]))


def find_steepest(axis: np.ndarray, progress: np.ndarray) -> float:
    """Middle of the interval between records where a curve (T,) rises fastest; NaN where it never rises."""
    rates = np.nan_to_num(np.diff(progress) / np.diff(axis), nan=-np.inf)
    fastest = rates.argmax()
    return float(0.5 * (axis[fastest] + axis[fastest + 1])) if rates[fastest] > 0 else float("nan")


def find_change_point(axis: np.ndarray, progress: np.ndarray) -> float:
    """Middle of the interval at which the best step function jumps; NaN where the curve does not rise.

    Best in the sum of squares over the records: a mean before, a mean after, both free.
    """
    if not np.isfinite(progress).all():
        return float("nan")
    count = np.arange(1, len(progress))
    before = np.cumsum(progress)[:-1]
    after = progress.sum() - before
    gain = before**2 / count + after**2 / (len(progress) - count)
    best = gain.argmax()
    rises = after[best] / (len(progress) - count[best]) > before[best] / count[best]
    return float(0.5 * (axis[best] + axis[best + 1])) if rises else float("nan")


def measure_sharpness(axis: np.ndarray, progress: np.ndarray, low: float, high: float, level: float) -> float:
    """Distance between the first crossings of `low` and `high` over the crossing of `level`.

    For a logistic curve of rate k around t it is ln(81) / (k t) at 10 and 90 %; for an exponential approach
    from the axis's origin ln(9) / ln(2), about 3.2.  NaN where a crossing is missing.
    """
    onset = cross(axis, progress, level)
    return (cross(axis, progress, high) - cross(axis, progress, low)) / onset if onset > 0 else float("nan")


def measure_resolution(axis: np.ndarray, at: float) -> float:
    """Distance of the records on both sides of `at`, over `at`: no smaller sharpness can be seen."""
    if not np.isfinite(at) or at <= 0:
        return float("nan")
    after = int(np.clip(np.searchsorted(axis, at), 1, len(axis) - 1))
    return float((axis[after] - axis[after - 1]) / at)


def follow_share(axis: np.ndarray, progress: np.ndarray, loss: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """A curve (T,) where a share of the drop of `loss` (T,) is first explained, for each share of `grid`."""
    explained = share_of_way(loss)
    at = np.array([cross(axis, explained, share) for share in grid])
    return np.interp(at, axis, progress, left=np.nan, right=np.nan)


def bootstrap_median(
    values: np.ndarray, generator: np.random.Generator, resamples: int, coverage: float
) -> tuple[float, float, float]:
    """Median over seeds (n,) and the ends of its percentile interval; what is not finite is left out.

    Seeds are drawn again with replacement.  With two or three seeds the interval is about their range; with
    one it has no width.  All NaN where no value is finite.
    """
    values = np.asarray(values, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return (float("nan"),) * 3
    drawn = generator.integers(len(values), size=(resamples, len(values)))
    medians = np.median(values[drawn], axis=-1)
    low, high = np.quantile(medians, [0.5 - coverage / 2, 0.5 + coverage / 2])
    return float(np.median(values)), float(low), float(high)
