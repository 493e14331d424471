"""Landau action of softmax attention in its one order parameter aG (rows sum to 1, so a1 = 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onset.papers.copyhead.theory.data_average import Overlaps, expand_data_action
from onset.papers.copyhead.theory.model import Form, Model
from onset.papers.copyhead.theory.prior import expand_matrix_cost
from onset.papers.copyhead.theory.saddle_curve import SaddleCurve

Array = NDArray[np.float64]


def find_softmax_overlaps(s2: Any, t: Any, L: int) -> Overlaps:
    """Overlaps of an attention matrix whose rows sum to 1: m = u = L."""
    return Overlaps(s2, t, L + 0 * s2, L + 0 * s2)


def compute_softmax_action(aG: Any, P: Any, model: Model, form: Form = "bare") -> Any:
    """S_softmax(aG; P) - S_softmax(0; P) in nats, "bare" or "map"; aG in (-1/(L-1), 1), broadcasts with P.

    (L-1) phi(lam) + S_data(s2 = 1+(L-1)aG², t = 1+(L-1)aG), with lam = ln[(1+(L-1)aG)/(1-aG)] the
    excess of the copied key's logit and phi at variance v.  "map" drops the logarithm and, at finite
    d_k, has the nuclear cost in place of phi.
    Noise in the logits is left out; `trace_dressed_saddles` has it.
    Source: arXiv 2606.12058 names S_softmax(aG; P); formula is our reconstruction, docs/theory/copyhead.md
    section 6.
    """
    L = model.L
    aG = np.asarray(aG, dtype=float)
    lam = np.log((1 + (L - 1) * aG) / (1 - aG))
    cost = (L - 1) * expand_matrix_cost(lam, model.v, model.d_k, integrated=form == "bare")[0]
    here = find_softmax_overlaps(1 + (L - 1) * aG**2, 1 + (L - 1) * aG, L)
    there = find_softmax_overlaps(1.0, 1.0, L)
    likelihood = (expand_data_action(o, P, model, integrated=form == "bare").value for o in (here, there))
    return cost + next(likelihood) - next(likelihood)


def _is_pinned(model: Model, form: Form) -> bool:
    """Whether the cost has a kink at uniform attention, which holds it there at small P."""
    return form == "map" and model.finite_width


def _solve_P(lam: Array, aG: Array, model: Model, form: Form) -> Array:
    """The P at which aG is stationary: the one positive root of a cubic, by bisection.

    With x = g P/(V² sigma2), multiplying dS/daG by (1+x s2)² gives a cubic in P whose coefficients
    change sign once (t aG - s2 = aG - 1 < 0), hence one positive root.
    """
    L, V = model.L, model.V
    s2, t = 1 + (L - 1) * aG**2, 1 + (L - 1) * aG
    slope = (L - 1) / (1 + (L - 1) * aG) + 1 / (1 - aG)
    if _is_pinned(model, form):  # at lam = 0 the slope to its right
        lam = np.maximum(lam, np.finfo(float).tiny)
    cost = expand_matrix_cost(lam, model.v, model.d_k, integrated=form == "bare")[1] * slope
    entropy = V * (V - 1) * aG if form == "bare" else 0 * aG
    signal, drive = model.signal(1.0), 2 * model.pull

    def force(P: Array) -> Array:
        x = signal * P
        return cost * (1 + x * s2) ** 2 + entropy * x * (1 + x * s2) - drive * P * x * t * (1 + x * (1 - aG))

    lower, upper = np.zeros_like(aG), np.ones_like(aG)
    while np.any(growing := force(upper) > 0):
        upper[growing] *= 2
    for _ in range(60):
        middle = (lower + upper) / 2
        positive = force(middle) > 0
        lower, upper = np.where(positive, middle, lower), np.where(positive, upper, middle)
    return (lower + upper) / 2


def trace_saddles(model: Model, P_max: float, points: int, form: Form = "bare") -> SaddleCurve:
    """All saddles of the bare or MAP action up to beyond P_max, along lam = lam_max (i/points)².

    For "map" at finite d_k the curve starts at a positive P, up to which uniform attention is pinned.
    Raises ValueError for "dressed" (`trace_dressed_saddles`).
    Source: reconstruction, docs/theory/copyhead.md section 8.
    """
    if form == "dressed":
        raise ValueError("the dressed curve is not a function of lam; use trace_dressed_saddles")
    pinned = _is_pinned(model, form)
    L = model.L
    fraction = np.linspace(0, 1, points + 1)

    def attend(lam: Array) -> Array:
        return np.expm1(lam) / (np.exp(lam) + L - 1)

    ends = np.geomspace(0.01, 30.0, 200)
    P = _solve_P(ends, attend(ends), model, form)
    # The copy branch has to reach the largest P asked for, and the upper spinodal (a peak of P).
    peaks = P[1:-1][(P[1:-1] > P[:-2]) & (P[1:-1] > P[2:])]
    highest = peaks.max(initial=P_max)
    if pinned:
        highest = max(highest, float(_solve_P(np.zeros(1), np.zeros(1), model, form)[0]))
    within = 1.05 * highest > P
    lam = ends[min(within.nonzero()[0].max(initial=0) + 1, len(ends) - 1)] * fraction**2
    aG = attend(lam)
    P = _solve_P(lam, aG, model, form)
    action = compute_softmax_action(aG, P, model, form)
    return SaddleCurve(fraction, P, aG, 1 + (L - 1) * aG**2, action, pinned)
