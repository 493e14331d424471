"""The largest learning rate at which gradient descent is stable at the minimum it reaches."""

from __future__ import annotations

import numpy as np


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
    on_axes = np.linalg.eigvalsh(root[:, None] * aligned * root[None, :]).max()
    off_axes = (kernel * weight)[~np.eye(len(A), dtype=bool)].max(initial=0.0)
    return 2 / float(max(on_axes, off_axes, side))
