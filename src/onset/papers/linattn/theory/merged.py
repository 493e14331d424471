"""Merged key-query attention (ATTN_M): how fast its one drop comes and along which directions it goes."""

from __future__ import annotations

import numpy as np

from onset.papers.linattn.theory.landscape import Array, Landscape


def compute_growth_rate(landscape: Landscape) -> float:
    """Rate at which v and U grow from a small start, per unit of t/tau: |diag(b)|_F, |Lambda^2|_F on a query.

    Source: ours, docs/theory/linattn.md section 4 (on white inputs the exponent of arXiv 2501.16265, Eq. 10).
    """
    return float(np.linalg.norm(landscape.b))


def compute_delay(factor: float, landscape: Landscape) -> float:
    """By how much the drop comes later, in t/tau, when the start is divided by `factor`: ln(factor)/rate.

    Holds for: small starts.   Source: ours, docs/theory/linattn.md section 4.
    """
    return float(np.log(factor) / compute_growth_rate(landscape))


def compute_early_direction(landscape: Landscape) -> Array:
    """Unit matrix (D, D) that A and every U_i are parallel to before the drop: Lambda^2/|Lambda^2|_F.

    Source: ours, docs/theory/linattn.md section 4; compared with figure 9 of arXiv 2501.16265.
    """
    return np.diag(landscape.b / np.linalg.norm(landscape.b))


def compute_late_direction(landscape: Landscape) -> Array:
    """Unit matrix (D, D) that A is parallel to after the drop: that of the optimal map."""
    best = landscape.b / landscape.pull
    return np.diag(best / np.linalg.norm(best))


def compare_direction(A: Array, direction: Array) -> Array:
    """|cosine| (...,) between maps A (..., D, D) and a unit matrix (D, D); NaN where A is 0."""
    with np.errstate(invalid="ignore"):
        return np.abs(np.einsum("...ij,ij->...", A, direction)) / np.linalg.norm(A, axis=(-2, -1))
