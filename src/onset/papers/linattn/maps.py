"""Matrices that trained maps are compared with, and the records at which they are: figures 9 to 12.

Eigenvectors of the input covariance are the axes, so the theory's matrices are diagonal.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.papers.linattn.selection import crossing_epochs


def _on_diagonal(values: xr.DataArray) -> xr.DataArray:
    """Values (direction,) as a diagonal matrix (direction, column)."""
    identity = np.eye(values.sizes["direction"])
    column = xr.DataArray(identity, dims=("direction", "column"))
    return (values * column).transpose("direction", "column")


def early_map(theory: xr.Dataset) -> xr.DataArray:
    """Λ² over its norm, to which A is parallel before the drop of ATTN_M; `theory` is of one task."""
    squared = theory.eigenvalue**2
    return _on_diagonal(squared / np.sqrt((squared**2).sum()))


def late_map(theory: xr.Dataset) -> xr.DataArray:
    """The optimal map E[Λ̂²]⁻¹ Λ (direction, column)."""
    return _on_diagonal(theory.late_map)


def regression_map(theory: xr.Dataset, learned: int) -> xr.DataArray:
    """The map with the first `learned` directions at their optimum 1/(λ_d c_d), the others at 0.

    Source: arXiv 2501.16265, Eq. 22.
    """
    return late_map(theory) * (theory.direction < learned)


def compare_maps(one: xr.DataArray, other: xr.DataArray) -> xr.DataArray:
    """Cosine between matrices (…, direction, column) as vectors; NaN where one of them is 0."""
    dims = ("direction", "column")
    one, other = one.astype(np.float64), other.astype(np.float64)
    squared = (one**2).sum(dims) * (other**2).sum(dims)
    return (one * other).sum(dims) / squared.where(squared > 0) ** 0.5


def measure_distance(run: xr.Dataset, theory: xr.Dataset, learned: int) -> xr.DataArray:
    """Frobenius distance of A from the map of Eq. 22 at every record, (seed, epoch)."""
    expected = theory.late_map * (theory.direction < learned)
    difference = run.A_diagonal.astype(np.float64) - expected
    return np.sqrt((difference**2).sum("direction") + run.A_off.astype(np.float64) ** 2)


def early_snapshot(run: xr.Dataset, fallen: float = 0.02) -> int:
    """Place of the last snapshot before the loss (of one seed) has fallen by a share of its whole fall."""
    loss = run.loss.sel(epoch=run.snapshot_epoch.values).values.astype(np.float64)
    share = (loss[0] - loss) / (loss[0] - loss.min())
    return max(int(np.argmax(share > fallen)) - 1, 0)


LEARNED = 0.9
"""Share of the optimal A_dd at which a direction counts as learned: 99 % of its part of the loss has gone."""


def drop_epochs(run: xr.Dataset, theory: xr.Dataset, share: float = LEARNED) -> xr.DataArray:
    """Epochs t_d just after each drop, (seed, direction): A_dd comes to a share of its optimum; NaN if never.

    The part of direction d in the loss is quadratic in A_dd around its optimum: at 0.9 of it, 0.99 is gone.
    Source: "just after the d-th drop" of arXiv 2501.16265, figure 10; the rule that fixes the record is ours.
    """
    return crossing_epochs(run.A_diagonal, share * theory.late_map)


def flattest_epochs(run: xr.Dataset, theory: xr.Dataset) -> xr.DataArray:
    """Epochs at which the loss is flattest with m = 1..D directions learned, (seed, direction = m - 1).

    The flattest record, by the slope over ln(step), between t_m and the step at which A_dd of a later
    direction is at a tenth of its optimum; the last record for m = D.  NaN where direction m is not learned,
    or where a later one starts before it is: there is no plateau between drops that overlap.
    """
    learned = drop_epochs(run, theory)
    begun = crossing_epochs(run.A_diagonal, 0.1 * theory.late_map)
    step = run.epoch.values.astype(np.float64)
    slope = np.abs(np.gradient(run.loss.values.astype(np.float64), np.log(np.maximum(step, 0.5)), axis=-1))
    found = np.full(learned.shape, np.nan)
    D = learned.sizes["direction"]
    for seed in range(learned.shape[0]):
        for m in range(D):
            first = learned.values[seed, m]
            after = begun.values[seed, m + 1 :]
            last = step[-1] if m == D - 1 or np.isnan(after).all() else np.nanmin(after)
            inside = np.flatnonzero((step >= first) & (step <= last))
            if len(inside):
                found[seed, m] = step[inside[-1] if m == D - 1 else inside[slope[seed, inside].argmin()]]
    return learned.copy(data=found)
