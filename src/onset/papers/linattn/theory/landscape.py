"""Population loss of linear attention on in-context linear regression, for one map A.

Task: w ~ N(0, I), x_n ~ N(0, Lambda), y_n = w.x_n without noise, N pairs and a query x_q.  The model's
prediction is beta^T A x_q with beta = (1/N) sum_n y_n x_n = Lhat w, Lhat = (1/N) sum_n x_n x_n^T.
All matrices are written in the eigenbasis of Lambda, directions in the order of the eigenvalues given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onset.papers.linattn.spectrum import average_context_lengths, square_context_covariance

Array = NDArray[np.float64]
Scaling = Literal["context", "tokens"]
"""What the sum over a context of n pairs is divided by: "context" is n, "tokens" n + 1 (query included)."""


@dataclass(frozen=True)
class Landscape:
    """The population loss L(A) = T - 2 sum_d b_d A_dd + sum_ij a_i lam_j A_ij^2.

    lam (D,)  eigenvalues of Lambda, positive
    a (D,)    eigenvalues of E[beta beta^T]; for the query loss, of E[Lhat^2]
    b (D,)    eigenvalues of E[beta w^T] Lambda; for the query loss lam^2
    """

    lam: Array
    a: Array
    b: Array

    @property
    def trace(self) -> float:
        """T = tr Lambda, the loss of a model that predicts 0."""
        return float(self.lam.sum())

    @property
    def pull(self) -> Array:
        """a_d lam_d (D,), the curvature along A_dd."""
        return self.a * self.lam

    @cached_property
    def curvature(self) -> Array:
        """a_i lam_j (D, D), the curvature along A_ij."""
        return np.outer(self.a, self.lam)

    @cached_property
    def drive(self) -> Array:
        """diag(b) (D, D), the force at A = 0."""
        return np.diag(self.b)


def check_eigenvalues(eigenvalues: ArrayLike) -> Array:
    """Eigenvalues as a vector (D,).  Raises ValueError unless all are positive and finite."""
    lam = np.asarray(eigenvalues, dtype=np.float64)
    if lam.ndim != 1 or lam.size == 0 or not np.all(np.isfinite(lam) & (lam > 0)):
        raise ValueError(f"eigenvalues should be a non-empty vector of positive numbers, are {lam.tolist()}")
    return lam


def compute_excess_factors(eigenvalues: ArrayLike, context: int) -> Array:
    """c_d = 1 + (1 + T/lam_d)/N (D,): by how much E[Lhat^2] exceeds Lambda^2 along direction d.

    1 at an infinite context N = `context`.   Source: arXiv 2501.16265, Eq. 19 (where 1/c_d appears).
    """
    lam = check_eigenvalues(eigenvalues)
    return 1 + (1 + lam.sum() / lam) / context


def compute_second_moments(eigenvalues: ArrayLike, context: int) -> Array:
    """Eigenvalues a_d = lam_d^2 c_d of E[Lhat^2] = Lambda^2 + (Lambda^2 + T Lambda)/N, (D,).

    From fourth moments of a Gaussian: the N(N-1) pairs of different tokens give Lambda^2, the N equal
    ones 2 Lambda^2 + T Lambda.   Source: arXiv 2501.16265 (E[Lhat^2] of its fixed points).
    """
    return square_context_covariance(check_eigenvalues(eigenvalues), context)


def describe_query_loss(eigenvalues: ArrayLike, context: int) -> Landscape:
    """Landscape of the loss on the query alone, with N = `context` pairs, the query excluded.

    Raises ValueError on eigenvalues that are not positive or a context below 1.
    """
    if context < 1:
        raise ValueError(f"a context has at least 1 pair, not {context}")
    lam = check_eigenvalues(eigenvalues)
    return Landscape(lam, compute_second_moments(lam, context), lam**2)


def describe_next_token_loss(eigenvalues: ArrayLike, longest: int, scaling: Scaling) -> Landscape:
    """Landscape of the loss averaged over context lengths 1..`longest`, every length with the same A.

    r1 scales E[beta w^T], r2 Lambda^2 and r3 Lambda^2 + T Lambda in E[beta beta^T], see
    `onset.papers.linattn.spectrum.average_context_lengths`.
    Source: arXiv 2501.16265, Eq. 23, with 1/n ("context"); the authors' program divides by n + 1 ("tokens").
    Raises ValueError as `describe_query_loss` does.
    """
    if longest < 1:
        raise ValueError(f"the longest context has at least 1 pair, not {longest}")
    lam = check_eigenvalues(eigenvalues)
    r1, r2, r3 = average_context_lengths(longest, scaling)
    return Landscape(lam, r2 * lam**2 + r3 * (lam**2 + lam.sum() * lam), r1 * lam**2)


def compute_feature_moments(eigenvalues: ArrayLike, context: int) -> tuple[Array, Array]:
    """E[y_q z] (D^2,) and E[z z^T] (D^2, D^2) of the cubic feature z = vec(beta x_q^T).

    E[y_q z] = vec(Lambda^2) and E[z z^T] = E[Lhat^2] (x) Lambda, with z_(iD+j) = beta_i x_qj (row-major
    vec).   Source: arXiv 2501.16265 (linear attention as a two-layer linear network on z).
    """
    lam = check_eigenvalues(eigenvalues)
    a = compute_second_moments(lam, context)
    return np.diag(lam**2).ravel(), np.asarray(np.kron(np.diag(a), np.diag(lam)), dtype=np.float64)


def compute_loss(A: Array, landscape: Landscape) -> Array:
    """L(A) of maps A (..., D, D) in the eigenbasis: shape (...,), in squared target units.

    T - 2 tr(A^T E[beta w^T] Lambda) + tr(A^T E[beta beta^T] A Lambda).
    """
    linear = np.einsum("...dd,d->...", A, landscape.b)
    square = np.einsum("...ij,i,j->...", np.square(A), landscape.a, landscape.lam)
    return landscape.trace - 2 * linear + square


def compute_force(A: Array, landscape: Landscape) -> Array:
    """-1/2 dL/dA = diag(b) - E[beta beta^T] A Lambda (..., D, D), what the flow pulls A along."""
    return landscape.drive - landscape.curvature * A


def rotate_to_eigenbasis(A: Array, basis: Array) -> Array:
    """V^T A V of maps A (..., D, D), with the eigenvectors of Lambda in the columns of `basis` (D, D)."""
    return basis.T @ A @ basis


def rank_directions(eigenvalues: Sequence[float] | Array) -> NDArray[np.int64]:
    """Directions in the order in which they are learned: by decreasing eigenvalue, ties as given."""
    return np.argsort(-check_eigenvalues(eigenvalues), kind="stable")
