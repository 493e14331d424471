"""Which head learns a direction: small heads do not feel each other, and the first to blow up wins.

While the weights of a rank-one head are small, its own contribution to A changes nothing, so each head obeys
tau dv = sum_d mu_d k_d q_d, tau dk_d = mu_d v q_d, tau dq_d = mu_d v k_d, with mu_d the force along
direction d: b_d where nothing is learned, 0 where another head has learned it.
Source: ours, docs/theory/linattn.md section 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from onset.dynamics.integrate import integrate_flow
from onset.papers.linattn.theory.landscape import Array, Landscape, rank_directions
from onset.papers.linattn.theory.scalar import STEEPEST_SHARE, compute_lead


def flow_silent_heads(v: Array, k: Array, q: Array, force: Array) -> dict[str, Array]:
    """Rates of silent heads: v (...,), k and q (..., D), `force` mu (D,); time in units of tau."""
    return {"v": (k * q) @ force, "k": v[..., None] * force * q, "q": v[..., None] * force * k}


def compute_silent_blow_up_time(v: float, k: Array, q: Array, force: Array) -> float:
    """Time t/tau at which one silent head blows up; infinite where nothing drives it.

    With s = int v dt/tau, k_d + q_d grows as exp(mu_d s) and k_d - q_d decays, hence v^2 = f(s) with
    f(s) = v0^2 + 1/4 sum_d [(k_d+q_d)^2 (e^{2 mu_d s} - 1) + (k_d-q_d)^2 (e^{-2 mu_d s} - 1)],
    which is convex, and the time is the integral of ds/v; where f has a zero ahead, v turns there and s runs
    back.
    v scalar, k and q (D,), `force` (D,) non-negative.
    """
    if v < 0:  # (v, k) -> (-v, -k) is a symmetry
        v, k = -v, -k
    driven = (force > 0) & ((k != 0) | (q != 0))
    mu, rising, falling = force[driven], np.square(k + q)[driven] / 4, np.square(k - q)[driven] / 4
    if mu.size == 0 or (v == 0 and mu @ rising == mu @ falling):
        return np.inf
    # v has grown by exp(40) along the slowest direction, and f is smooth between the edges.
    edges = np.concatenate([[0.0], np.geomspace(1 / mu.max(), 40 / mu.min(), 8)])
    with np.errstate(over="ignore"):
        turn = _find_turning_point(v, mu, rising, falling, edges[-1])
        if turn is None:
            return _integrate(lambda s: 1 / np.sqrt(v**2 + _grow(s, mu, rising, falling)), edges)
        # From 0 to the turning point, then back to minus infinity; s = turn - y^2 removes the singularity.
        rising, falling = rising * np.exp(2 * mu * turn), falling * np.exp(-2 * mu * turn)

        def inverse_speed(y: float) -> float:
            return 2 * y / np.sqrt(_grow(-(y**2), mu, rising, falling))

        return _integrate(inverse_speed, [0.0, np.sqrt(turn)]) + _integrate(inverse_speed, np.sqrt(edges))


def _grow(s: float, mu: Array, rising: Array, falling: Array) -> float:
    """f(s) - f(0), from the growing and the falling parts at s = 0."""
    exponent = np.clip(2 * mu * s, -600, 600)
    return float(rising @ np.expm1(exponent) + falling @ np.expm1(-exponent))


def _find_turning_point(v: float, mu: Array, rising: Array, falling: Array, far: float) -> float | None:
    """Least s > 0 with f(s) = 0, or None; f is convex, so it lies before f's minimum."""

    def slope(s: float) -> float:
        exponent = np.clip(2 * mu * s, -600, 600)
        return float((mu * rising) @ np.exp(exponent) - (mu * falling) @ np.exp(-exponent))

    if slope(0.0) >= 0:
        return None
    bottom = brentq(slope, 0.0, far) if slope(far) > 0 else far
    lowest = v**2 + _grow(bottom, mu, rising, falling)
    if lowest >= 0:
        return None
    return float(brentq(lambda s: v**2 + _grow(s, mu, rising, falling), 0.0, bottom, xtol=1e-15, rtol=1e-14))


