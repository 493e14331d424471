"""Softmax attention at the query alone, with the gradient written out; members come first.

    yhat = sum_i sum_n softmax_n(q_i . t_n) (vt_i . t_n),  q_i = Ut_i x_q

over all N+1 tokens t_n, the query included (its label is 0).  No 1/sqrt(d) and no 1/N.  Weights are those
of `onset.papers.linattn.models` with side blocks.  Sequences are the last axis: the heads and entries of a
token are few, so that every operation runs along contiguous sequences.
Source: the softmax variant of arXiv 2501.16265; scaling and summation as in the authors' program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from onset.papers.linattn.models import Weights

Part = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Of p sequences: tokens (B, N+1, D+1, p), products (B, N+1, (D+1) D, p) with the query, targets (B, p).

The products of token t are t_e x_qd at entry (e, d); scores are linear in them, so one matrix product.
"""


def split_sequences(tokens: np.ndarray, target: np.ndarray, size: int) -> list[Part]:
    """Tokens (B, P, N+1, D+1) and targets (B, P) in parts of `size` sequences that fit the cache."""
    B, P, length, n = tokens.shape
    found = []
    for first in range(0, P, size):
        part = np.ascontiguousarray(tokens[:, first : first + size].transpose(0, 2, 3, 1))
        products = part[:, :, :, None] * part[:, -1:, None, :-1]
        goal = target[:, first : first + size].copy()
        found.append((part, products.reshape(B, length, n * (n - 1), -1), goal))
    return found


def softmax_gradient(weights: Mapping[str, np.ndarray], parts: Sequence[Part]) -> tuple[np.ndarray, Weights]:
    """Mean squared error (B,) over all parts, and its gradient in the names and shapes of the weights."""
    value = np.concatenate([weights["v_side"], weights["v"][..., None]], -1)
    B, H, n = value.shape
    D = n - 1
    if "U" in weights:
        key_query = np.concatenate([weights["U"], weights["u_side"][:, :, None]], 2)
    else:
        keys = np.concatenate([weights["K"], weights["k_side"][..., None]], -1)
        key_query = np.matmul(keys.swapaxes(-1, -2), weights["Q"])
    key_query = key_query.reshape(B, H, n * D)
    P = sum(target.shape[1] for _, _, target in parts)
    loss, dvalue, dkq = np.zeros(B, value.dtype), np.zeros_like(value), np.zeros_like(key_query)
    for tokens, products, target in parts:
        attention = np.matmul(key_query[:, None], products)  # (B, N+1, H, p)
        attention -= attention.max(1, keepdims=True)
        np.exp(attention, out=attention)
        scale = 1 / attention.sum(1)
        values = np.matmul(value[:, None], tokens)
        output = np.einsum("blhp,blhp->bhp", attention, values)
        output *= scale
        residual = output.sum(1) - target
        loss += np.einsum("bp,bp->b", residual, residual) / P
        residual *= 2 / P
        scale *= residual[:, None]
        attention *= scale[:, None]  # normalised, times the derivative with respect to the output
        dvalue += np.matmul(attention, tokens.swapaxes(-1, -2)).sum(1)
        values -= output[:, None]
        values *= attention  # the derivative with respect to the scores
        dkq += np.matmul(values, products.swapaxes(-1, -2)).sum(1)
    dkq = dkq.reshape(B, H, n, D)
    found = {"v": dvalue[..., D], "v_side": dvalue[..., :D]}
    if "U" in weights:
        return loss, found | {"U": dkq[:, :, :D], "u_side": dkq[:, :, D]}
    dkeys = np.matmul(weights["Q"], dkq.swapaxes(-1, -2))
    return loss, found | {"K": dkeys[..., :D], "k_side": dkeys[..., D], "Q": np.matmul(keys, dkq)}
