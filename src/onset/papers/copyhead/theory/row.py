"""One row of softmax attention under fields: its generating function and first moments.

Z1(hs, ht) = E exp(-hs sum_b A_b² + ht A_copy) over L independent N(0, v) logits; at finite width the
copied key's logit has its mean shifted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from onset.papers.copyhead.theory.model import Model
from onset.papers.copyhead.theory.prior import expand_singular_cost

Array = NDArray[np.float64]

LOG2_SAMPLES = 16
"""Quasi-random draws (log2) of the other keys' logits, before they are binned."""

LOGIT_STEP = 0.15
"""Spacing of the copied key's logit, in prior standard deviations; the trapezoid rule is exact to 1e-9."""


class RowRule(NamedTuple):
    """Quadrature of the prior over a row: sum_b A_b², A_copy, log weight and the copied key's logit over
    its variance v at each node, all (nodes,)."""

    square: Array
    copy: Array
    log_weight: Array
    logit: Array


class RowMoments(NamedTuple):
    """ln Z1, <sum_b A_b²>, <A_copy> and the copied key's mean logit (over v) under the fields, each of the
    fields' shape."""

    log_Z: Array
    square: Array
    copy: Array
    logit: Array


def _bin_others(model: Model, bins: int) -> tuple[Array, Array, Array]:
    """Sums of exp(omega) and exp(2 omega) over the L-1 other keys, and weights, at 2*bins nodes.

    Draws are sorted by the first sum into bins that narrow towards both tails; in each bin the second
    sum takes two values that keep its mean and its variance.
    """
    draws = 2**LOG2_SAMPLES
    # Sobol points, rotated by multiples of the golden ratio: without it the first is the cube's corner,
    # every logit far out at once, to which strong fields would give all weight.
    points = qmc.Sobol(model.L - 1, scramble=False).random_base2(LOG2_SAMPLES)
    points = (points + np.arange(1, model.L) * (math.sqrt(5) - 1) / 2) % 1
    terms = np.exp(math.sqrt(model.v) * ndtri(points))
    first, second = terms.sum(1), (terms**2).sum(1)
    order = np.argsort(first)
    edges = np.unique(np.rint(draws * np.sin(np.linspace(0, np.pi / 2, bins + 1)) ** 2).astype(int))
    share = np.diff(edges)

    def average(values: Array) -> Array:
        return np.add.reduceat(values[order], edges[:-1]) / share

    sums, middle = average(first), average(second)
    variance = np.maximum(average(second**2) - middle**2, 0)
    # One value below the mean, but not below what squares must add up to (Cauchy-Schwarz).
    below = np.minimum(np.sqrt(variance), middle - sums**2 / (model.L - 1))
    below = np.maximum(below, 1e-9 * middle)
    above = variance / below
    low_share = variance / (variance + below**2)
    nodes = np.concatenate([middle - below, middle + above])
    weights = np.concatenate([low_share, 1 - low_share]) * np.tile(share / draws, 2)
    return np.tile(sums, 2)[weights > 0], nodes[weights > 0], weights[weights > 0]


def build_row_rule(model: Model, bins: int, ht_max: float) -> RowRule:
    """Quadrature nodes good for fields 0 <= ht <= ht_max and any hs >= 0; (logits x 2 bins) nodes.

    The copied key's logit runs over an even grid up to six deviations above the largest value to which
    the field can pull it, ln(1 + v ht L exp(v/2)), where v is to be v/h for a cost whose slope at one
    deviation is h in place of 1/sqrt(v).
    """
    others, other_squares, weights = _bin_others(model, bins)
    deviation = math.sqrt(model.v)
    softness = deviation / float(expand_singular_cost(deviation, model.v, model.d_k)[1])
    pulled = math.log1p(softness * ht_max * model.L * math.exp(model.v / 2))
    step = LOGIT_STEP * deviation
    logit = np.arange(-6 * deviation, pulled + 6 * deviation, step)
    own = np.exp(logit)[:, None]
    total = own + others
    log_density = -(logit**2) / (2 * model.v) + math.log(step / (deviation * math.sqrt(2 * math.pi)))
    log_weight = np.broadcast_to(log_density[:, None] + np.log(weights), total.shape).ravel()
    reduced = np.broadcast_to(logit[:, None] / model.v, total.shape).ravel()
    square = (own**2 + other_squares) / total**2
    return RowRule(square.ravel(), (own / total).ravel(), log_weight, reduced)


def compute_row_moments(hs: Array, ht: Array, rule: RowRule, shift: Array | None = None) -> RowMoments:
    """ln Z1 and its first moments at fields hs, ht (points,).

    <sum_b A_b²> = -d ln Z1/d hs and <A_copy> = d ln Z1/d ht, on the same quadrature nodes.  `shift`
    (points,) multiplies exp(shift omega_copy/v) into the expectation, which moves the mean of the copied
    key's logit by `shift` (and Z1 by exp(shift²/(2 v))); none is zero.
    Source: reconstruction, docs/theory/copyhead.md section 7.
    """
    values = np.stack([np.ones_like(rule.copy), rule.square, rule.copy, rule.logit], axis=1)
    sources = np.stack([-rule.square, rule.copy] + ([] if shift is None else [rule.logit]))
    fields = np.column_stack([hs, ht] + ([] if shift is None else [shift]))
    results = []
    # A few rows of fields at a time keep the node arrays in the processor's cache.
    for i in range(0, len(hs), 8):
        exponent = fields[i : i + 8] @ sources
        exponent += rule.log_weight
        top = exponent.max(1, keepdims=True)
        exponent -= top
        np.exp(exponent, out=exponent)
        sums = exponent @ values
        results.append(np.column_stack([np.log(sums[:, 0]) + top[:, 0], sums[:, 1:] / sums[:, :1]]))
    return RowMoments(*np.concatenate(results).T)
