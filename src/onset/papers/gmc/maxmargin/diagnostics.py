"""What the paper checks of a run, each as a function of the margins (..., n, R) that gradient descent passes.

Leading axes are iterations and seeds; tau is the number of steps done.   Source: arXiv 2602.07562, section 4
and appendices D to G; the exact forms of A8 and A9 are our reconstruction.
"""

from __future__ import annotations

import numpy as np

from onset.papers.gmc.maxmargin.geometry import Array
from onset.papers.gmc.maxmargin.gradient import attend, project_residual, weigh_rivals


def measure_loss(margins: Array, value_gram: Array, factor: float) -> Array:
    """factor times sum_i |r_i|²/2, (...)."""
    return factor * project_residual(attend(margins)[0], value_gram)[1][..., 0].sum(-1) / 2


def measure_h(margins: Array, value_gram: Array) -> Array:
    """h_t = sum_s a_s/(1-a_y) <d_s, d_t>, (..., n, R)."""
    attention, missing = attend(margins)
    return project_residual(attention / missing, value_gram)[0]


def measure_gradient2(margins: Array, margin_gram: Array, value_gram: Array, factor: float) -> Array:
    """Squared norm of the loss's gradient with respect to W_KQ, (...); margins (iteration, seed, n, R)."""
    pi = weigh_rivals(margins, value_gram)
    pi = pi.reshape(*pi.shape[:-2], -1).swapaxes(0, 1)  # (seed, iteration, K), as matmul batches it
    return factor**2 * (pi * (pi @ margin_gram)).sum(-1).swapaxes(0, 1)


def measure_deviation(h: Array, limit: Array) -> tuple[Array, Array]:
    """max and mean over (i, t) of |h - h_inf|, over sum |h_inf| (A7), each (...); NaN rivals left out."""
    away = np.abs(h - limit)
    scale = np.nansum(np.abs(limit), axis=(-2, -1))
    return np.nanmax(away, axis=(-2, -1)) / scale, np.nanmean(away, axis=(-2, -1)) / scale


def measure_tail(margins: Array, support: Array, iteration: Array) -> Array:
    """g(tau) = max_i of the sum of e^(-m) off the support over that on it (A9), (...).

    `support` (seed, n, R) bool; `iteration` (iteration,).  A sample without support is compared with
    tau^(-1/2), the rate of a support vector.  0 where every rival is a support vector.
    """
    low = margins.min(-1, keepdims=True)
    weights = np.exp(low - margins)
    on, off = (np.where(kept, weights, 0.0).sum(-1) for kept in (support, ~support))
    with np.errstate(over="ignore", divide="ignore"):
        root = np.exp(low[..., 0]) / np.sqrt(np.maximum(iteration, 1)).reshape(-1, 1, 1)
        return (off / np.where(support.any(-1), on, root)).max(-1)


def correct(multipliers: Array, h: Array, step: float) -> Array:
    """p_t = c_t/sqrt(sum c), c_t = alpha_t/(2 eta h_t), for multipliers that are 0 off the support.

    (..., n, R) all; 0 off the support, NaN where h <= 0 on it.  `step` is eta, the loss factor included.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        c = np.where(multipliers > 0, multipliers / (2 * step * h), 0.0)
        c = np.where(c >= 0, c, np.nan)
        total = c.sum(-1, keepdims=True)
        return np.where(multipliers > 0, c / np.sqrt(total), 0.0)


def measure_residual(margins: Array, p: Array, iteration: Array) -> Array:
    """u_t = m_t - ½ log tau + log p_t on the support, NaN off it: what is left of the margins' asymptotics.

    margins (iteration, seed, n, R), p (seed, n, R), iteration (iteration,) of at least 1.
    """
    with np.errstate(divide="ignore"):
        shift = np.where(p > 0, np.log(p), np.nan)
    return margins - 0.5 * np.log(iteration)[:, None, None, None] + shift


def measure_misaligned(u: Array, h: Array, p: Array) -> Array:
    """Share of off-diagonal pairs whose H and U have unlike signs (A8), (...); NaN without such pairs.

    Over pairs s != t of one sample's support, H = h_t u_t + h_s u_s and U = u_t + u_s, weighted with
    p_t p_s |H| |e^(-U) - 1|.  u (..., n, R) is NaN off the support; h, p (n, R) or with leading axes.
    """
    hu = h * u
    H, U = hu[..., :, None] + hu[..., None, :], u[..., :, None] + u[..., None, :]
    with np.errstate(over="ignore"):
        weight = p[..., :, None] * p[..., None, :] * np.abs(H) * np.abs(np.expm1(-U))
    weight = np.where(np.eye(u.shape[-1], dtype=bool), 0.0, weight)
    total = np.nansum(weight, axis=(-3, -2, -1))
    unlike = np.nansum(np.where(np.sign(H) != np.sign(U), weight, 0.0), axis=(-3, -2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return unlike / total
