"""Gradient descent on W_KQ from zero, in the coordinates of the data's Gram matrix.

The gradient of the loss f sum_i |r_i|²/2 is -f sum_(i,t) pi_(i,t) x~_(i,t), so that W stays in the span of
the x~, and its K = n (T-2) margins m = x~.w obey a closed recursion of size K whatever d_in is:

    m <- m + eta G pi(m),      eta the learning rate times f,   G the Gram matrix of the x~

Source: arXiv 2602.07562, section 4 and appendices D to G.  The main text's loss (Eq. 9) is sum |r|², f = 2;
the appendix's has the half, f = 1.  They differ by a factor of 2 in the step: the laws of norm and direction
do not depend on it, p does.  The form of pi is our derivation; tests hold it against autograd.
"""

from __future__ import annotations

import numpy as np

from onset.papers.gmc.maxmargin.geometry import Array

LOSS_FACTOR = {"half": 1.0, "full": 2.0}
"""f of each convention of the loss."""
LOWEST = -600.0
"""Margin down to which sums of e^(-m) are far from the largest number."""


def attend(margins: Array) -> tuple[Array, Array]:
    """Attention a_t = e^(-m_t)/(1 + sum_s e^(-m_s)) on each rival (..., R), and 1 - a_y (..., 1), their sum.

    Summed over rivals, 1 - a_y keeps its relative accuracy as it goes to zero.  The largest exponent is
    subtracted from all, so that none overflows.
    """
    low = np.minimum(np.minimum.reduce(margins, -1, keepdims=True), 0.0)
    weights = np.exp(low - margins)
    missing = np.add.reduce(weights, -1, keepdims=True)
    total = missing + np.exp(low)
    return weights / total, missing / total


def project_residual(attention: Array, value_gram: Array) -> tuple[Array, Array]:
    """<d_t, r> = (1 - a_y) h_t for each rival (..., n, R), and |r|² = sum_t a_t <d_t, r> (..., n, 1).

    r = sum_t a_t d_t is the prediction less the target.
    """
    along = (attention[..., None, :] @ value_gram)[..., 0, :]
    return along, np.add.reduce(attention * along, -1, keepdims=True)


def weigh_rivals(margins: Array, value_gram: Array) -> Array:
    """pi_t = a_t ((1 - a_y) h_t - |r|²), (..., n, R): -grad of sum |r|²/2 is sum pi_(i,t) x~_(i,t)."""
    attention, _ = attend(margins)
    along, squared = project_residual(attention, value_gram)
    return attention * (along - squared)


def follow_descent(
    margins: Array, margin_gram: Array, value_gram: Array, eta: float, states: int
) -> tuple[Array, Array]:
    """Margins at `states` successive iterations (states, S, n, R), the given ones first, and those after.

    `margins` (S, n, R), `margin_gram` (S, K, K), `value_gram` (S, n, R, R), all float64; `eta` is the
    learning rate times the loss factor.  Each seed's numbers do not depend on the others in the batch.
    """
    path = _follow_moderate(margins, eta * margin_gram, value_gram, states)
    extreme = ~(path.min((0, 2, 3)) > LOWEST)
    if extreme.any():
        path[:, extreme] = _follow_any(
            margins[extreme], margin_gram[extreme], value_gram[extreme], eta, states
        )
    return path[:-1], path[-1]


def _follow_moderate(margins: Array, pull: Array, value_gram: Array, states: int) -> Array:
    """The path (states + 1, S, n, R) while all margins are above LOWEST; `pull` is eta G.

    At the paper's sizes the calls cost more than what they compute: this has the fewest, without the guard
    against overflow of `attend`, and writes into arrays that are there.
    """
    S, n, R = margins.shape
    path = np.empty((states + 1, S, n, R))
    path[0] = margins
    attention, along, pi = (np.empty((S, n, R)) for _ in range(3))
    total, squared = np.empty((S, n, 1)), np.empty((S, n, 1))
    step = np.empty((S, 1, n * R))
    row, projected, flat = attention[:, :, None, :], along[:, :, None, :], pi.reshape(S, 1, n * R)
    moved = step.reshape(S, n, R)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(states):
            np.negative(path[k], out=attention)
            np.exp(attention, out=attention)
            np.add.reduce(attention, -1, keepdims=True, out=total)
            total += 1.0
            attention /= total
            np.matmul(row, value_gram, out=projected)
            np.multiply(attention, along, out=pi)
            np.add.reduce(pi, -1, keepdims=True, out=squared)
            along -= squared
            np.multiply(attention, along, out=pi)
            np.matmul(flat, pull, out=step)
            np.add(path[k], moved, out=path[k + 1])
    return path


def _follow_any(margins: Array, margin_gram: Array, value_gram: Array, eta: float, states: int) -> Array:
    """The same path for margins of any size."""
    S, n, R = margins.shape
    path = np.empty((states + 1, S, n, R))
    path[0] = margins
    for k in range(states):
        pi = weigh_rivals(path[k], value_gram)
        path[k + 1] = path[k] + (pi.reshape(S, 1, n * R) @ (eta * margin_gram)).reshape(S, n, R)
    return path
