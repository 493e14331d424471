"""Linear and softmax attention on the sequences themselves, in PyTorch: plain references, for autograd.

A step of linear attention costs P N (D+1)^2 and more, where the moment form costs the square of the number of
features.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


def make_tokens(x: Tensor, y: Tensor) -> Tensor:
    """Tokens (P, N+1, D+1): inputs (P, N+1, D) with context labels y[:, :N]; the query's label is 0."""
    labels = torch.cat([y[:, :-1], torch.zeros_like(y[:, :1])], 1)
    return torch.cat([x, labels[..., None]], -1)


def merge_heads(weights: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Last rows of the value matrices (B, H, D+1) and key-query matrices (B, H, D+1, D)."""
    v = weights["v"]
    D = weights["U" if "U" in weights else "Q"].shape[-1]
    v_side = weights.get("v_side", v.new_zeros(*v.shape, D))
    if "U" in weights:
        u_side = weights.get("u_side", v.new_zeros(*v.shape, D))
        merged = torch.cat([weights["U"], u_side[:, :, None]], 2)
    else:
        K = weights["K"]
        k_side = weights.get("k_side", K.new_zeros(K.shape[:-1]))
        merged = torch.cat([K, k_side[..., None]], -1).transpose(-1, -2) @ weights["Q"]
    return torch.cat([v_side, v[..., None]], -1), merged


def predict(weights: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
    """Entry (D+1, N+1) of sum_i (1/N) W^V_i X X^T W^KQ_i X for every member and sequence: (B, P).

    Source: arXiv 2501.16265, the definition of linear attention; the query attends to itself too.
    """
    value, key_query = merge_heads(weights)
    N = tokens.shape[1] - 1
    scores = torch.einsum("pna,bhad,pd->bhpn", tokens, key_query, tokens[:, -1, :-1])
    values = torch.einsum("pna,bha->bhpn", tokens, value)
    return (values * scores).sum((1, 3)) / N


def predict_softmax(weights: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
    """sum_i sum_n softmax_n(q_i . t_n) (vt_i . t_n), q_i = Ut_i x_q, for every member and sequence: (B, P).

    Tokens are (P, N+1, D+1), or (B, P, N+1, D+1) where members have sequences of their own.
    Source: the softmax variant of arXiv 2501.16265, see `onset.papers.linattn.softmax`.
    """
    value, key_query = merge_heads(weights)
    tokens = tokens.expand(len(value), -1, -1, -1)
    scores = torch.einsum("bpna,bhad,bpd->bhpn", tokens, key_query, tokens[:, :, -1, :-1])
    values = torch.einsum("bpna,bha->bhpn", tokens, value)
    return (values * torch.softmax(scores, -1)).sum((1, 3))


def predict_mlp(weights: Mapping[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
    """The MLP w2^T W1 z on the cubic feature z = vec(beta x_q^T), beta = (1/N) sum y_n x_n: (B, P)."""
    beta = (x[:, :-1] * y[:, :-1, None]).sum(1) / (x.shape[1] - 1)
    z = (beta[:, :, None] * x[:, -1, None, :]).flatten(1)
    return torch.einsum("bh,bhf,pf->bp", weights["v"], weights["U"].flatten(2), z)


def raw_loss(weights: Mapping[str, Tensor], tokens: Tensor, target: Tensor) -> Tensor:
    """Mean squared error at the query over P sequences, each member (B,)."""
    return (predict(weights, tokens) - target).square().mean(1)
