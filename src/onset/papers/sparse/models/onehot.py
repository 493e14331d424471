"""A block of disentangled heads on one-hot inputs, by tables, with its derivative.

Inputs are x_j = (one-hot of token_j, one-hot of position j), so that with A (H, D, D) and V (H, O, D)

    x_q A_h x_j = A_h[tok_q, tok_j] + A_h[tok_q, d+j] + A_h[d+q, tok_j] + A_h[d+q, d+j]
    V_h x_j     = V_h[:, tok_j] + V_h[:, d+j]

and no product with an input is formed: rows of three tables are read for each sequence, and derivatives are
added to them.  Heads share matrix products; where they are to stay equal to the last bit, `separate` gives
each a product of its own, of the same shape as the others', at some cost.
Source: the minimal architecture of arXiv 2602.19143, section 2.4; 1/sqrt(D): authors' code (facts); the
tables are ours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from onset.papers.sparse.models.rows import add_entries, add_rows, index_rows, take_entries, take_rows
from onset.papers.sparse.models.softmax import SHORT, softmax, softmax_backward


class Tables(NamedTuple):
    """What a block looks up, for Q queries, H heads and K keys (L, padded to at least `SHORT`).

    content   (Q, d, H * d): scores of a query's token and position with a key's token
    place     (Q, d, H * K): the same with a key's position, the mask included; -inf at padding
    value     (H * K, d, O): what a key's token and position add to the output
    """

    content: Tensor
    place: Tensor
    value: Tensor


class Pass(NamedTuple):
    """What a forward pass leaves for the backward one.

    query_rows (B, Q), value_rows (B, H * K): rows of the tables that it read; keys (B, K): their tokens;
    attention (B, Q, H * K); values (B, H * K, O)
    """

    query_rows: Tensor
    value_rows: Tensor
    keys: Tensor
    attention: Tensor
    values: Tensor


def build_tables(A: Tensor, V: Tensor, mask: Tensor, separate: bool = False) -> Tables:
    """Tables of a block for A (H, D, D), V (H, O, D) and mask (Q, L), whose queries are the last Q positions.

    Differentiable in A and V.
    """
    if separate:
        heads = [build_tables(A[h : h + 1], V[h : h + 1], mask) for h in range(len(A))]
        joined = zip(zip(*heads, strict=True), (-1, -1, 0), strict=True)
        return Tables(*(torch.cat(parts, axis) for parts, axis in joined))
    H, O, D = V.shape
    Q, L = mask.shape
    d = D - L
    K = max(L, SHORT)
    by_query = A.transpose(0, 1) * D**-0.5
    token, position = by_query[:d], by_query[D - Q :, None]
    content = token[..., :d] + position[..., :d]
    place = token[..., d:] + position[..., d:] + mask[:, None, None]
    place = torch.nn.functional.pad(place, (0, K - L), value=-torch.inf)
    by_key = torch.nn.functional.pad(V.transpose(1, 2), (0, 0, 0, K - L))
    value = by_key[:, None, :d] + by_key[:, d:, None]
    return Tables(content.reshape(Q, d, H * d), place.reshape(Q, d, H * K), value.reshape(H * K, d, O))


def attend(tables: Tables, tokens: Tensor, heads: int, separate: bool = False) -> tuple[Tensor, Pass]:
    """Sum of the heads' outputs (B, Q, O) for input tokens (B, L)."""
    Q, d, _ = tables.content.shape
    K = tables.place.shape[-1] // heads
    B, L = tokens.shape
    keys = torch.nn.functional.pad(tokens, (0, K - L))
    query_rows = index_rows(tokens[:, L - Q :], d)
    value_rows = index_rows(keys.repeat(1, heads), d)
    scores = take_rows(tables.place, query_rows).view(B, Q * heads, K)
    scores += take_entries(take_rows(tables.content, query_rows).view(B, Q * heads, d), keys)
    attention = softmax(scores).view(B, Q, heads * K)
    values = take_rows(tables.value, value_rows)
    if separate:
        output = torch.bmm(split_heads(attention, heads), values.view(B * heads, K, -1))
        output = output.view(B, heads, Q, -1).sum(1)
    else:
        output = torch.bmm(attention, values)
    return output, Pass(query_rows, value_rows, keys, attention, values)


def add_derivatives(
    gradient: Tables, found: Pass, upstream: Tensor, heads: int, separate: bool = False
) -> None:
    """Add derivatives by the tables to the contiguous `gradient`, from that by the output (B, Q, O)."""
    query_rows, value_rows, keys, attention, values = found
    B, Q, HK = attention.shape
    K, d = HK // heads, gradient.value.shape[1]
    if separate:
        repeated = upstream[:, None].expand(B, heads, *upstream.shape[1:]).flatten(0, 1)
        by_value = torch.bmm(split_heads(attention, heads).transpose(1, 2), repeated).view_as(values)
        by_attention = torch.bmm(repeated, values.view(B * heads, K, -1).transpose(1, 2))
        by_attention = by_attention.view(B, heads, Q, K).transpose(1, 2).reshape(B, Q * heads, K)
    else:
        by_value = torch.bmm(attention.transpose(1, 2), upstream)
        by_attention = torch.bmm(upstream, values.transpose(1, 2)).view(B, Q * heads, K)
    add_rows(gradient.value, value_rows, by_value)
    by_score = softmax_backward(by_attention, attention.view(B, Q * heads, K))
    add_rows(gradient.place, query_rows, by_score.view(B, Q, HK))
    add_rows(gradient.content, query_rows, add_entries(by_score, keys, d).view(B, Q, heads * d))


def split_heads(attention: Tensor, heads: int) -> Tensor:
    """Attention (B, Q, H * K) as (B * H, Q, K)."""
    B, Q, HK = attention.shape
    return attention.view(B, Q, heads, HK // heads).transpose(1, 2).reshape(B * heads, Q, -1)


def view_maps(attention: Tensor, heads: int, length: int) -> Tensor:
    """Attention (B, Q, H * K) as (B, H, Q, L), without the padding."""
    B, Q, HK = attention.shape
    return attention.view(B, Q, heads, HK // heads)[..., :length].transpose(1, 2)


class Attend(torch.autograd.Function):
    """`attend` as a differentiable function of the tables: output and attention, the latter a constant."""

    @staticmethod
    def forward(
        ctx: Any,
        content: Tensor,
        place: Tensor,
        value: Tensor,
        tokens: Tensor,
        heads: int,
        separate: bool = False,
    ) -> tuple[Tensor, Tensor]:
        tables = Tables(content, place, value)
        output, found = attend(tables, tokens, heads, separate)
        ctx.heads, ctx.separate, ctx.tables, ctx.found = heads, separate, tables, found
        ctx.mark_non_differentiable(found.attention)
        return output, found.attention

    @staticmethod
    def backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        gradient = Tables(*(torch.zeros_like(table) for table in ctx.tables))
        add_derivatives(gradient, ctx.found, upstream, ctx.heads, ctx.separate)
        return *gradient, None, None, None
