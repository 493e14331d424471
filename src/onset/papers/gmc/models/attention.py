"""Causal attention of many heads with positions as the first axis.

With rows (L, B, width) a head's queries and keys are strided views, so that nothing is transposed in memory,
and the query position is the contiguous slice [-1:].
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor


@functools.lru_cache(maxsize=64)
def causal_mask(length: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """0 where a query (row) may see a key (column), itself included, and -inf elsewhere: (length, length)."""
    return torch.full((length, length), -torch.inf, dtype=dtype, device=device).triu_(1)


def attend(query: Tensor, key: Tensor, heads: int) -> Tensor:
    """Attention (B * heads, n, L) of the last n positions to all L.

    query (n, B, width), key (L, B, width); logits are divided by the root of a head's size.
    """
    n, B, width = query.shape
    L = key.shape[0]
    size = width // heads
    q = query.reshape(n, B * heads, size).transpose(0, 1)
    k = key.reshape(L, B * heads, size).permute(1, 2, 0)
    mask = causal_mask(L, query.dtype, query.device)[L - n :]
    return torch.softmax(torch.baddbmm(mask, q, k, alpha=size**-0.5), -1)


def attend_without_keys(query: Tensor, rows: Tensor, key_weight: Tensor, heads: int) -> Tensor:
    """Attention (B * heads, 1, L) of the last position, where keys are `key_weight` applied to rows.

    query (1, B, width), rows (L, B, r), key_weight (width, r).  With q.(W row) = (W^T q).row no key is
    formed: one product a sequence instead of one a position.  A bias of the keys shifts the logits of a
    query by the same number, so it is left out.
    """
    _, B, width = query.shape
    L, _, r = rows.shape
    size = width // heads
    by_head = torch.bmm(query.reshape(B, heads, size).transpose(0, 1), key_weight.view(heads, size, r))
    logits = torch.bmm(by_head.transpose(0, 1), rows.permute(1, 2, 0))
    return torch.softmax(logits * size**-0.5, -1).view(B * heads, 1, L)


def mix_values(attention: Tensor, rows: Tensor, value_weight: Tensor, heads: int) -> Tensor:
    """Each head's attention-weighted sum of its values, heads side by side: (n, B, width).

    attention (B * heads, n, L), rows (L, B, r), value_weight (width, r); values are value_weight applied to
    rows.  The sum and the linear map commute, so the cheaper one comes first: the sum, where there is one
    query or a row is shorter than a head.
    """
    n, L = attention.shape[1:]
    _, B, r = rows.shape
    width = value_weight.shape[0]
    size = width // heads
    if n > 1 and r >= size:
        values = (rows @ value_weight.T).view(L, B * heads, size)
        return torch.bmm(attention, values.transpose(0, 1)).transpose(0, 1).reshape(n, B, width)
    pooled = torch.bmm(attention.reshape(B, heads * n, L), rows.transpose(0, 1))
    by_head = pooled.view(B, heads, n, r).permute(1, 2, 0, 3).reshape(heads, n * B, r)
    mixed = torch.bmm(by_head, value_weight.view(heads, size, r).transpose(1, 2))
    return mixed.view(heads, n, B, size).permute(1, 2, 0, 3).reshape(n, B, width)
