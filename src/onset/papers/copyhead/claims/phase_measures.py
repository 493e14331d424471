"""What the claims about the phase diagram, hysteresis and finite sizes measure (figure 8)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.copyhead.brackets import (
    AXES,
    Bracket,
    describe_settings,
    find_ways,
    list_brackets,
    predict_transition,
)
from onset.papers.copyhead.claims.measures import list_P
from onset.papers.copyhead.claims.softmax_window import barrier_too_low
from onset.papers.copyhead.selection import base_settings
from onset.store.attributes import parameters_of

Inputs = Mapping[str, xr.Dataset]

APART = 0.1
"""Relative difference of two predicted transitions from which they are compared."""


LOW_BARRIER = 2.0
"""Barrier, in nats, under which chains cross nearly as fast as they relax, so that no start is remembered."""


def find_brackets(inputs: Inputs) -> list[tuple[Bracket, float]]:
    """Sampled brackets with the dressed P_c at their settings, where the theory has one."""
    found = list_brackets(inputs["sampled"], base_settings(inputs["theory"]))
    pairs = [(bracket, predict_transition(inputs["phase"], bracket)) for bracket in found]
    return [(bracket, P_c) for bracket, P_c in pairs if np.isfinite(P_c)]


def transition_outside(inputs: Inputs) -> Measured:
    """Largest distance, in sequences, of a dressed P_c from the bracket sampled at its settings; 0 inside."""
    found = find_brackets(inputs)
    if not found:
        return Measured(None, absent="no pair of runs brackets a transition")
    distance = [max(b.lost - P_c, P_c - b.gained, 0.0) for b, P_c in found]
    texts = [f"{b.describe()}: {P_c:.1f} in {b.lost:g} to {b.gained:g}" for b, P_c in found]
    return Measured(max(distance), "; ".join(texts))


def moves_together(inputs: Inputs) -> Measured:
    """Shift of the bracket's middle over the predicted shift of P_c, the furthest from 1 of all pairs of
    settings whose predictions differ by a tenth."""
    ratios = []
    for (one, first), (other, second) in combinations(find_brackets(inputs), 2):
        if abs(first - second) > APART * min(first, second):
            ratio = (one.middle - other.middle) / (first - second)
            ratios.append((abs(ratio - 1), ratio, f"{one.describe()} and {other.describe()}"))
    if not ratios:
        return Measured(None, absent="no two sampled settings whose transitions differ by a tenth")
    _, ratio, names = max(ratios)
    return Measured(ratio, f"furthest for {names}, of {len(ratios)} pairs")


def kept_phases(inputs: Inputs) -> Measured:
    """Smallest number of P at which the shares of copying records of both starts differ by half or more,
    over settings with a barrier of 2 nats or more."""
    counts = []
    for bracket, _ in find_brackets(inputs):
        barrier = predict_transition(inputs["phase"], bracket, "barrier")
        if barrier >= LOW_BARRIER:
            name = f"{bracket.describe()}, {barrier:.1f} nats"
            counts.append((len(bracket.both), f"{name}: {list_P(bracket.both) if bracket.both else 'none'}"))
    if not counts:
        return Measured(None, absent=f"no sampled setting has a barrier of {LOW_BARRIER:g} nats")
    return Measured(float(min(counts)[0]), "; ".join(text for _, text in counts))


def bare_over_dressed(inputs: Inputs) -> Measured:
    """Largest ratio of the bare to the dressed P_c, over all settings of the phase diagram."""
    ratios = []
    for axis in AXES:
        P_c = inputs["phase"][f"P_c_{axis}"]
        ratio = (P_c.sel(theory="bare") / P_c.sel(theory="dressed")).dropna(axis)
        ratios += [
            (float(value), describe_settings(axis, {axis: float(x)}))
            for x, value in zip(ratio[axis].values, ratio.values, strict=True)
        ]
    if not ratios:
        return Measured(None, absent="no settings with both transitions")
    return Measured(max(ratios)[0], f"largest at {max(ratios)[1]}; least {min(ratios)[0]:.2f}")


def barrier_exponent(inputs: Inputs) -> Measured:
    """Exponent of the dressed barrier in L, between the least and the largest L with a transition."""
    barrier = inputs["phase"].barrier_L.sel(theory="dressed").dropna("L")
    if barrier.sizes["L"] < 2:
        return Measured(None, absent="fewer than two L with a transition")
    ends = barrier.isel(L=[0, -1])
    exponent = np.diff(np.log(ends.values)) / np.diff(np.log(ends.L.values.astype(np.float64)))
    return Measured(
        float(exponent[0]),
        "{:.1f} and {:.1f} nats at L = {} and {}".format(*ends.values, *ends.L.values),
    )


def smallest_jump(inputs: Inputs) -> Measured:
    """Smallest jump of aG at the dressed P_c, over the lengths with a transition."""
    jump = inputs["phase"].jump_L.sel(theory="dressed").dropna("L")
    if jump.size == 0:
        return Measured(None, absent="no L with a transition")
    return Measured(
        float(jump.min()),
        f"at L = {jump.L.values[int(jump.values.argmin())]} of {', '.join(map(str, jump.L.values))}",
    )


def onset_of_determinant(L: float, V: int, g: float, v: float, sigma2: float) -> float:
    """Smallest positive root of det H(P) = 0, H the Hessian of S_lin at 0 in (c1, cG): the bare onset.

    H11 = 1/tau + V(V-1)x + VxL - k - PxL²/(sigma2 V), H12 = -k(L-1) and
    H22 = (L-1)(1/tau + V(V-1)x - k(L-1)), with x = gP/(V² sigma2), k = P(V-1)x/(sigma2 V),
    tau = v/L²: a polynomial of degree 4 in P.
    """
    x, tau = g / (V**2 * sigma2), v / L**2
    k = (V - 1) * x / (sigma2 * V)
    H11 = np.array([-k - x * L**2 / (sigma2 * V), V * (V - 1) * x + V * x * L, 1 / tau])
    H22 = (L - 1) * np.array([-k * (L - 1), V * (V - 1) * x, 1 / tau])
    H12 = np.array([-k * (L - 1), 0.0, 0.0])
    roots = np.roots(np.polysub(np.polymul(H11, H22), np.polymul(H12, H12)))
    real = roots[abs(roots.imag) < 1e-9 * abs(roots)].real
    positive = real[real > 0]
    return float(positive.min()) if len(positive) else float("nan")


def onset_difference(inputs: Inputs) -> Measured:
    """Largest difference of a bare onset from the root of the determinant, over v, g_OV and L."""
    found = parameters_of(inputs["phase"])
    if "task" not in found or "prior" not in found:
        return Measured(None, undecided="the theory's result does not carry its parameters")
    if found["prior"].get("d_k") is not None:
        return Measured(None, absent="at finite d_k pooling may set in by a jump, before the instability")
    base = {"L": found["task"]["L"], "g": found["prior"]["g_OV"], "v": found["prior"]["v"]}
    fixed = {"V": found["task"]["V"], "sigma2": found["prior"]["sigma2"]}
    differences = []
    for axis in AXES:
        onset = inputs["phase"][f"onset_{axis}"].sel(theory="bare")
        for x, value in zip(onset[axis].values, onset.values, strict=True):
            root = onset_of_determinant(**{**base, {"g_OV": "g"}.get(axis, axis): float(x)}, **fixed)
            differences.append((abs(float(value) - root), f"{axis} = {x:g}: {value:.2f}"))
    return Measured(max(differences)[0], f"largest at {max(differences)[1]}, of {len(differences)}")


def loop_area(inputs: Inputs, kind: str) -> Measured:
    """Area between the ways down and up of the mean copy order parameter, trapped chains left out.

    Softmax: undecided where the theory's barrier is so low that chains cross it within a dwell.
    """
    found = find_ways(inputs["hysteresis"], kind)
    if found is None:
        return Measured(None, absent=f"no sweep of {kind} attention")
    mean, error = found
    gap = mean.sel(direction="down") - mean.sel(direction="up")
    widest = int(abs(gap).values.argmax())
    area = float(gap.integrate("P"))
    weights = np.gradient(gap.P.values.astype(np.float64))
    spread = float(np.sqrt(((error**2).sum("direction").values * weights**2).sum()))
    detail = f"± {spread:.2f}; ways differ most at P = {gap.P.values[widest]:g}, by {float(gap[widest]):.3f}"
    undecided = barrier_too_low(inputs) if kind == "softmax" else ""
    return Measured(area, detail, undecided)


def loop_sign(inputs: Inputs) -> Measured:
    """Area of the softmax loop over its standard error."""
    found = find_ways(inputs["hysteresis"], "softmax")
    if found is None:
        return Measured(None, absent="no sweep of softmax attention")
    mean, error = found
    gap = mean.sel(direction="down") - mean.sel(direction="up")
    weights = np.gradient(gap.P.values.astype(np.float64))
    spread = float(np.sqrt(((error**2).sum("direction").values * weights**2).sum()))
    area = float(gap.integrate("P"))
    return Measured(area / max(spread, 1e-3), f"{area:.2f} ± {spread:.2f} sequences")


def ways_differ(inputs: Inputs, tolerance: float) -> Measured:
    """Largest difference between both ways of the mean cG of linear attention, over P.

    Undecided where two standard errors of the difference exceed the tolerance.
    """
    found = find_ways(inputs["hysteresis"], "linear")
    if found is None:
        return Measured(None, absent="no sweep of linear attention")
    mean, error = found
    gap = abs(mean.sel(direction="down") - mean.sel(direction="up"))
    noise = 2 * np.sqrt((error**2).sum("direction").values)
    loose = gap.P.values[noise > tolerance]
    trapped = int(inputs["hysteresis"].trapped.any(("direction", "P")).sum())
    detail = f"at P = {gap.P.values[int(gap.values.argmax())]:g} of {list_P(gap.P.values)}"
    detail += f"; {trapped} chains met the state with c1 cG < 0" if trapped else ""
    return Measured(
        float(gap.max()),
        detail,
        f"two standard errors exceed {tolerance:g} at {list_P(loose)}" if len(loose) else "",
    )
