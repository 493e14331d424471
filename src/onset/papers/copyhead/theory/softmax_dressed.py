"""Softmax attention with the noise of the logits: each row in the mean field of the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onset.errors import OnsetError
from onset.papers.copyhead.theory.data_average import expand_data_action
from onset.papers.copyhead.theory.model import Model
from onset.papers.copyhead.theory.row import RowMoments, build_row_rule, compute_row_moments
from onset.papers.copyhead.theory.saddle_curve import SaddleCurve
from onset.papers.copyhead.theory.softmax import find_softmax_overlaps, trace_saddles

Array = NDArray[np.float64]


def _solve_P(ht: Array, moments: RowMoments, model: Model) -> Array:
    """P at which ht = -dS_data/dt, given the row's moments: positive root of a quadratic.

    ht = 2 c P x t/(1 + x s2) with c = (V-1)/(2 sigma2 V) and x = g P/(V² sigma2).
    """
    s2, t = model.L * moments.square, model.L * moments.copy
    a = 2 * model.pull * t
    return (ht * s2 + np.sqrt((ht * s2) ** 2 + 4 * a * ht / model.signal(1.0))) / (2 * a)


def trace_dressed_saddles(model: Model, P_max: float, points: int, bins: int) -> SaddleCurve:
    """All saddles of F = S_data - hs s2 + ht t - L ln Z1(hs, ht) up to beyond P_max.

    The curve runs along ht = ht_max (i/points)²; at each ht, hs = dS_data/ds2 is solved by secants,
    with P eliminated through ht = -dS_data/dt.  s2 = L <sum A²>, t = L <A_copy>, aG = (t-1)/(L-1).
    `bins` resolves the other keys (see `row.py`).  The action is F - S_data(uniform attention).
    Raises OnsetError where the secants do not converge.  Holds for L >> 1, at infinite d_k.
    Source: reconstruction, docs/theory/copyhead.md section 7.
    """
    if np.isfinite(model.d_k):
        raise ValueError(f"the dressed softmax theory needs infinite d_k (it is {model.d_k})")
    L = model.L
    fraction = np.linspace(0, 1, points + 1)
    # ht = 2 c P w, where the read-out w on the copy branch stays below 1.
    P_upper = trace_saddles(model, P_max, points).find_transition().P_upper
    ht_max = 2.3 * model.pull * np.fmax(P_max, 1.2 * P_upper)
    ht = ht_max * fraction**2
    rule = build_row_rule(model, bins, ht_max)

    def update(hs: Array) -> tuple[Array, Array, RowMoments]:
        moments = compute_row_moments(hs, ht, rule)
        P = _solve_P(ht, moments, model)
        overlaps = find_softmax_overlaps(L * moments.square, L * moments.copy, L)
        return np.asarray(expand_data_action(overlaps, P, model).slopes[0]), P, moments

    hs = ht / 2
    image, P, moments = update(hs)
    gap = image - hs
    step = gap
    for _ in range(30):
        if np.max(np.abs(gap) / (1 + hs)) < 1e-10:
            break
        hs_next = np.maximum(hs + step, 0.0)
        image, P, moments = update(hs_next)
        gap_next = image - hs_next
        change = np.where(gap == gap_next, 1.0, gap - gap_next)
        step = gap_next * (hs_next - hs) / change
        hs, gap = hs_next, gap_next
    else:
        raise OnsetError(
            f"no convergence of the row mean field in 30 secant steps: hs is off by "
            f"{np.max(np.abs(gap)):.2g}; use more bins or a smaller P_max"
        )
    s2, t = L * moments.square, L * moments.copy
    data = expand_data_action(find_softmax_overlaps(s2, t, L), P, model).value
    reference = expand_data_action(find_softmax_overlaps(1.0, 1.0, L), P, model).value
    action = data - reference - hs * s2 + ht * t - L * moments.log_Z
    return SaddleCurve(fraction, P, (t - 1) / (L - 1), s2, action)
