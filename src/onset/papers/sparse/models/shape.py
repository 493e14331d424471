"""Sizes of a model, and which of its positions may look where."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from torch import Tensor

from onset.errors import OnsetError


@dataclass(frozen=True)
class Shape:
    """What all models have in common.

    d        symbols
    length   input positions L = w + T - 1
    queries  predicting positions T, the last ones
    layers   blocks
    heads    heads H of a block
    context  attention reaches lags 1..context alone (lag 1 is the query itself); None for all

    Raises OnsetError where a size is below 1 or there are more queries than positions.
    """

    d: int
    length: int
    queries: int
    layers: int
    heads: int
    context: int | None = None

    def __post_init__(self) -> None:
        for name in ("d", "length", "queries", "layers", "heads", "context"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise OnsetError(f"{name} = {value}: should be at least 1")
        if self.queries > self.length:
            raise OnsetError(f"queries = {self.queries}: should be at most length = {self.length}")

    @property
    def first(self) -> int:
        """Input position of the first predicting query, w - 1."""
        return self.length - self.queries

    @property
    def inputs(self) -> int:
        """Entries D = d + L of a one-hot token beside a one-hot position."""
        return self.d + self.length

    def list_queries(self, layer: int) -> range:
        """Positions that a block computes: all, but the predicting ones alone in the last."""
        return range(self.first if layer == self.layers - 1 else 0, self.length)

    def mask(self, layer: int, dtype: torch.dtype, device: torch.device | str = "cpu") -> Tensor:
        """0 where a query of a block may see a key, -inf elsewhere: (queries of the block, L), read-only.

        A query at position q sees keys q - context + 1 .. q.  Each block is banded alike, so that with two
        blocks information travels up to 2 context - 1 lags.
        """
        return build_mask(self.list_queries(layer), self.length, self.context, dtype, device)


@functools.lru_cache(maxsize=64)
def build_mask(
    queries: range, length: int, context: int | None, dtype: torch.dtype, device: torch.device | str
) -> Tensor:
    """The mask of some query positions; see `Shape.mask`."""
    position = torch.tensor(queries, device=device)[:, None]
    keys = torch.arange(length, device=device)
    seen = keys <= position
    if context is not None:
        seen &= keys > position - context
    return torch.zeros(seen.shape, dtype=dtype, device=device).masked_fill_(~seen, -torch.inf)
