"""Landau action of linear attention in its two order parameters, pooling c1 and copying cG.

A = c1 J/L + cG (G - J/L) + noise, J all ones and G the copy permutation.  The dressed action keeps the
noise as two more variables, row-sum noise r (L-1 dimensions) and the rest q (L²-L-1 dimensions).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from scipy.optimize import brentq

from onset.papers.copyhead.theory.data_average import Overlaps, expand_data_action
from onset.papers.copyhead.theory.model import Form, Model
from onset.papers.copyhead.theory.prior import expand_matrix_cost

Array = NDArray[np.float64]


class Expansion(NamedTuple):
    """Action in nats with its gradient (n,) and Hessian (n, n) in the n = 2 or 4 variables."""

    value: float
    gradient: Array
    hessian: Array


def find_overlaps(c1: Any, cG: Any, r: Any, q: Any, L: int) -> Overlaps:
    """Overlaps of A = c1 J/L + cG (G - J/L) + noise of squared norms r (row sums) and q (the rest)."""
    return Overlaps(s2=c1**2 + (L - 1) * cG**2 + r + q, t=c1 + (L - 1) * cG, m=L * (c1**2 + r), u=L * c1)


def find_noise(c1: Any, cG: Any, P: Any, model: Model) -> tuple[Any, Any]:
    """Noise (r, q) that makes the dressed action stationary at given order parameters; arrays broadcast.

    r = (L-1)/(1/tau + 2 dS/ds2 + 2 L dS/dm), q = (L²-L-1)/(1/tau + 2 dS/ds2), iterated from the prior's
    values: both right sides grow with r and q and stay below them, so the iteration falls to a fixed point.
    """
    L = model.L
    r = (L - 1) * model.tau + 0 * (c1 * cG * P)
    q = (L**2 - L - 1) * model.tau + 0 * r
    for _ in range(100):
        ds2, _, dm, _ = expand_data_action(find_overlaps(c1, cG, r, q, L), P, model).slopes
        stiffness = 1 / model.tau + 2 * ds2
        r_next, q_next = (L - 1) / (stiffness + 2 * L * dm), (L**2 - L - 1) / stiffness
        moved = np.max(np.abs(q_next / q - 1)) + np.max(np.abs(r_next / r - 1))
        r, q = r_next, q_next
        if moved < 1e-13:
            break
    return r, q


def expand_linear_action(z: Array, P: float, model: Model, form: Form) -> Expansion:
    """S_lin at z = (c1, cG), or S4 at z = (c1, cG, ln r, ln q) where `form` is "dressed".

    bare: phi(c1) + (L-1) phi(cG) + S_data.   map: the same without the two logarithms of S_data and, at
    finite d_k, with the nuclear cost in place of phi (at its kinks, c1 = 0 or cG = 0, its slope is 0).
    dressed: + (r+q)/(2 tau) - (L-1)/2 ln r - (L²-L-1)/2 ln q, in the measure dc1 dcG dln r dln q.
    A singular value costs phi at variance tau; noise costs its Gaussian even at finite d_k.
    Source: arXiv 2606.12058 names S_lin(c1, cG); formulas are our reconstruction, docs/theory/copyhead.md
    sections 6 and 7.
    """
    L, tau = model.L, model.tau
    c1, cG = z[0], z[1]
    noise = np.exp(z[2:])
    r, q = noise if len(noise) else (0.0, 0.0)
    data = expand_data_action(find_overlaps(c1, cG, r, q, L), P, model, integrated=form != "map")
    (f1, fG), (h1, hG), (k1, kG) = expand_matrix_cost(z[:2], tau, model.d_k, integrated=form != "map")
    ds2, dt, dm, du = data.slopes
    (ss, st, tt), (mm, mu, uu) = data.curvatures

    # Jacobian of (s2, t, m, u); the second derivatives of s2 and m are diagonal, t and u are linear.
    jacobian = np.array(
        [[2 * c1, 2 * (L - 1) * cG, r, q], [1, L - 1, 0, 0], [2 * L * c1, 0, L * r, 0], [L, 0, 0, 0]]
    )
    second = np.diag([2 * ds2 + 2 * L * dm, 2 * (L - 1) * ds2, r * (ds2 + L * dm), q * ds2])
    inner = np.array([[ss, st, 0, 0], [st, tt, 0, 0], [0, 0, mm, mu], [0, 0, mu, uu]])
    gradient = jacobian.T @ np.array([ds2, dt, dm, du])
    hessian = jacobian.T @ inner @ jacobian + second

    value = f1 + (L - 1) * fG + data.value
    gradient[:2] += (h1, (L - 1) * hG)
    hessian[[0, 1], [0, 1]] += (k1, (L - 1) * kG)
    if form != "dressed":
        return Expansion(float(value), gradient[:2], hessian[:2, :2])
    sizes = np.array([(L - 1) / 2, (L**2 - L - 1) / 2])
    value += noise.sum() / (2 * tau) - sizes @ z[2:]
    gradient[2:] += noise / (2 * tau) - sizes
    hessian[[2, 3], [2, 3]] += noise / (2 * tau)
    return Expansion(float(value), gradient, hessian)


def reduce_linear_action(c1: Any, cG: Any, P: Any, model: Model, form: Form) -> Any:
    """Action of the order parameters alone, in nats; c1, cG and P broadcast.

    bare and map: the value of `expand_linear_action`.  dressed: S4 with noise at its saddle.
    """
    L = model.L
    r, q = find_noise(c1, cG, P, model) if form == "dressed" else (0.0, 0.0)
    integrated = form != "map"
    data = expand_data_action(find_overlaps(c1, cG, r, q, L), P, model, integrated)
    cost = expand_matrix_cost(c1, model.tau, model.d_k, integrated)[0]
    cost = cost + (L - 1) * expand_matrix_cost(cG, model.tau, model.d_k, integrated)[0]
    if form == "dressed":
        cost = cost + (r + q) / (2 * model.tau) - (L - 1) / 2 * np.log(r) - (L**2 - L - 1) / 2 * np.log(q)
    return cost + data.value


def find_trivial_state(P: float, model: Model, form: Form) -> Array:
    """The state without pooling or copying, as the z of `expand_linear_action`."""
    if form != "dressed":
        return np.zeros(2)
    return np.array([0.0, 0.0, *np.log(find_noise(0.0, 0.0, P, model))])


def find_pooling_onset(model: Model, form: Form) -> float:
    """P at which the trivial state becomes unstable: least P with det of the (c1, cG) Hessian = 0.

    bare and map: a root of a polynomial in P.  dressed: the same determinant with noise at its saddle.
    Leading order sigma2 V^(3/2)/sqrt(g v).  Where the transition is second order (supercritical, as it
    is at infinite d_k and the sizes studied) this is the transition; else see `onset.locate_onset`.
    It does not depend on d_k but for "map", where the nuclear cost keeps the trivial state stable at
    every P: infinite.
    Source: reconstruction, docs/theory/copyhead.md section 6.
    """
    if form == "map" and model.finite_width:
        return math.inf
    L, V = model.L, model.V
    signal = Polynomial([0, model.signal(1.0)])
    drive = Polynomial([0, 2 * model.pull]) * signal
    entropy = signal * (0.0 if form == "map" else V * (V - 1))
    pooling = 1 / model.tau + entropy * (1 + L / (V - 1)) - drive * (1 + L**2 / (V - 1))
    copying = 1 / model.tau + entropy - drive * (L - 1)
    roots = np.asarray((pooling * copying - drive**2 * (L - 1)).roots(), dtype=complex)
    real = roots[np.abs(roots.imag) < 1e-9].real
    estimate = float(real[real > 0].min())
    if form != "dressed":
        return estimate

    def determinant(P: float) -> float:
        block = expand_linear_action(find_trivial_state(P, model, form), P, model, form).hessian[:2, :2]
        return float(np.linalg.det(block * model.tau))

    # Noise only delays the onset; the step keeps the bracket short of the second zero, that of copying.
    upper = estimate
    while determinant(upper) > 0:
        upper *= 1.02
    return float(brentq(determinant, estimate * 0.98, upper, xtol=1e-10))
