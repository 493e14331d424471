"""The competitive phase: all h heads equal, V' = G s - h |s|^2 V, s' = Pi(s)^2 (V^T G - h |V|^2 s).

Source: arXiv 2602.19143, section 3.2 and appendix B.2; docs/theory/sparse.md.
"""

from __future__ import annotations

import numpy as np

from onset.papers.sparse.flows.features import Array, Features, project


def weigh(V: Array, s: Array, features: Features) -> tuple[Array, Array]:
    """G s (..., h) and V^T G (..., T), of V (..., h) and s (..., T)."""
    pulled = np.zeros(s.shape)
    pulled[..., : features.h] = features.strengths * V
    return features.strengths * s[..., : features.h], pulled


def flow_coupled(V: Array, s: Array, features: Features) -> dict[str, Array]:
    """Rates of the common V (..., h) and s (..., T)."""
    forward, backward = weigh(V, s, features)
    V_square, s_square = (np.sum(x**2, axis=-1, keepdims=True) for x in (V, s))
    pull = backward - features.h * V_square * s
    return {"V": forward - features.h * s_square * V, "s": project(s, project(s, pull))}


def compute_coupled_potential(V: Array, s: Array, features: Features) -> Array:
    """phi = <V, G s> - h/2 |V|^2 |s|^2 (...), non-decreasing along the flow; L = ||G||^2/2 - h phi.

    Source: arXiv 2602.19143, appendix B.2.
    """
    forward, _ = weigh(V, s, features)
    squares = np.sum(V**2, axis=-1) * np.sum(s**2, axis=-1)
    return np.sum(V * forward, axis=-1) - 0.5 * features.h * squares


def compute_coupled_limit(features: Features) -> float:
    """m_1^2 / (2h), the potential at the limit V = (m_1/h) V_1*, s = s_1*."""
    return float(features.strengths[0] ** 2 / (2 * features.h))


def measure_margin(V: Array, s: Array, features: Features) -> Array:
    """Least of <V, V_1* - V_k*> and <s, s_1* - s_k*> over k (...); not negative inside the invariant region.

    Source: arXiv 2602.19143, appendix B.2, region R.
    """
    return np.min([np.min(x[..., :1] - x[..., 1 : features.h], axis=-1) for x in (V, s)], axis=0)


def bound_value(features: Features) -> float:
    """m_1 (sqrt(T) + sqrt(h)) / (2h), a norm that V never exceeds from V = 0.

    |V| falls where it is above |G s| / (h |s|^2), of which this bounds the maximum over the simplex.  The
    paper puts m_1 / h in its place (appendix B.1), which is the value at s = s_1* alone.
    Source: our derivation, docs/theory/sparse.md.
    """
    h = features.h
    return float(features.strengths[0] * (np.sqrt(features.T) + np.sqrt(h)) / (2 * h))


def predict_late_loss(times: Array, features: Features) -> Array:
    """h (T-1) / (4 T t), by which L exceeds its plateau late in the coupled flow, whatever the strengths.

    Beside s_1* the shares s_t of the T-1 other positions fall as t^(-1/2) and every one of them costs alike.
    Holds for: starts without structure beyond the features, with relative corrections of order t^(-1/2).
    Source: our derivation, docs/theory/sparse.md.
    """
    return features.h * (features.T - 1) / (4 * features.T * np.asarray(times))
