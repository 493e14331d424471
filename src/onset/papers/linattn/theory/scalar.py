"""One head learning one direction: the scalar flow tau dv/dt = b v^2 - a lam v^5 (Eq. 21) in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onset.papers.linattn.theory.fixed_points import compute_head_values
from onset.papers.linattn.theory.landscape import Array, Landscape

_ROOT3 = np.sqrt(3.0)
_AT_ZERO = -np.pi / (6 * _ROOT3)
"""Limit of F(u) + 1/u at u = 0."""


def _antiderivative(logit: Array) -> Array:
    """F(u) with F' = 1/(u^2 (1-u^3)) at u = 1/(1 + exp(-logit)), precise near both ends."""
    u = 1 / (1 + np.exp(-logit))
    log_rest = -np.logaddexp(0, logit)  # ln(1 - u)
    return (
        -1 - np.exp(-logit) - log_rest / 3 + np.log1p(u + u**2) / 6 - np.arctan((2 * u + 1) / _ROOT3) / _ROOT3
    )


def _logit(share: ArrayLike) -> Array:
    share = np.asarray(share, dtype=np.float64)
    if np.any((share <= 0) | (share >= 1)):
        raise ValueError(f"a value should lie between 0 and v*, as shares of v* they are {share}")
    return np.log(share) - np.log1p(-share)


def compute_scalar_time(v: ArrayLike, v0: ArrayLike, direction: int, landscape: Landscape) -> Array:
    """Time t/tau that the flow takes from v0 to v along one direction; shapes broadcast.

    (F(v/v*) - F(v0/v*))/(b v*), F(u) = -1/u - ln(1-u)/3 + ln(1+u+u^2)/6 - arctan((2u+1)/sqrt 3)/sqrt 3.
    Negative where v < v0.   Raises ValueError unless both lie between 0 and v* (the signs of v and of its
    key can be flipped together, so positive values are general).
    Source: arXiv 2501.16265, Eq. 21, for the flow; its integral is ours, docs/theory/linattn.md section 7.
    """
    star = compute_head_values(landscape)[direction]
    v, v0 = np.asarray(v) / star, np.asarray(v0) / star
    return (_antiderivative(_logit(v)) - _antiderivative(_logit(v0))) / (landscape.b[direction] * star)


def solve_scalar_flow(time: ArrayLike, v0: ArrayLike, direction: int, landscape: Landscape) -> Array:
    """v at times t/tau (before the start too, where negative) of the flow from v0; shapes broadcast.

    `compute_scalar_time` inverted by bisection in the logit of v/v*, to 1e-13 of it.   Raises ValueError
    unless v0 lies between 0 and v*.
    """
    star = compute_head_values(landscape)[direction]
    wanted = _antiderivative(_logit(np.asarray(v0) / star)) + np.asarray(time) * landscape.b[direction] * star
    # F grows as -exp(-logit) below and as logit/3 above: beyond these bounds it is past the wanted value.
    low = -np.log(np.maximum(-wanted, 1.0)) - 3.0
    high = 3 * np.maximum(wanted, 0.0) + 10.0
    for _ in range(60):
        middle = (low + high) / 2
        below = _antiderivative(middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return star / (1 + np.exp(-(low + high) / 2))


def compute_blow_up_time(v0: ArrayLike, direction: int, landscape: Landscape) -> Array:
    """Time t/tau at which tau dv/dt = b v^2 alone, started at v0 > 0, is infinite: 1/(b v0).

    The length of a plateau of ATTN_S from a small v0, which is why it goes as one over the start's scale.
    Source: arXiv 2501.16265 (from Eq. 21).
    """
    return 1 / (landscape.b[direction] * np.asarray(v0, dtype=np.float64))


def compute_lead(share: ArrayLike, direction: int, landscape: Landscape) -> Array:
    """How long before the blow-up time of a small start the flow is at v = `share` v*, in t/tau.

    -(F(share) - F(0) - 1/0)/(b v*), where F(u) + 1/u is finite at 0; negative once share is near 1.
    Raises ValueError unless 0 < share < 1.   Source: ours, docs/theory/linattn.md section 7.
    """
    star = compute_head_values(landscape)[direction]
    return (_AT_ZERO - _antiderivative(_logit(share))) / (landscape.b[direction] * star)


STEEPEST_SHARE = 0.4 ** (1 / 3)
"""v/v* where the loss falls fastest: -dL/dt is proportional to u^4 (1-u^3)^2, greatest at u^3 = 2/5."""
