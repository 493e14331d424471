"""The largest learning rate at which gradient descent is stable at the minimum it reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.papers.linattn.spectrum import (
    average_context_lengths,
    list_eigenvalues,
    mean_label_square,
    square_context_covariance,
)

if TYPE_CHECKING:
    from onset.params.linattn import NextToken, Task, Training


def bound_learning_rate(
    model: str,
    eigenvalues: np.ndarray,
    second: np.ndarray,
    r1: float = 1.0,
    rank: int = 1,
    label_square: float = 0.0,
) -> float:
    """2 / (largest eigenvalue of the population loss's Hessian) at the balanced minimum.

    Merged key-query and MLP: |v|^2 = sum_i |U_i|^2 = |A|_F, with the tangent kernel |A| (I + a a^T), where
    a = vec A/|A|.  Separate: heads carry successive groups of `rank` directions, k_d = q_d on the axes, with
    v^2 = (sum over the group of A_dd)^(2/3) and |k_d|^2 = A_dd/v; where the leading direction decides, rank
    one gives 1/(3 lam^2 v*), v* = (lam/a)^(1/3).  Several heads that share a direction are more stable, so
    a rate slightly above the bound may still converge.
    Side blocks: the key weight of the label sees E[((1/N) sum y_n^2)^2] = `label_square` (0: not free), and
    its curvature 2 label_square lam_d |value|^2 |query|^2 is often the largest.
    NaN where eigenvalues are so large or small that their powers are not finite.
    Shapes: eigenvalues and `second` (D,), decreasing; A = diag(r1 lam/second).
    Source: linearised gradient descent at the fixed points of arXiv 2501.16265; our derivation.
    """
    A = r1 * eigenvalues / second
    weight = 2 * np.outer(second, eigenvalues)
    if model == "separate":
        group = np.arange(len(A)) // rank
        v_squared = np.bincount(group, A)[group] ** (2 / 3)
        s = A / np.sqrt(v_squared)
        kernel = (v_squared * s)[:, None] + (v_squared * s)[None, :]
        aligned = np.diag(2 * v_squared * s) + np.outer(s, s) * (group[:, None] == group[None, :])
        side = 2 * label_square * float((eigenvalues * v_squared * s).max())
    else:
        norm = float(np.linalg.norm(A))
        kernel = np.full_like(weight, norm)
        aligned = norm * (np.eye(len(A)) + np.outer(A, A) / norm**2)
        side = 2 * label_square * eigenvalues.max() * norm
    root = np.sqrt(np.diag(weight))
    Hessian = root[:, None] * aligned * root[None, :]
    if not np.isfinite(Hessian).all():
        return np.nan
    on_axes = np.linalg.eigvalsh(Hessian).max()
    off_axes = (kernel * weight)[~np.eye(len(A), dtype=bool)].max(initial=0.0)
    return 2 / float(max(on_axes, off_axes, side))


def describe_moments(
    own: Training, task: Task, next_token: NextToken | None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Eigenvalues of the inputs' covariance (D,), of the second moment of the context's (D,), and r1.

    They make the population loss that a run descends, see `onset.papers.linattn.losses.PopulationLoss`;
    `next_token` may be None where the run has the loss at the query.
    """
    eigenvalues = list_eigenvalues(task)
    if own.loss == "query":
        return eigenvalues, square_context_covariance(eigenvalues, task.N), 1.0
    assert next_token is not None
    r1, r2, r3 = average_context_lengths(task.N, next_token.scaling)
    return eigenvalues, r2 * eigenvalues**2 + r3 * (eigenvalues**2 + eigenvalues.sum() * eigenvalues), r1


def bound_run(own: Training, task: Task, next_token: NextToken | None) -> float:
    """The bound of stability of one run of a training section."""
    eigenvalues, second, r1 = describe_moments(own, task, next_token)
    label_square = mean_label_square(eigenvalues, task.N) if own.free_side_blocks else 0.0
    return bound_learning_rate(own.model, eigenvalues, second, r1, own.rank or 1, label_square)