def _integrate(function: Callable[[float], float], edges: Sequence[float] | Array) -> float:
    """Integral over consecutive intervals; the integrand may have an integrable singularity at 0."""
    return sum(quad(function, a, b, limit=200, epsabs=0, epsrel=1e-9)[0] for a, b in pairwise(edges))


class Winner(NamedTuple):
    """The head that leaves zero first, and when (t/tau) it would blow up."""

    head: int
    time: float


def find_first_winner(v: Array, k: Array, q: Array, force: Array) -> Winner:
    """The head that blows up earliest, from v (H,), k and q (H, D)."""
    times = [compute_silent_blow_up_time(v[i], k[i], q[i], force) for i in range(len(v))]
    head = int(np.argmin(times))
    return Winner(head, times[head])


def predict_first_drop(v: Array, K: Array, Q: Array, landscape: Landscape) -> Winner:
    """The head that learns first from a small start, and the time t/tau at which the loss then falls fastest.

    v (H,), K and Q (H, R, D): a head of rank R races with all its R D products.  The loss falls fastest at
    v = 0.737 v*, `compute_lead` before the blow-up.   Holds for: starts so small that drops do not overlap.
    """
    force = np.tile(landscape.b, K.shape[1])
    head, time = find_first_winner(v, K.reshape(len(v), -1), Q.reshape(len(v), -1), force)
    first = int(rank_directions(landscape.lam)[0])
    return Winner(head, time - float(compute_lead(STEEPEST_SHARE, first, landscape)))


def _follow_silent(force: Array, _: float, state: dict[str, Array]) -> dict[str, Array]:
    return flow_silent_heads(**state, force=force)


class DropSequence(NamedTuple):
    """For m = 0..D-1: the head that wins, its blow-up time, and the time at which the loss falls fastest.

    Times in t/tau; NaN and -1 where heads have run out or nothing drives the remaining ones.
    """

    heads: Array
    blow_up: Array
    steepest: Array


def predict_drops(v: Array, k: Array, q: Array, landscape: Landscape) -> DropSequence:
    """Order and times of all drops of rank-one ATTN_S from its start: v (H,), k and q (H, D), eigenbasis.

    Heads race; the winner takes the direction of largest eigenvalue that is left, whose force is set to 0 at
    its blow-up, and the others race on.  A winner's loss falls fastest when v = 0.737 v*, which comes
    `compute_lead` from its blow-up.
    Holds for: small starts, where drops do not overlap; the first drop is the sharpest.
    """
    D, order = len(landscape.lam), rank_directions(landscape.lam)
    heads, blow_up, steepest = np.full(D, -1), np.full(D, np.nan), np.full(D, np.nan)
    force, now = landscape.b.copy(), 0.0
    alive = np.arange(len(v))
    v, k, q = np.array(v, dtype=float), np.array(k, dtype=float), np.array(q, dtype=float)
    for m, direction in enumerate(order):
        if alive.size == 0:
            break
        head, wait = find_first_winner(v[alive], k[alive], q[alive], force)
        if not np.isfinite(wait):
            break
        now += wait
        heads[m], blow_up[m] = alive[head], now
        steepest[m] = now - compute_lead(STEEPEST_SHARE, int(direction), landscape)
        alive = np.delete(alive, head)
        if alive.size and m + 1 < D:
            start = {"v": v[alive], "k": k[alive], "q": q[alive]}
            later = integrate_flow(
                partial(_follow_silent, force.copy()),
                start,
                [0.0, wait],
                label="heads that have not won",
                rtol=1e-8,
                atol=1e-10 * max(np.abs(v).max(), 1e-300),
            )
            v[alive], k[alive], q[alive] = later["v"][-1], later["k"][-1], later["q"][-1]
        force[direction] = 0.0
    return DropSequence(heads, blow_up, steepest)
