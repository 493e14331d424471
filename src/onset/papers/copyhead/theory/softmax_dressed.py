"""Softmax attention with the noise of the logits: each row in the mean field of the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onset.errors import OnsetError
from onset.papers.copyhead.theory.data_average import expand_data_action
from onset.papers.copyhead.theory.model import Model
from onset.papers.copyhead.theory.row import RowMoments, RowRule, build_row_rule, compute_row_moments
from onset.papers.copyhead.theory.saddle_curve import SaddleCurve
from onset.papers.copyhead.theory.softmax import find_softmax_overlaps

Array = NDArray[np.float64]


def _solve_P(ht: Array, moments: RowMoments, model: Model) -> Array:
    """P at which ht = -dS_data/dt, given the row's moments: positive root of a quadratic.

    ht = 2 c P x t/(1 + x s2) with c = (V-1)/(2 sigma2 V) and x = g P/(V² sigma2).
    """
    s2, t = model.L * moments.square, model.L * moments.copy
    a = 2 * model.pull * t
    return (ht * s2 + np.sqrt((ht * s2) ** 2 + 4 * a * ht / model.signal(1.0))) / (2 * a)


def _solve_row(ht: Array, model: Model, rule: RowRule) -> tuple[Array, Array, RowMoments]:
    """hs = dS_data/ds2 at each ht by bracketed secants, with the P and the moments that go with it."""
    L = model.L

    def update(hs: Array) -> tuple[Array, Array, RowMoments]:
        moments = compute_row_moments(hs, ht, rule)
        P = _solve_P(ht, moments, model)
        overlaps = find_softmax_overlaps(L * moments.square, L * moments.copy, L)
        return np.asarray(expand_data_action(overlaps, P, model).slopes[0]) - hs, P, moments

    hs = ht / 2
    gap, P, moments = update(hs)
    step = gap
    lower, upper = np.zeros_like(ht), np.full_like(ht, np.inf)
    for _ in range(60):
        if np.max(np.abs(gap) / (1 + hs)) < 1e-10:
            return hs, P, moments
        lower, upper = np.where(gap > 0, hs, lower), np.where(gap > 0, upper, hs)
        inside = (hs + step > lower) & (hs + step < upper)
        fallback = np.where(np.isinf(upper), 2 * hs + 1, (lower + np.where(np.isinf(upper), 0, upper)) / 2)
        hs_next = np.where(inside, hs + step, fallback)
        gap_next, P, moments = update(hs_next)
        change = np.where(gap == gap_next, 1.0, gap - gap_next)
        step = gap_next * (hs_next - hs) / change
        hs, gap = hs_next, gap_next
    raise OnsetError(
        f"no convergence of the row mean field in 60 steps: hs is off by {np.max(np.abs(gap)):.2g}; "
        f"the logit variance v = {model.v:.3g} may be too large for {len(rule.copy)} nodes (use more bins)"
    )


def trace_dressed_saddles(model: Model, P_max: float, points: int, bins: int) -> SaddleCurve:
    """All saddles of F = S_data - hs s2 + ht t - L ln Z1(hs, ht) up to beyond P_max.

    The curve runs along ht = ht_max (i/points)²; at each ht, hs = dS_data/ds2 is solved with P
    eliminated through ht = -dS_data/dt.  s2 = L <sum A²>, t = L <A_copy>, aG = (t-1)/(L-1).
    `bins` resolves the other keys (see `row.py`).  The action is F - S_data(uniform attention).
    Raises ValueError at finite d_k and OnsetError where hs does not converge.
    Holds for L >> 1, infinite d_k and v of order 1.
    Source: reconstruction, docs/theory/copyhead.md section 7.
    """
    if np.isfinite(model.d_k):
        raise ValueError(f"the dressed softmax theory needs infinite d_k (it is {model.d_k})")
    L = model.L
    fraction = np.linspace(0, 1, points + 1)
    # ht = 2 c P w, with a read-out w on the copy branch of about 1/aG.
    ht_max = 2.3 * model.pull * P_max
    while True:
        ht = ht_max * fraction**2
        hs, P, moments = _solve_row(ht, model, build_row_rule(model, bins, ht_max))
        peaks = P[1:-1][(P[1:-1] > P[:-2]) & (P[1:-1] > P[2:])]
        if P[-1] > 1.05 * peaks.max(initial=P_max):
            break
        ht_max *= 1.5
    s2, t = L * moments.square, L * moments.copy
    data = expand_data_action(find_softmax_overlaps(s2, t, L), P, model).value
    reference = expand_data_action(find_softmax_overlaps(1.0, 1.0, L), P, model).value
    action = data - reference - hs * s2 + ht * t - L * moments.log_Z
    return SaddleCurve(fraction, P, (t - 1) / (L - 1), s2, action)
