"""Tables indexed by tokens: reading entries, and adding to them, which is what a product with one-hots does.

A product with a one-hot matrix moves numbers and multiplies none.  Reading is an index on any device.  Adding
is an index on a CPU; on a GPU, where the order of such additions is not fixed, it is the product itself, so
that a run repeats itself bit for bit.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor


@functools.lru_cache(maxsize=64)
def _offsets(P: int, d: int, device: torch.device) -> Tensor:
    return torch.arange(P, device=device) * d


def index_rows(tokens: Tensor, d: int) -> Tensor:
    """Rows p d + tokens[b, p] of a table of P tables of d rows, for tokens (B, P): (B, P)."""
    return tokens + _offsets(tokens.shape[1], d, tokens.device)


def take_rows(table: Tensor, index: Tensor) -> Tensor:
    """table[p, token] as (B, P, C) for a table (P, d, C) and `index_rows` of tokens (B, P)."""
    P, d, C = table.shape
    return table.reshape(P * d, C).index_select(0, index.view(-1)).view(-1, P, C)


def add_rows(table: Tensor, index: Tensor, rows: Tensor) -> None:
    """Add rows[b, p] (B, P, C) to table[p, token] of a contiguous table (P, d, C), in place."""
    P, d, C = table.shape
    if table.is_cuda:
        multiply_rows(table, index, rows)
    else:
        table.view(P * d, C).index_add_(0, index.view(-1), rows.reshape(-1, C))


def multiply_rows(table: Tensor, index: Tensor, rows: Tensor) -> None:
    """`add_rows` as a product with one-hots."""
    d = table.shape[1]
    table.baddbmm_(mark_tokens(index % d, d, table.dtype).permute(1, 2, 0), rows.transpose(0, 1))


def take_entries(rows: Tensor, tokens: Tensor) -> Tensor:
    """rows[b, n, tokens[b, k]] as (B, n, K), for rows (B, n, d) and tokens (B, K)."""
    return rows.gather(-1, tokens[:, None].expand(-1, rows.shape[1], -1))


def add_entries(values: Tensor, tokens: Tensor, d: int) -> Tensor:
    """Sums (B, n, d) of values[b, n, k] (B, n, K) over the k with tokens[b, k] = v, at [b, n, v]."""
    if values.is_cuda:
        return multiply_entries(values, tokens, d)
    B, n, _ = values.shape
    return values.new_zeros(B, n, d).scatter_add_(-1, tokens[:, None].expand(-1, n, -1), values)


def multiply_entries(values: Tensor, tokens: Tensor, d: int) -> Tensor:
    """`add_entries` as a product with one-hots."""
    return torch.bmm(values, mark_tokens(tokens, d, values.dtype))


def mark_tokens(tokens: Tensor, d: int, dtype: torch.dtype) -> Tensor:
    """One-hot tokens (..., d), without the look at their values for which torch's one_hot halts a GPU."""
    return (tokens[..., None] == torch.arange(d, device=tokens.device)).to(dtype)


class TakeRows(torch.autograd.Function):
    """`take_rows` as a differentiable function of the table."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor) -> Tensor:
        ctx.size, ctx.index = table.shape, index
        return take_rows(table, index)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        gradient = upstream.new_zeros(ctx.size)
        add_rows(gradient, ctx.index, upstream)
        return gradient, None
