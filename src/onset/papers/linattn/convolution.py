"""Rank-one attention with separate key and query as a linear network on the cubic feature (figure 2).

The feature is z = vec(beta x_q^T), D blocks of length D: block j is beta x_qj.  Head i slides its key over
the blocks (a kernel of length D with stride D), takes the query-weighted sum of the D outputs, and multiplies
by v_i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def form_feature(beta: Array, query: Array) -> Array:
    """Cubic feature z (..., D^2) of beta = (1/N) sum_n y_n x_n and x_q, both (..., D)."""
    return (query[..., :, None] * beta[..., None, :]).reshape(*beta.shape[:-1], -1)


def convolve_heads(z: Array, v: Array, k: Array, q: Array) -> Array:
    """sum_i v_i q_i . (k_i * z), with * a convolution of stride D: (...,).

    z (..., D^2), v (H,), k and q (H, D).

    Source: arXiv 2501.16265, figure 2.
    """
    D = k.shape[-1]
    first = [z[..., start : start + D] @ k.T for start in range(0, D * D, D)]
    second = np.einsum("...hj,hj->...h", np.stack(first, axis=-1), q)
    return second @ v


def attend(x: Array, y: Array, query: Array, v: Array, k: Array, q: Array) -> Array:
    """The same heads as linear attention over tokens: predictions (...,) at the query.

    x (..., N, D), y (..., N), query (..., D).  Input columns are (x_n; y_n) and (x_q; 0); head i has value
    matrix v_i e_y e_y^T and key-query matrix (k_i; 0)(q_i; 0)^T, and the output is entry (y, q) of
    sum_i (1/N) W^V_i X X^T W^KQ_i X.   Source: arXiv 2501.16265, section on the models.
    """
    N, D = x.shape[-2:]
    labels = np.concatenate([y, np.zeros((*y.shape[:-1], 1))], axis=-1)
    tokens = np.concatenate([x, query[..., None, :]], axis=-2)
    X = np.swapaxes(np.concatenate([tokens, labels[..., None]], axis=-1), -1, -2)
    output = np.zeros(y.shape[:-1])
    for value, key, ask in zip(v, k, q, strict=True):
        W_V, W_KQ = np.zeros((D + 1, D + 1)), np.zeros((D + 1, D + 1))
        W_V[D, D] = value
        W_KQ[:D, :D] = np.outer(key, ask)
        output = output + (W_V @ X @ np.swapaxes(X, -1, -2) @ W_KQ @ X / N)[..., D, -1]
    return output


def respond(v: Array, k: Array, q: Array) -> Array:
    """The network's outputs for features that are 1 in one place: A (D, D), beta downwards, query across."""
    D = k.shape[-1]
    units = np.eye(D)
    return np.array([[convolve_heads(form_feature(b, x), v, k, q) for x in units] for b in units])
