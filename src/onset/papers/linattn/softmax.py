"""Softmax attention in PyTorch, at the query alone, with the gradient written out; members come first.

    yhat = sum_i sum_n softmax_n(q_i . t_n) (vt_i . t_n),  q_i = Ut_i x_q

over all N+1 tokens t_n, the query included (its label is 0).  No 1/sqrt(d) and no 1/N.  Weights are those
of `onset.papers.linattn.models` with side blocks.  Sequences are the last axis: the heads and entries of a
token are few, so that every operation runs along contiguous sequences (3 times as fast as with them first).
Source: the softmax variant of arXiv 2501.16265; scaling and summation as in the authors' program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from onset.papers.linattn.raw import merge_heads

Part = tuple[Tensor, Tensor]
"""Tokens (B, N+1, D+1, p) and targets (B, p) of some of the sequences."""


def split_sequences(tokens: Tensor, target: Tensor, size: int) -> list[Part]:
    """Tokens (B, P, N+1, D+1) and targets (B, P) in parts of `size` sequences that fit the cache."""
    last = tokens.permute(0, 2, 3, 1)
    return [
        (part.contiguous(), goal.contiguous())
        for part, goal in zip(last.split(size, -1), target.split(size, -1), strict=True)
    ]


def attend(value: Tensor, key_query: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Attention and attention times value, both (B, N+1, H, p), for tokens (B, N+1, D+1, p)."""
    B, H, n, D = key_query.shape
    query = (key_query.reshape(B, H * n, D) @ tokens[:, -1, :D]).view(B, 1, H, n, -1)
    scores = tokens[:, :, 0, None] * query[:, :, :, 0]
    for entry in range(1, n):
        scores.addcmul_(tokens[:, :, entry, None], query[:, :, :, entry])
    attention = torch.softmax(scores, 1)
    return attention, torch.matmul(value[:, None], tokens) * attention


def predict_softmax(weights: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
    """Prediction at the query (B, p) for tokens (B, N+1, D+1, p)."""
    return attend(*merge_heads(weights), tokens)[1].sum((1, 2))


def softmax_gradient(
    weights: Mapping[str, Tensor], parts: Sequence[Part]
) -> tuple[Tensor, dict[str, Tensor]]:
    """Mean squared error (B,) over all parts, and its gradient in the names and shapes of the weights."""
    value, key_query = merge_heads(weights)
    B, H, n = value.shape
    D = n - 1
    P = sum(target.shape[1] for _, target in parts)
    loss, dvalue = value.new_zeros(B), torch.zeros_like(value)
    dkq = value.new_zeros(B, H * n, D)
    for tokens, target in parts:
        attention, weighted = attend(value, key_query, tokens)
        output = weighted.sum(1)  # (B, H, p)
        residual = output.sum(1) - target
        loss += residual.square().sum(1) / P
        residual *= 2 / P
        attention *= residual[:, None, None]
        dvalue += torch.matmul(attention, tokens.transpose(-1, -2)).sum(1)
        weighted *= residual[:, None, None]
        dscores = weighted.addcmul_(attention, output[:, None], value=-1)
        dquery = torch.stack([(dscores * tokens[:, :, entry, None]).sum(1) for entry in range(n)], 2)
        dkq += dquery.view(B, H * n, -1) @ tokens[:, -1, :D].transpose(1, 2)
    dkq = dkq.view(B, H, n, D)
    found = {"v": dvalue[..., D], "v_side": dvalue[..., :D]}
    if "U" in weights:
        return loss, found | {"U": dkq[:, :, :D], "u_side": dkq[:, :, D]}
    keys = torch.cat([weights["K"], weights["k_side"][..., None]], -1)
    dkeys = weights["Q"] @ dkq.transpose(-1, -2)
    return loss, found | {"K": dkeys[..., :D], "k_side": dkeys[..., D], "Q": keys @ dkq}
