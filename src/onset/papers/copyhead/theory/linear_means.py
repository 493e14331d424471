"""Posterior means of the linear order parameters at finite size: the rounding of the transition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onset.papers.copyhead.theory.data_average import expand_data_action
from onset.papers.copyhead.theory.linear import find_noise, find_overlaps, reduce_linear_action
from onset.papers.copyhead.theory.loss import predict_test_loss
from onset.papers.copyhead.theory.model import Model
from onset.papers.copyhead.theory.prior import expand_singular_cost

Array = NDArray[np.float64]

NOISE_NODES = 8
"""Gauss-Hermite nodes along ln r and along ln q; twice as many change no mean by 2e-5."""

CUTOFF = 25.0
"""Nats above the minimum at which the box of integration ends."""


class Means(NamedTuple):
    """Posterior means <|c1|>, <cG sign(c1)>, <s2> and test loss of one sample, at one P.

    coverage: sqrt(<c1² + (L-1) cG²>/<s2>), the share of |A| of one sample in the plane of c1 and cG.
    """

    c1: float
    cG: float
    s2: float
    test_loss: float
    coverage: float


def _find_box(P: float, model: Model) -> tuple[Array, Array]:
    """Limits of c1 >= 0 and of cG between which the reduced action is within CUTOFF of its minimum."""
    low1, high1, lowG, highG = 0.0, 2 * model.balance, -model.balance, 1.5 * model.balance
    for _ in range(3):
        c1, cG = np.linspace(low1, high1, 81), np.linspace(lowG, highG, 81)
        action = reduce_linear_action(c1[:, None], cG[None, :], P, model, "dressed")
        inside = action < action.min() + CUTOFF
        kept1, keptG = inside.any(1).nonzero()[0], inside.any(0).nonzero()[0]
        low1, high1 = c1[max(kept1[0] - 1, 0)], c1[min(kept1[-1] + 1, 80)]
        lowG, highG = cG[max(keptG[0] - 1, 0)], cG[min(keptG[-1] + 1, 80)]
    return np.array([low1, high1]), np.array([lowG, highG])


def integrate_means(P: float, model: Model, nodes: int) -> Means:
    """Means under exp(-S4), by quadrature over (c1, cG, ln r, ln q) with c1 >= 0.

    (A, W) -> (-A, -W) is a symmetry, so that half of the plane gives <|c1|> and <cG sign(c1)>.
    Gauss-Legendre with `nodes` nodes along c1 and along cG inside the box where the posterior lives;
    Gauss-Hermite along ln r and ln q around their saddle at that (c1, cG).
    Source: reconstruction, docs/theory/copyhead.md section 7.
    """
    L, tau = model.L, model.tau
    x, weight = np.polynomial.legendre.leggauss(nodes)
    box1, boxG = _find_box(P, model)
    c1 = (box1.mean() + np.diff(box1) / 2 * x)[:, None, None, None]
    cG = (boxG.mean() + np.diff(boxG) / 2 * x)[None, :, None, None]

    # ln r and ln q fluctuate like log chi-squares: variance about 2/dimension.
    y, noise_weight = np.polynomial.hermite.hermgauss(NOISE_NODES)
    sizes = (L - 1) / 2, (L**2 - L - 1) / 2
    r0, q0 = find_noise(c1, cG, P, model)
    log_r = np.log(r0) + (y * np.sqrt(2 / sizes[0]))[None, None, :, None]
    log_q = np.log(q0) + (y * np.sqrt(2 / sizes[1]))[None, None, None, :]
    r, q = np.exp(log_r), np.exp(log_q)

    overlaps = find_overlaps(c1, cG, r, q, L)
    action = (
        expand_singular_cost(c1, tau, model.d_k)[0] + (L - 1) * expand_singular_cost(cG, tau, model.d_k)[0]
    )
    action = action + (r + q) / (2 * tau) - sizes[0] * log_r - sizes[1] * log_q
    action = action + expand_data_action(overlaps, P, model).value
    density = np.exp(action.min() - action + (y**2)[:, None] + y**2)
    density *= weight[:, None, None, None] * weight[:, None, None] * noise_weight[:, None] * noise_weight
    density /= density.sum()
    loss = predict_test_loss(overlaps, P, model, sampled=True)
    signal = overlaps.s2 - r - q
    mean = [float((density * value).sum()) for value in (c1, cG, overlaps.s2, loss, signal)]
    return Means(mean[0], mean[1], mean[2], mean[3], coverage=float(np.sqrt(mean[4] / mean[2])))
