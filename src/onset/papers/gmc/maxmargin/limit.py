"""Where the residual's weights h and the correction vector p tend to, and how fast.

Late in training W(tau) = ½ log(tau) W_hat + w~ + o(1), and with p_t = exp(-w~.x~_t) the rivals of the support
have e^(-m_t) = p_t tau^(-1/2).  One step must add W_hat/(2 tau), whose multipliers are alpha_t/(2 tau), while
gradient descent adds eta pi_t, where pi_t = h_t e^(-m_t) sum_s e^(-m_s) and h_t = sum_s p_s <d_s, d_t>/sum p:

    eta p_t sum_s <d_t, d_s> p_s = alpha_t/2    for all t in the support of the sample.

This is the stationarity condition of the convex problem min ½ x.Dx - sum alpha_t log x_t, x = sqrt(2 eta) p,
so that p and the limit of h follow from the data alone.  Source: the definition p_t = c_t/sqrt(sum c),
c_t = alpha_t/(2 eta h_t), is that of arXiv 2602.07562, section 4; that h in it can be solved for, and the
rates, are our reconstruction.
"""

from __future__ import annotations

import numpy as np

from onset.papers.gmc.maxmargin.geometry import Array

NEWTON_STEPS = 100
LARGEST = 1e7
"""Size of x, in units in which no entry of D and alpha exceeds 1, at which f is taken to have no minimum."""
ACCURACY = 1e-10
"""Largest relative error of x_t (D x)_t against alpha_t at which Newton's method has arrived."""


def balance(gram: Array, multipliers: Array) -> Array | None:
    """The x > 0 with x_t (D x)_t = alpha_t: gram D (r, r) positive semidefinite, multipliers alpha > 0 (r,).

    Newton's method with backtracking on f = ½ x.Dx - sum alpha log x, which is strictly convex, for the
    relative change of x.  None where f has no minimum: D = 0 for some mixture of the d_t, so that A3 fails.
    """
    size = np.sqrt(np.diagonal(gram) / multipliers.max())
    D, alpha = gram / np.outer(size, size) / multipliers.max(), multipliers / multipliers.max()
    root = np.sqrt(alpha)

    def measure(x: Array) -> float:
        return float(0.5 * x @ D @ x - alpha @ np.log(x))

    x = root.copy()
    for _ in range(NEWTON_STEPS):
        if x.max() > LARGEST:
            break
        excess = x * (D @ x) - alpha
        if np.abs(excess / alpha).max() < ACCURACY:
            return x / size
        curvature = np.eye(len(x)) + x[:, None] * D * x / np.outer(root, root)
        change = np.linalg.solve(curvature, excess / root) / root
        length = min(1.0, 0.95 / max(float(change.max()), 1e-300))  # x stays positive
        now, slope = measure(x), float(excess @ change)
        while length > 1e-12 and measure(x * (1 - length * change)) > now - 1e-4 * length * slope:
            length /= 2
        x = x * (1 - length * change)
    return None


def limit_residual(value_gram: Array, multipliers: Array) -> tuple[Array, Array]:
    """(h, x) of one sample: the limit of h for every rival (R,), and x = sqrt(2 eta) p (R,).

    `value_gram` (R, R) holds <d_s, d_t>; `multipliers` (R,), 0 off the support, as is x.  Both are NaN for a
    sample without support, or whose support has no balance.  Units: h in squared token units.
    """
    support = multipliers > 0
    inside = np.ix_(support, support)
    found = balance(value_gram[inside], multipliers[support]) if support.any() else None
    if found is None:
        return np.full(len(multipliers), np.nan), np.full(len(multipliers), np.nan)
    x = np.zeros(len(multipliers))
    x[support] = found
    return value_gram @ x / x.sum(), x


def find_slowest_rate(margin_gram: Array, value_gram: Array, multipliers: Array, x: Array) -> float:
    """The least lambda of the modes tau^-lambda in which margins and h approach their limits.

    Linearised around the limit, the residual coordinates of the support vectors obey
    du/dlog tau = -½ G (diag(alpha) + X D X) u, G the support's part of the margins' Gram matrix.  Rivals off
    the support add a forcing that falls with a power of its own.  0 where A2 fails, NaN where
    x is NaN on the support.
    `margin_gram` (K, K), `value_gram` (n, R, R), `multipliers` and `x` (n, R), 0 off the support.
    """
    support = (multipliers > 0).ravel()
    x = np.where(multipliers > 0, x, 0.0)
    if np.isnan(x).any():
        return np.nan
    blocks = x[:, :, None] * value_gram * x[:, None, :]
    samples, rivals = multipliers.shape
    pull = np.zeros((samples, rivals, samples, rivals))
    pull[np.arange(samples), :, np.arange(samples), :] = blocks
    pull = pull.reshape(len(support), -1) + np.diag(multipliers.ravel())
    inside = np.ix_(support, support)
    root = np.linalg.cholesky(pull[inside])
    rates = np.linalg.eigvalsh(0.5 * root.T @ margin_gram[inside] @ root)
    return max(float(rates[0]), 0.0)
