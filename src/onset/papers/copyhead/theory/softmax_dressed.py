"""Softmax attention with the noise of the logits: each row in the mean field of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from onset.errors import OnsetError
from onset.papers.copyhead.theory.data_average import expand_data_action
from onset.papers.copyhead.theory.model import Model
from onset.papers.copyhead.theory.prior import expand_singular_cost
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


def _find_zero(evaluate: Callable[[Array], Array], start: Array, what: str) -> Array:
    """Zero of a gap that is positive below it and negative above, elementwise, by bracketed secants.

    `evaluate` maps positions >= 0 to their gaps; the last call is at the result.
    Raises OnsetError where 60 steps do not suffice.
    """
    here, gap = start, evaluate(start)
    step = gap
    lower, upper = np.zeros_like(here), np.full_like(here, np.inf)
    for _ in range(60):
        if np.max(np.abs(gap) / (1 + here)) < 1e-10:
            return here
        lower, upper = np.where(gap > 0, here, lower), np.where(gap > 0, upper, here)
        inside = (here + step > lower) & (here + step < upper)
        fallback = np.where(np.isinf(upper), 2 * here + 1, (lower + np.where(np.isinf(upper), 0, upper)) / 2)
        there = np.where(inside, here + step, fallback)
        gap_there = evaluate(there)
        change = np.where(gap == gap_there, 1.0, gap - gap_there)
        step = gap_there * (there - here) / change
        here, gap = there, gap_there
    raise OnsetError(
        f"no convergence of the row mean field in 60 steps: {what} is off by {np.max(np.abs(gap)):.2g}; "
        "the logit variance v may be too large for the quadrature of a row (use more bins)"
    )


@dataclass
class _Rows:
    """Rows of softmax attention in each other's field at given ht (points,); solved fields are kept."""

    model: Model
    rule: RowRule
    ht: Array
    hs: Array
    shift: Array | None = None
    moments: RowMoments = field(init=False)
    P: Array = field(init=False)

    def respond(self, hs: Array) -> Array:
        """dS_data/ds2 - hs, with P eliminated."""
        self.moments = compute_row_moments(hs, self.ht, self.rule, self.shift)
        self.P = _solve_P(self.ht, self.moments, self.model)
        L = self.model.L
        overlaps = find_softmax_overlaps(L * self.moments.square, L * self.moments.copy, L)
        return np.asarray(expand_data_action(overlaps, self.P, self.model).slopes[0]) - hs

    def settle(self) -> None:
        """Solve for hs at the present shift."""
        self.hs = _find_zero(self.respond, self.hs, "hs")

    def excess(self) -> Array:
        """Mean excess of the copied key's logit over the others'."""
        L, shift = self.model.L, 0.0 if self.shift is None else self.shift
        return np.asarray(shift + L / (L - 1) * (self.model.v * self.moments.logit - shift))

    def widen(self, shift: Array) -> Array:
        """lam - v phi'(lam) - shift: what the cost at finite width asks of the shift, less the shift."""
        self.shift = shift
        self.settle()
        excess = self.excess()
        return excess - self.model.v * expand_singular_cost(excess, self.model.v, self.model.d_k)[1] - shift


def _solve_rows(ht: Array, model: Model, rule: RowRule) -> _Rows:
    """Rows with hs = dS_data/ds2 at each ht and, at finite width, the shift of the copied key's logit."""
    rows = _Rows(model, rule, ht, ht / 2)
    rows.settle()
    if model.finite_width:
        _find_zero(rows.widen, np.zeros_like(ht), "the shift of the copied logit")
    return rows


def _compute_width_action(rows: _Rows) -> Array | float:
    """What finite width adds to the action, in nats: E(lam) + L hl lam - L (ln Z1(hl) - ln Z1(shift)).

    E = (L-1)(phi(lam) - lam²/(2 v)) and hl = (L-1) shift/(L v); ln Z1(hl), of the field on the excess,
    is that of the shifted logit less (shift/v)² v/2 plus hl² v L/(2 (L-1)).
    """
    model, shift = rows.model, rows.shift
    if shift is None:
        return 0.0
    L, v, excess = model.L, model.v, rows.excess()
    E = (L - 1) * (expand_singular_cost(excess, v, model.d_k)[0] - excess**2 / (2 * v))
    hl = (L - 1) * shift / (L * v)
    return np.asarray(E + L * hl * excess + L * shift**2 / (2 * v) - L**2 * hl**2 * v / (2 * (L - 1)))


def trace_dressed_saddles(model: Model, P_max: float, points: int, bins: int) -> SaddleCurve:
    """All saddles of F = S_data - hs s2 + ht t - L ln Z1(hs, ht) up to beyond P_max.

    The curve runs along ht = ht_max (i/points)²; at each ht, hs = dS_data/ds2 is solved with P
    eliminated through ht = -dS_data/dt.  s2 = L <sum A²>, t = L <A_copy>, aG = (t-1)/(L-1).
    At finite d_k the mean logits cost (L-1) phi(lam) and their noise its Gaussian: a field on the excess
    lam of the copied key's logit makes up the difference.
    `bins` resolves the other keys (see `row.py`).  The action is F - S_data(uniform attention).
    Raises OnsetError where the fields do not converge.
    Holds for L >> 1 and v of order 1; at finite d_k it is an approximation, good for d_k >> L.
    Source: reconstruction, docs/theory/copyhead.md section 7.
    """
    L = model.L
    fraction = np.linspace(0, 1, points + 1)
    # ht = 2 c P w, with a read-out w on the copy branch of about 1/aG.
    ht_max = 2.3 * model.pull * P_max
    while True:
        ht = ht_max * fraction**2
        rows = _solve_rows(ht, model, build_row_rule(model, bins, ht_max))
        P, moments = rows.P, rows.moments
        peaks = P[1:-1][(P[1:-1] > P[:-2]) & (P[1:-1] > P[2:])]
        if P[-1] > 1.05 * peaks.max(initial=P_max):
            break
        ht_max *= 1.5
    s2, t = L * moments.square, L * moments.copy
    data = expand_data_action(find_softmax_overlaps(s2, t, L), P, model).value
    reference = expand_data_action(find_softmax_overlaps(1.0, 1.0, L), P, model).value
    action = data - reference - rows.hs * s2 + ht * t - L * moments.log_Z + _compute_width_action(rows)
    return SaddleCurve(fraction, P, (t - 1) / (L - 1), s2, action)
