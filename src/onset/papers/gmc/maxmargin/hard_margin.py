"""The hard-margin problem, min ½|w|² subject to a_k.w >= 1 for all k, with its multipliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from onset.papers.gmc.maxmargin.geometry import Array

INSEPARABLE = 1e-12
"""Squared margin, relative to the longest a_k, below which no separator is said to exist."""


@dataclass(frozen=True)
class HardMargin:
    """w (D,), multipliers alpha >= 0 (K,) with w = sum alpha_k a_k, and margins a_k.w >= 1 (K,)."""

    weights: Array
    multipliers: Array
    margins: Array


def solve_hard_margin(vectors: Array) -> HardMargin | None:
    """Solve for constraint vectors a_k, the rows of `vectors` (K, D); None where no w separates.

    Least-distance form (Lawson and Hanson, Solving Least Squares Problems, chapter 23): with E = [A^T; 1^T]
    and f = (0, ..., 0, 1), the non-negative u that minimises |E u - f| has 1 - sum u = 1/(1 + |w|²) and
    alpha = u/(1 - sum u).  The vectors enter through the triangle of a QR decomposition.  The entries of u
    that are exactly zero are off the support; on it the multipliers are then solved for again, which makes
    the support's margins 1 to rounding.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    scale = float(np.linalg.norm(vectors, axis=1).max())
    if scale == 0.0:
        return None
    scaled = vectors / scale
    triangle = np.linalg.qr(scaled.T, mode="r")
    stacked = np.vstack([triangle, np.ones(len(vectors))])
    found, _ = nnls(stacked, np.eye(len(stacked))[-1], maxiter=100 * len(vectors))
    slack = 1.0 - found.sum()
    if slack <= INSEPARABLE:
        return None
    multipliers = _polish(scaled, found / slack)
    weights = scaled.T @ multipliers
    return HardMargin(weights / scale, multipliers / scale**2, scaled @ weights)


def _polish(vectors: Array, multipliers: Array) -> Array:
    """The multipliers whose support has margins of exactly 1, where they are all positive and unique."""
    active = np.flatnonzero(multipliers)
    gram = vectors[active] @ vectors[active].T
    if np.linalg.matrix_rank(gram, hermitian=True) < len(active):
        return multipliers
    exact = np.linalg.solve(gram, np.ones(len(active)))
    if exact.min() <= 0.0:
        return multipliers
    polished = np.zeros_like(multipliers)
    polished[active] = exact
    return polished


def measure_hull_distance(vectors: Array) -> float:
    """Distance of the origin to the convex hull of the rows of `vectors` (K, D); 0 where it lies inside.

    The nearest point of the hull is w/|w|² for the w that solves the hard-margin problem.
    """
    found = solve_hard_margin(vectors)
    return 0.0 if found is None else 1.0 / float(np.linalg.norm(found.weights))
