"""Exact posterior over the attention matrix, the read-out W integrated out.

Given A, the posterior of W is that of a Bayesian linear regression with V independent output columns.
Both of its standard forms are here: V x V (dual, fast) and PL x PL (primal, a Gaussian process).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onset.papers.copyhead.theory.model import Model

Array = NDArray[np.float64]


def _attend(tokens: NDArray[np.integer], A: Array, V: int) -> tuple[Array, Array]:
    """Attended inputs A X and targets Y, each (P L, V), from tokens (P, L)."""
    X = np.eye(V)[tokens]
    Y = np.roll(X, 1, axis=1)
    return (A @ X).reshape(-1, V), Y.reshape(-1, V)


def compute_moments(tokens: NDArray[np.integer], A: Array, V: int) -> tuple[Array, Array]:
    """M = sum_mu (A X)ᵀ(A X) and N = sum_mu (A X)ᵀ Y, each V x V: all that the likelihood sees of the data.

    tokens (P, L) are integers in [0, V); A is L x L (query, key).  Raises IndexError on a token outside.
    Source: reconstruction, docs/theory/copyhead.md section 2.
    """
    F, Y = _attend(tokens, A, V)
    return F.T @ F, F.T @ Y


def compute_dual_evidence(M: Array, N: Array, P: int, model: Model) -> float:
    """-log p(D|A) in nats, every constant included, from the V x V moments.

    V/2 ln det(1 + M/ridge) + [P L - Tr Nᵀ(M + ridge)⁻¹N]/(2 sigma2) + (P L V/2) ln(2 pi sigma2).
    Holds for any A.  Source: reconstruction, docs/theory/copyhead.md section 3.
    """
    regularised = M + model.ridge * np.eye(model.V)
    _, log_det = np.linalg.slogdet(regularised / model.ridge)
    residual = P * model.L - np.sum(N * np.linalg.solve(regularised, N))
    constant = P * model.L * model.V / 2 * np.log(2 * np.pi * model.sigma2)
    return float(model.V / 2 * log_det + residual / (2 * model.sigma2) + constant)


def compute_primal_evidence(tokens: NDArray[np.integer], A: Array, model: Model) -> float:
    """-log p(D|A) in nats as a Gaussian process over the P L outputs; agrees with the dual form.

    Costs (P L)³; it is the independent check of `compute_dual_evidence`.
    Source: Gaussian-process regression with kernel (g/V) A X Xᵀ Aᵀ + sigma2.
    """
    F, Y = _attend(tokens, A, model.V)
    kernel = model.g / model.V * F @ F.T + model.sigma2 * np.eye(len(F))
    _, log_det = np.linalg.slogdet(2 * np.pi * kernel)
    return float(model.V / 2 * log_det + np.sum(Y * np.linalg.solve(kernel, Y)) / 2)


def solve_readout(M: Array, N: Array, model: Model) -> tuple[Array, Array]:
    """Posterior of W given A: mean (V, V) and the covariance (V, V) that every column shares.

    Mean (M + ridge)⁻¹N, covariance sigma2 (M + ridge)⁻¹.
    Source: reconstruction, docs/theory/copyhead.md section 3.
    """
    inverse = np.linalg.inv(M + model.ridge * np.eye(model.V))
    return inverse @ N, np.asarray(model.sigma2 * inverse)
