"""Plateaus found by the loss alone, whichever directions or mixtures of them were learned (figures 11 to 13).

With repeated eigenvalues the learned directions are any basis of an eigenspace, so entries of A do not tell
when one is learned; the loss does.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.measures.drops import crossing_step


def accept_error(samples: int) -> float:
    """Accepted relative error of plateaus' losses on sets of that many sequences; 0 is the population."""
    if samples == 0:
        return 0.01
    return 0.03 if samples >= 80000 else 0.08


def level_steps(run: xr.Dataset, theory: xr.Dataset) -> xr.DataArray:
    """Step at which the loss is half-way between the levels of m - 1 and m of Eq. 19, (seed, plateau)."""
    levels, steps = theory.plateau_loss.values, run.epoch.values
    half = (levels[1:] + levels[:-1]) / 2
    loss = run.loss.transpose("seed", "epoch").values
    found = np.array([[crossing_step(steps, curve, level) for level in half] for curve in loss])
    return xr.DataArray(
        found, dims=("seed", "plateau"), coords={"seed": run.seed, "plateau": np.arange(1, len(levels))}
    )


def level_errors(run: xr.Dataset, theory: xr.Dataset) -> xr.DataArray:
    """Loss where it is flattest between two half-way steps, over Eq. 19, less 1: (seed, plateau), m = 1..D.

    Flattest on the logarithm of the step; the last record for m = D.  NaN where the loss does not come so
    far, or has fewer than three records there.
    """
    halfway = level_steps(run, theory)
    steps = run.epoch.values.astype(np.float64)
    loss = run.loss.transpose("seed", "epoch").values.astype(np.float64)
    found = np.full(halfway.shape, np.nan)
    D = halfway.sizes["plateau"]
    for seed, m in np.argwhere(halfway.notnull().values):
        if m == D - 1:
            found[seed, m] = loss[seed, -1]
            continue
        last = halfway.values[seed, m + 1]
        inside = np.flatnonzero((steps > halfway.values[seed, m]) & ~(steps >= last))
        if len(inside) >= 3:
            slope = np.abs(np.gradient(loss[seed, inside], np.log(steps[inside])))
            found[seed, m] = loss[seed, inside[slope.argmin()]]
    return halfway.copy(data=found) / theory.plateau_loss.values[1:] - 1
