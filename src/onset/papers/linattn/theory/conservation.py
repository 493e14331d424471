"""What gradient flow conserves, whatever the data: differences of Gram matrices of neighbouring layers.

Under gradient descent these drift in proportion to the learning rate.
Source: arXiv 2501.16265 (conservation laws of its appendix); the matrix forms are ours,
docs/theory/linattn.md section 11.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onset.papers.linattn.theory.landscape import Array


class SeparateInvariants(NamedTuple):
    """key_query (..., H, R, R) = K_i K_i^T - Q_i Q_i^T;  key_value (..., H) = sum_r |k_ir|^2 - |v_i|^2."""

    key_query: Array
    key_value: Array


def measure_separate_invariants(v: Array, K: Array, Q: Array) -> SeparateInvariants:
    """Invariants of ATTN_S, from values v (..., H), keys K and queries Q (..., H, R, D).

    With free side blocks, pass keys with their label entry (last axis D + 1) and the whole last row of each
    value matrix as v (..., H, D + 1).
    """
    key_query = K @ np.swapaxes(K, -1, -2) - Q @ np.swapaxes(Q, -1, -2)
    values = np.square(v) if np.ndim(v) == np.ndim(K) - 2 else np.sum(np.square(v), axis=-1)
    return SeparateInvariants(key_query, np.sum(np.square(K), axis=(-2, -1)) - values)


def measure_merged_invariant(v: Array, U: Array) -> Array:
    """v v^T - W W^T (..., H, H) of ATTN_M and of the MLP, row i of W being vec U_i.

    v (..., H), U (..., H, D, D).  Its diagonal is v_i^2 - |U_i|_F^2.
    """
    W = U.reshape(*U.shape[:-2], -1)
    return v[..., :, None] * v[..., None, :] - W @ np.swapaxes(W, -1, -2)
