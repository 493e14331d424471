"""The n-th stage: c = h - n + 1 heads of an ensemble at s_1*, heads 2..n-1 at their own s_j*, one head free.

Only the free head's attention moves.  Values are rows V_1..V_n: the ensemble's, those of the settled heads,
the free head's; row j < n sees position j alone.
Source: arXiv 2602.19143, section 3.3 and appendix B.3 and B.4; docs/theory/sparse.md.
"""

from __future__ import annotations

import numpy as np

from onset.papers.sparse.flows.features import Array, Features, compute_loss, compute_residual, project


def count_heads(n: int, features: Features) -> Array:
    """How many heads each row of V stands for (n,): h - n + 1 for the ensemble, else 1.

    Raises ValueError unless 2 <= n <= h.
    """
    if not 2 <= n <= features.h:
        raise ValueError(f"the stage of pattern n = {n} does not exist with {features.h} heads")
    return np.array([features.h - n + 1.0, *[1.0] * (n - 1)])


def pin_attention(s: Array, n: int) -> Array:
    """Attention of the rows (..., n, T): row j < n at position j, the last one s (..., T)."""
    rows = np.zeros((*s.shape[:-1], n, s.shape[-1]))
    rows[..., np.arange(n - 1), np.arange(n - 1)] = 1.0
    rows[..., -1, :] = s
    return rows


def compute_stage_residual(V: Array, s: Array, features: Features) -> Array:
    """G - P (..., h, T), P = c V_1 (x) s_1* + sum_j V_j (x) s_j* + V_n (x) s; V (..., n, h), s (..., T)."""
    n = V.shape[-2]
    return compute_residual(V * count_heads(n, features)[:, None], pin_attention(s, n), features)


def flow_cooperative(V: Array, s: Array, features: Features) -> dict[str, Array]:
    """Rates of V (..., n, h), rows as above, and of the free head's s (..., T)."""
    residual = compute_stage_residual(V, s, features)
    rates = pin_attention(s, V.shape[-2]) @ np.swapaxes(residual, -1, -2)
    pull = (V[..., -1:, :] @ residual)[..., 0, :]
    return {"V": rates, "s": project(s, project(s, pull))}


def compute_stage_potential(V: Array, s: Array, features: Features) -> Array:
    """phi = ||G||^2/2 - L (...), non-decreasing; at n = 2 that of the paper's appendix B.1.

    The ensemble's row moves at 1/c of its gradient, which leaves the sign of every term.
    """
    return features.square - compute_loss(compute_stage_residual(V, s, features))


def compute_stage_limit(n: int, features: Features) -> float:
    """(m_1^2 + .. + m_n^2) / 2, the potential once n patterns are delivered."""
    return 0.5 * float(np.sum(features.strengths[:n] ** 2))


def slave_values(V_free: Array, s: Array, n: int, features: Features) -> Array:
    """Rows V (..., n, h) with ensemble and settled heads at rest under the free head's V_free (..., h), s.

    V_1* = (m_1 V_1* - <s_1*, s> V_free) / c,  V_j* = m_j V_j* - <s_j*, s> V_free.
    Source: arXiv 2602.19143, section 3.3, for n = 2; at n > 2 divided by c = h - n + 1.
    """
    rows = -s[..., : n - 1, None] * V_free[..., None, :]
    at = np.arange(n - 1)
    rows[..., at, at] += features.strengths[at]
    rows = rows / count_heads(n, features)[:-1, None]
    return np.concatenate([rows, V_free[..., None, :]], axis=-2)


def start_stage(n: int, epsilon: float, features: Features) -> tuple[Array, Array]:
    """The theory's start (V (n, h), s (T,)): the free head leaves the ensemble by epsilon, others are slaved.

    V_n = m_1/(c+1) V_1* + epsilon V_n*, s = (1 - epsilon) s_1* + epsilon s_n*: before it leaves, the free
    head is one of c + 1 that share pattern 1 (h of them at n = 2).
    Source: arXiv 2602.19143, appendix B.3.1, for n = 2; the same for n > 2.
    """
    V, s = np.zeros(features.h), np.zeros(features.T)
    V[0] = features.strengths[0] / (count_heads(n, features)[0] + 1)
    V[n - 1] += epsilon
    s[0], s[n - 1] = 1 - epsilon, epsilon
    return slave_values(V, s, n, features), s
