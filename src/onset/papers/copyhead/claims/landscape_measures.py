"""What the claims about landscapes of the bare actions measure (figure 2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from onset.claims.claim import Measured
from onset.papers.copyhead.claims.measures import list_P

Inputs = Mapping[str, xr.Dataset]

ORDERED_FROM = 0.05
"""|c1| of the lowest minimum from which a state counts as ordered."""


def asymmetry(inputs: Inputs) -> Measured:
    """Largest |S(c1, cG) - S(-c1, -cG)| over the largest |S|, all P."""
    action = inputs["landscapes"].linear_action.transpose("linear_P", "c1", "cG").values
    scale = float(abs(action).max())
    if scale == 0:
        return Measured(None, undecided="the action is 0 everywhere")
    return Measured(float(abs(action - action[:, ::-1, ::-1]).max()) / scale, f"{action.size} points")


def minima_above_grid(inputs: Inputs) -> Measured:
    """Largest excess of a lowest minimum's action over the least value on the grid, both actions."""
    found = inputs["landscapes"]
    linear = found.linear_minimum.sel(state="global") - found.linear_action.min(("c1", "cG"))
    softmax = found.softmax_minimum.min("branch") - found.softmax_action.min("aG")
    worst = max(float(linear.max()), float(softmax.max()))
    return Measured(worst, f"linear {float(linear.max()):.2g}, softmax {float(softmax.max()):.2g}")


def is_local_minimum(action: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Points of the inside of a grid (n, m) that none of their eight neighbours undercuts or equals."""
    inner = action[1:-1, 1:-1]
    shape = action.shape
    lower = np.ones_like(inner, dtype=bool)
    for i in (0, 1, 2):
        for j in (0, 1, 2):
            if (i, j) != (1, 1):
                lower &= inner < action[i : shape[0] - 2 + i, j : shape[1] - 2 + j]
    return lower


def minima_missed(inputs: Inputs) -> Measured:
    """Number of P at which the wells on the grid do not match the theory's minima.

    Expected is one well in the trivial state, two in an ordered one, four where the metastable pair
    exists; a well is a cluster of grid minima, of which one in the quadrant of each minimum is asked for.
    """
    found = inputs["landscapes"]
    wrong = []
    for P in found.linear_P.values:
        at = found.sel(linear_P=P)
        wells = is_local_minimum(at.linear_action.transpose("c1", "cG").values)
        x, y = np.meshgrid(at.c1.values[1:-1], at.cG.values[1:-1], indexing="ij")
        step = np.hypot(at.c1.values[1] - at.c1.values[0], at.cG.values[1] - at.cG.values[0])
        expected = []
        for state in ("global", "metastable"):
            c1, cG = (float(at[name].sel(state=state)) for name in ("linear_c1", "linear_cG"))
            if np.isfinite(c1):
                expected += [(c1, cG), (-c1, -cG)] if abs(c1) > ORDERED_FROM else [(0.0, 0.0)]
        near = np.array([np.hypot(x - a, y - b) < 2 * step for a, b in expected])
        missed = [not (wells & one).any() for one in near]
        if any(missed) or (wells & ~near.any(0)).any():
            wrong.append(P)
    return Measured(
        float(len(wrong)), f"wrong at {list_P(wrong)}" if wrong else f"{found.sizes['linear_P']} P"
    )


def trivial_curvature(inputs: Inputs) -> Measured:
    """Largest, over P with ordered minima, of the action next to the trivial state less that at it."""
    found = inputs["landscapes"]
    ordered = found.linear_P.values[(abs(found.linear_c1.sel(state="global")) > ORDERED_FROM).values]
    if len(ordered) == 0:
        return Measured(None, absent="no P with ordered minima")
    action = found.linear_action.sel(linear_P=ordered).transpose("linear_P", "c1", "cG").values
    n, m = action.shape[1:]
    if n % 2 == 0 or m % 2 == 0:
        return Measured(None, absent="the grid has no point at 0")
    middle = action[:, n // 2 - 1 : n // 2 + 2, m // 2 - 1 : m // 2 + 2].reshape(len(ordered), 9)
    drop = middle.min(1) - middle[:, 4]
    return Measured(float(drop.max()), f"{list_P(ordered)}")


def second_above(inputs: Inputs) -> Measured:
    """Smallest action of the metastable minimum above the global one, over P that have it."""
    minima = inputs["landscapes"].linear_minimum
    excess = (minima.sel(state="metastable") - minima.sel(state="global")).dropna("linear_P")
    if excess.size == 0:
        return Measured(None, absent="no P with a metastable minimum")
    return Measured(float(excess.min()), f"of {list_P(excess.linear_P.values)}")


def crossings(inputs: Inputs) -> Measured:
    """Number of changes, with growing P, of the lower of both branches, where both are minima."""
    minima = inputs["landscapes"].softmax_minimum
    both = minima.isel(softmax_P=np.flatnonzero(minima.notnull().all("branch").values))
    if both.sizes["softmax_P"] < 2:
        return Measured(None, absent="fewer than two P at which both phases are minima")
    changes = np.flatnonzero(np.diff(both.argmin("branch").values))
    at = "; ".join(list_P(both.softmax_P.values[k : k + 2]) for k in changes) or "none"
    return Measured(float(len(changes)), f"between {at}, of {list_P(both.softmax_P.values)}")


def least_barrier(inputs: Inputs) -> Measured:
    """Smallest barrier above the uniform branch, over P at which both branches are minima."""
    found = inputs["landscapes"]
    both = found.softmax_P.values[found.softmax_minimum.notnull().all("branch").values]
    if len(both) == 0:
        return Measured(None, absent="no P at which both phases exist")
    barrier = found.softmax_barrier.sel(softmax_P=both)
    return Measured(float(barrier.min()), f"of {list_P(both)}; largest {float(barrier.max()):.1f}")
