"""The spectrum of the inputs' covariance, and the second moment of the context covariance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onset.params.linattn import Task


def list_eigenvalues(task: Task) -> np.ndarray:
    """Eigenvalues of Lambda = E[x x^T], decreasing, float64 (D,)."""
    if task.eigenvalues is not None:
        return np.asarray(task.eigenvalues, dtype=np.float64)
    D = task.dimension
    d = np.arange(1, D + 1)
    shape = {"linear": D + 1.0 - d, "inverse": 1.0 / d, "white": np.ones(D)}[str(task.law)]
    return float(task.trace or 0) * shape / shape.sum()


def square_context_covariance(eigenvalues: np.ndarray, N: int) -> np.ndarray:
    """Eigenvalues a_d of E[Lhat^2] = Lambda^2 + (Lambda^2 + tr(Lambda) Lambda)/N: (..., D) -> (..., D).

    Lhat is the covariance of N context inputs.  Source: arXiv 2501.16265; a fourth moment of Gaussians.
    """
    trace = eigenvalues.sum(-1, keepdims=True)
    return eigenvalues**2 + (eigenvalues**2 + trace * eigenvalues) / N


def mean_label_square(eigenvalues: np.ndarray, N: int) -> float:
    """E[((1/N) sum_n y_n^2)^2] = (T^2 + 2 sum_d lam_d^2)(1 + 2/N), T = sum_d lam_d."""
    return float((eigenvalues.sum() ** 2 + 2 * (eigenvalues**2).sum()) * (1 + 2 / N))


def average_context_lengths(N: int, scaling: str) -> tuple[float, float, float]:
    """r1, r2, r3 of next-token training: means over n = 1..N of n s, (n s)^2 and n s^2.

    s is 1/n ("context") or 1/(n+1) ("tokens").  E[beta_n] = n s Lambda w and
    E[(sum of n outer products)^2] s^2 = (n s)^2 Lambda^2 + n s^2 (Lambda^2 + tr(Lambda) Lambda).
    """
    n = np.arange(1, N + 1)
    s = 1.0 / n if scaling == "context" else 1.0 / (n + 1)
    return float((n * s).mean()), float(((n * s) ** 2).mean()), float((n * s**2).mean())
