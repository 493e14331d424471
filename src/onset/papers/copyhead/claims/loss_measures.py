"""What the claims about Adam's losses on softmax attention measure (figure 7)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.copyhead.claims.measures import list_P, take_largest
from onset.papers.copyhead.selection import theory_at

Inputs = Mapping[str, xr.Dataset]

NEAR = 0.1
"""Share of the upper spinodal around it within which seeds may go either way."""


AT_STATE = 0.1
"""Largest distance of a loss from that of the state it belongs to, a quarter of the gap between states."""


def final_loss(inputs: Inputs) -> xr.DataArray:
    """Test loss of each seed at the end: (seed, P)."""
    return inputs["adam"].test_loss.isel(epoch=-1, drop=True).astype(np.float64)


def map_spinodal(inputs: Inputs) -> float:
    """Upper spinodal of the MAP theory; NaN where there is no transition."""
    return float(inputs["theory"].P_upper.sel(theory="map"))


def away_from_spinodal(inputs: Inputs, P: xr.DataArray) -> xr.DataArray:
    """Whether each P is not within a tenth of the upper spinodal; all are where there is none."""
    upper = map_spinodal(inputs)
    return abs(P - upper) > NEAR * upper if np.isfinite(upper) else P > 0


def loss_spread(inputs: Inputs) -> Measured:
    """Largest spread of the final test loss over seeds, at P not within a tenth of the upper spinodal."""
    loss = final_loss(inputs)
    spread = loss.max("seed") - loss.min("seed")
    return take_largest(spread, away_from_spinodal(inputs, loss.P), "away from the upper spinodal")


def expected_loss(inputs: Inputs, P: xr.DataArray) -> xr.DataArray:
    """Test loss of the state in which the MAP theory has Adam end from the prior: uniform to the upper
    spinodal, copying above it; NaN within a tenth of it."""
    curve = theory_at(inputs["theory"].test_loss.sel(theory="map"), P)
    uniform, copy = (curve.sel(branch=branch, drop=True).values for branch in ("uniform", "copy"))
    chosen = np.where(P.values < map_spinodal(inputs), uniform, copy)
    return xr.DataArray(
        np.where(away_from_spinodal(inputs, P).values, chosen, np.nan), coords={"P": P.values}
    )


def loss_difference(inputs: Inputs) -> Measured:
    """Largest difference of the mean final test loss from the MAP theory's, away from the spinodal."""
    loss = final_loss(inputs).mean("seed")
    if not np.isfinite(map_spinodal(inputs)):
        return Measured(None, undecided="the MAP theory has no first-order transition at these parameters")
    return take_largest(abs(loss - expected_loss(inputs, loss.P)), loss.P > 0, "away from the upper spinodal")


def largest_drop(inputs: Inputs) -> Measured:
    """Largest drop of the mean final test loss between neighbouring P."""
    loss = final_loss(inputs).mean("seed")
    drop = -loss.diff("P")
    k = int(np.argmax(drop.values))
    ends = loss.values[k : k + 2]
    return Measured(
        float(drop[k]), f"from {ends[0]:.2f} to {ends[1]:.2f}, {list_P(loss.P.values[k : k + 2])}"
    )


def drop_against_spinodal(inputs: Inputs) -> Measured:
    """Nearest P of the interval of the largest drop to the MAP upper spinodal, over the spinodal."""
    loss, upper = final_loss(inputs).mean("seed"), map_spinodal(inputs)
    if not np.isfinite(upper) or not float(loss.P[0]) < upper < float(loss.P[-1]):
        return Measured(None, absent="no spinodal of the MAP theory on the trained grid")
    k = int(np.argmax(-loss.diff("P").values))
    interval = loss.P.values[k : k + 2]
    return Measured(float(np.clip(upper, *interval)) / upper, f"{list_P(interval)}; spinodal {upper:.1f}")


def share_lowest(inputs: Inputs, everywhere: bool) -> Measured:
    """Share of seeds, over all P, whose final loss is, within 0.1, that of the branch of lower action.

    With `everywhere` False only P at which one state is left are asked: outside the window from P_c to the
    upper spinodal, and a tenth of it.
    """
    theory = inputs["theory"].sel(theory="map")
    P_c, upper = float(theory.P_c), map_spinodal(inputs)
    if not np.isfinite(P_c):
        return Measured(None, undecided="the MAP theory has no first-order transition at these parameters")
    loss = final_loss(inputs)
    curve = theory_at(theory.test_loss, loss.P)
    uniform, copy = (curve.sel(branch=branch, drop=True) for branch in ("uniform", "copy"))
    first = xr.DataArray(loss.P.values < P_c, coords={"P": loss.P.values}, dims="P")
    lowest, other = xr.where(first, uniform, copy), xr.where(first, copy, uniform)
    distance = [abs(loss - branch.values).fillna(np.inf) for branch in (lowest, other)]
    reached = (distance[0] <= distance[1]) & (distance[0] < AT_STATE)
    asked = xr.ones_like(first)
    if not everywhere:
        asked = ((P_c > loss.P) | (upper < loss.P)) & away_from_spinodal(inputs, loss.P)
        asked = asked.drop_vars([n for n in asked.coords if n != "P"])
    if not asked.any():
        return Measured(None, absent="no trained P at which one state is left")
    missing = [P for P in loss.P.values[asked.values] if not bool(reached.sel(P=P).all())]
    detail = f"not at {list_P(missing)}; " if missing else ""
    return Measured(
        float(reached.sel(P=loss.P[asked.values]).mean()), f"{detail}P_c = {P_c:.1f}, spinodal {upper:.1f}"
    )
