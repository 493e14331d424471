"""The coexistence window of softmax attention, and in which phase chains are on either side of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.papers.copyhead.selection import kept_means, theory_at

Inputs = Mapping[str, xr.Dataset]

BELOW = 0.9
ABOVE = 1.2
"""Multiples of the dressed spinodals outside which one phase is left and chains reach it within a run: above
the upper spinodal, chains from the prior still take long to leave uniform attention up to about 1.2 of it."""

HIGH_BARRIER = 10.0
"""Barrier at the transition, in nats, above which chains keep their phase over the length of a run."""


def outside_window(inputs: Inputs, P: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Whether each P is well below the lower dressed spinodal, and whether well above the upper one."""
    dressed = inputs["theory"].sel(theory="dressed")
    return P / float(dressed.P_lower) <= BELOW, P / float(dressed.P_upper) >= ABOVE


def inside_window(inputs: Inputs, P: xr.DataArray) -> xr.DataArray:
    """Whether each P lies between the dressed spinodals."""
    dressed = inputs["theory"].sel(theory="dressed")
    return (P / float(dressed.P_lower) > 1) & (P / float(dressed.P_upper) < 1)


def single_phase(inputs: Inputs, name: str, P: xr.DataArray) -> xr.DataArray:
    """A dressed curve (P,) on the one stable branch: uniform below the window, copy above it, else NaN."""
    curve = theory_at(inputs["theory"][name].sel(theory="dressed"), P)
    below, above = outside_window(inputs, P)
    uniform, copy = (curve.sel(branch=branch, drop=True).values for branch in ("uniform", "copy"))
    return xr.DataArray(
        np.where(below, uniform, np.where(above, copy, np.nan)), coords={"P": P.values}, dims="P"
    )


def halfway(inputs: Inputs) -> float:
    """aG halfway between the two dressed phases at the transition: what divides uniform from copying."""
    return float(inputs["theory"].aG_at_P_c.sel(theory="dressed").mean())


def share_copying(inputs: Inputs, start: str) -> xr.DataArray:
    """Share of kept records in which attention copies, over all chains of a start: (P,)."""
    aG = inputs[start].aG
    return kept_means((aG > halfway(inputs)).astype(np.float64)).mean("chain")


def bracket_transition(inputs: Inputs) -> tuple[float, float] | None:
    """The largest P at which chains from copying mostly lose it, and the smallest at which chains from the
    prior mostly gain it; None where the sampled grid lacks either."""
    lost = share_copying(inputs, "from_copy")
    gained = share_copying(inputs, "from_prior")
    losing, gaining = lost.P.values[lost.values < 0.5], gained.P.values[gained.values > 0.5]
    return (float(losing.max()), float(gaining.min())) if len(losing) and len(gaining) else None


def transition_missing(inputs: Inputs) -> str:
    """Why the dressed theory has no transition to compare with; empty where it has."""
    exists = np.isfinite(float(inputs["theory"].P_c.sel(theory="dressed")))
    return "" if exists else "the dressed theory has no first-order transition at these parameters"


def barrier_too_low(inputs: Inputs) -> str:
    """Why coexistence cannot be seen in runs of finite length; empty where it can."""
    barrier = float(inputs["theory"].barrier.sel(theory="dressed"))
    if barrier >= HIGH_BARRIER:
        return ""
    return f"the barrier of {barrier:.1f} nats is below {HIGH_BARRIER:g}: chains can cross it within a run"
