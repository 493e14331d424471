"""Merged attention on white inputs: the whole time course of loss and map (Eq. 10)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onset.papers.linattn.theory.landscape import Array, Landscape


def project_start(v: Array, U: Array, landscape: Landscape) -> Array:
    """Amplitude w_init (...,) with which a small start of ATTN_M feeds the growing mode.

    |v + <U, F>/|F|| / 2, a norm over heads, with F = diag(b) the force at zero weights (Lambda^2); on white
    inputs |v + tr U/sqrt(D)|/2.  v (..., H), U (..., H, D, D) in the eigenbasis.  Half of v and half of the
    overlap lie on the mode that grows, the other half decays.
    Holds for: entries much smaller than those after the drop.
    Source: ours, docs/theory/linattn.md section 5.
    """
    direction = landscape.b / np.linalg.norm(landscape.b)
    return np.linalg.norm(v + np.einsum("...hdd,d->...h", U, direction), axis=-1) / 2


def solve_white_course(time: ArrayLike, w_init: ArrayLike, landscape: Landscape) -> Array:
    """sigma(t) of A = sigma(t) I for white inputs, Lambda = lam I; shape of `time` and `w_init` broadcast.

    With E = exp(2 sqrt(D) b t/tau) and a start v = w_init r, U_i = w_init r_i I/sqrt(D), |r| = 1:
    sigma = b E / [a lam (E - 1) + sqrt(D) b/w_init^2].  On a query b = lam^2, a lam = lam^3 (1 + (1+D)/N).
    `time` in units of tau.   Raises ValueError unless all eigenvalues are equal.
    Source: arXiv 2501.16265, Eq. 10 (lam = 1); lam other than 1 is ours, docs/theory/linattn.md section 5.
    """
    lam = landscape.lam
    if not np.allclose(lam, lam[0], rtol=1e-12):
        raise ValueError(f"the time course has a closed form for equal eigenvalues only, not for {lam}")
    b, pull, root = landscape.b[0], landscape.pull[0], np.sqrt(len(lam))
    decay = np.exp(-2 * root * b * np.asarray(time, dtype=np.float64))
    return b / (pull * (1 - decay) + root * b / np.square(w_init) * decay)


def compute_white_loss(sigma: ArrayLike, landscape: Landscape) -> Array:
    """Loss of A = sigma I on white inputs, shape of `sigma`: D lam - 2 D b sigma + D a lam sigma^2."""
    sigma, D = np.asarray(sigma, dtype=np.float64), len(landscape.lam)
    return landscape.trace - 2 * D * landscape.b[0] * sigma + D * landscape.pull[0] * sigma**2
