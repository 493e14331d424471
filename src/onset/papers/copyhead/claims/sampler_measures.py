"""What the claims about samplers measure: collapsed, minibatch, smaller steps, another start (figure 5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.copyhead.claims.linear_measures import CRITICAL, dressed_onset
from onset.papers.copyhead.claims.measures import list_P
from onset.papers.copyhead.claims.softmax_window import outside_window
from onset.papers.copyhead.claims.stage_measures import as_linear, as_softmax

Inputs = Mapping[str, xr.Dataset]


def step_sizes(inputs: Inputs) -> dict[str, float]:
    """Step size of the runs that differ in nothing but their length or weights, by attention kind."""
    runs = inputs["variants"]
    found: dict[str, float] = {}
    for run in runs.run.values:
        one = runs.sel(run=run)
        if float(one.batch) == 0:
            kind = str(one.attention.values)
            found[kind] = max(found.get(kind, 0.0), float(one.step_size))
    return found


def name_variant(run: xr.Dataset, largest: float) -> str:
    """What a run differs in: collapsed, minibatch, copy, half (a smaller step), or nothing."""
    if str(run.weights.values) == "integrated":
        return "collapsed"
    if float(run.batch) > 0:
        return "minibatch"
    if str(run["start"].values) == "copy":
        return "copy"
    return "half" if float(run.step_size) < 0.9 * largest else ""


def calm_P(inputs: Inputs, kind: str, P: xr.DataArray) -> xr.DataArray:
    """Whether chains relax fast at each P: away from the linear onset, outside the softmax window."""
    if kind == "linear":
        multiple = P / dressed_onset(as_linear(inputs))
        return (multiple < CRITICAL[0]) | (multiple > CRITICAL[1])
    below, above = outside_window(as_softmax(inputs), P)
    return below | above


def sampler_difference(inputs: Inputs, variant: str, tolerance: float) -> Measured:
    """Largest difference of an order parameter's mean between one sampler and the chains of figures 3 and 4.

    Undecided where two standard errors of the difference exceed the tolerance.
    """
    runs, largest = inputs["variants"], step_sizes(inputs)
    found: list[tuple[float, str]] = []
    loose, trapped = [], 0
    for label in runs.run.values:
        run = runs.sel(run=label)
        kind = str(run.attention.values)
        if name_variant(run, largest.get(kind, np.inf)) != variant:
            continue
        order = run.sel(quantity=["pooling", "copy"]).transpose(..., "quantity", "P")
        calm = calm_P(inputs, kind, order.P) & order.reference_mean.notnull().all("quantity")
        trapped += int(run.trapped.sum())
        for P in order.P.values[calm.values]:
            at = order.sel(P=P)
            error = float(np.hypot(at.error, at.reference_error).fillna(0).max())
            found.append((float(abs(at["mean"] - at.reference_mean).max()), f"{label}, P = {P:g}"))
            if 2 * error > tolerance:
                loose.append(P)
    if not found:
        return Measured(None, absent=f"no run of this kind ({variant}) at a P where chains relax fast")
    worst = max(found)
    detail = f"largest for {worst[1]}, of {len(found)}" + (
        f"; {trapped} trapped chains left out" if trapped else ""
    )
    undecided = f"two standard errors exceed {tolerance:g} at {list_P(loose)}" if loose else ""
    return Measured(worst[0], detail, undecided)


def step_bias(inputs: Inputs) -> Measured:
    """Largest relative change of s2, outside critical regions, when the step is halved."""
    runs, largest = inputs["variants"], step_sizes(inputs)
    found = []
    for label in runs.run.values:
        run = runs.sel(run=label)
        kind = str(run.attention.values)
        if name_variant(run, largest.get(kind, np.inf)) != "half":
            continue
        s2 = run.sel(quantity="s2")
        there = s2.reference_mean.notnull() & calm_P(inputs, kind, s2.P)
        change = abs(s2["mean"] / s2.reference_mean - 1)
        found += [(float(change.sel(P=P)), f"{label}, P = {P:g}") for P in s2.P.values[there.values]]
    if not found:
        return Measured(None, absent="no run with half the step")
    worst = max(found)
    return Measured(worst[0], f"largest for {worst[1]}, of {len(found)}")
