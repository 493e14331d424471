"""The n-th stage with everything but the free head eliminated: V' and s' see what positions n.. have left.

    V' = G_(n-1) s_(n-1) - |s_(n-1)|^2 V,     s' = Pi(s)^2 (V^T G_(n-1) - |V|^2 s_(n-1)),

the subscript meaning that the first n-1 positions are set to 0.   It follows from the cooperative flow with
the other heads at rest (`slave_values`).   Source: arXiv 2602.19143, section 3.3 and appendix B.4.
"""

from __future__ import annotations

import numpy as np

from onset.papers.sparse.flows.coupled import weigh
from onset.papers.sparse.flows.features import Array, Features, project


def remove_positions(s: Array, n: int) -> Array:
    """s (..., T) with its first n - 1 positions set to 0."""
    kept = s.copy()
    kept[..., : n - 1] = 0.0
    return kept


def flow_reduced(V: Array, s: Array, n: int, features: Features) -> dict[str, Array]:
    """Rates of the free head's V (..., h) and s (..., T)."""
    left = remove_positions(s, n)
    forward, backward = weigh(V, left, features)
    V_square, left_square = (np.sum(x**2, axis=-1, keepdims=True) for x in (V, left))
    pull = remove_positions(backward, n) - V_square * left
    return {"V": forward - left_square * V, "s": project(s, project(s, pull))}


def compute_reduced_potential(V: Array, s: Array, n: int, features: Features) -> Array:
    """phi = <V, G_(n-1) s_(n-1)> - |V|^2 |s_(n-1)|^2 / 2 (...), non-decreasing along the reduced flow.

    Its limit is m_n^2 / 2 from a start that escapes, for which phi > 0 suffices; with the other heads at rest
    the loss is ||G||^2/2 - (m_1^2 + .. + m_(n-1)^2)/2 - phi.
    """
    left = remove_positions(s, n)
    forward, _ = weigh(V, left, features)
    squares = np.sum(V**2, axis=-1) * np.sum(left**2, axis=-1)
    return np.sum(V * forward, axis=-1) - 0.5 * squares


def compute_reduced_limit(n: int, features: Features) -> float:
    """m_n^2 / 2."""
    return 0.5 * float(features.strengths[n - 1] ** 2)
