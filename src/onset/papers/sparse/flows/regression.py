"""The full flow of all heads: V_k' = (G - P) s_k, s_k' = Pi(s_k)^2 V_k^T (G - P).

It is gradient flow of L = ||G - P||^2 / 2 in V_k and the logits q_k of s_k = softmax(q_k): q_k moves by
Pi(s_k) V_k^T (G - P), and s_k by Pi(s_k) times that, whence the square.
Source: arXiv 2602.19143, section 3.1; docs/theory/sparse.md.
"""

from __future__ import annotations

import numpy as np

from onset.papers.sparse.flows.features import Array, Features, compute_residual, project


def flow_regression(V: Array, s: Array, features: Features) -> dict[str, Array]:
    """Rates of V (..., heads, h) and s (..., heads, T); rows of s sum to 1 and keep doing so."""
    residual = compute_residual(V, s, features)
    return {"V": s @ np.swapaxes(residual, -1, -2), "s": project(s, project(s, V @ residual))}


def compute_descent(V: Array, s: Array, features: Features) -> Array:
    """-dL/dt (...) along the flow: the squared norm of the gradient in V and q, 0 at a saddle."""
    residual = compute_residual(V, s, features)
    values, logits = s @ np.swapaxes(residual, -1, -2), project(s, V @ residual)
    return np.sum(values**2, axis=(-1, -2)) + np.sum(logits**2, axis=(-1, -2))
