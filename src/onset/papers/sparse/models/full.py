"""The full architecture: a standard transformer with learned positions, normalised after each branch.

    h <- norm(h + drop(O attention(Q h, K h, V h))),   h <- norm(h + drop(D relu(U h)))

from h = drop(embedding + position), with dropout on attention weights too; logits are the unembedding of the
last h.  Projections have no bias, the MLP has.  Only the predicting positions of the last block are computed.
Rows are (position, sequence, width), so that a head's queries, keys and values are strided views.
Source: arXiv 2602.19143, section 2.3; sizes, starts, place of norms and dropout: authors' code (facts).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, linear, relu

from onset.errors import OnsetError
from onset.papers.sparse.models.dropout import Dropout, drop
from onset.papers.sparse.models.model import Model, Weight, xavier
from onset.papers.sparse.models.rows import TakeRows, index_rows
from onset.papers.sparse.models.shape import Shape

EPSILON = 1e-5  # of the norms, torch's default
POSITIONS = 50
"""Rows of the authors' table of positions; a sequence uses the first, but the Xavier bound counts all."""


@dataclass(frozen=True)
class Parts:
    """Sizes of the full model, and which of its parts it has (section 2.4 takes them away one by one).

    merged: one width x width matrix a head in place of key and query, logits divided by sqrt(width).
    Raises OnsetError where the heads do not divide the width, or the width is less than the symbols.
    """

    width: int
    ffn: int
    normalise: bool = True
    residual: bool = True
    feed_forward: bool = True
    merged: bool = False

    def check(self, shape: Shape) -> None:
        """Raise where these sizes and those of `shape` do not go together."""
        if self.width % shape.heads:
            raise OnsetError(f"heads = {shape.heads}: should divide width = {self.width}")
        if self.width < shape.d:
            raise OnsetError(
                f"width = {self.width}: should be at least d = {shape.d}, for orthonormal starts"
            )


class Inputs:
    """Rows of the first block, embedding + position, and linear maps of them.

    Without dropout they take d values at each position, so that a map of them is one of L d rows, which are
    then read for each sequence: with more sequences than symbols that is less work.
    """

    def __init__(self, embedding: Tensor, positions: Tensor, tokens: Tensor) -> None:
        self.embedding, self.positions = embedding, positions
        self.index = index_rows(tokens, len(embedding)).T

    def map(self, weight: Tensor | None = None, last: int | None = None) -> Tensor:
        """The last positions' rows (last, B, outputs) times a weight (outputs, width), or as they are."""
        L, B = self.index.shape
        last = L if last is None else last
        embedding, positions = self.embedding, self.positions
        if weight is not None:
            embedding, positions = linear(embedding, weight), linear(positions, weight)
        table = (positions[:, None] + embedding).flatten(0, 1)
        rows = TakeRows.apply(table[None], self.index[L - last :].reshape(-1, 1))
        return rows.view(last, B, -1)


class Full(Model):
    """Parameters: embedding, unembedding (d, width) and positions (L, width); of each block query, key,
    value, out (width, width), or merged (H, width, width) for the first two, up (ffn, width), down
    (width, ffn) with their biases, gain and shift of both norms.  Matrices are (outputs, inputs), as in
    torch.nn.Linear.
    """

    def __init__(self, shape: Shape, parts: Parts) -> None:
        parts.check(shape)
        self.parts = parts
        width = parts.width
        weights = {
            "embedding": Weight((shape.d, width), "orthonormal"),
            "unembedding": Weight((shape.d, width), "orthonormal"),
            "positions": Weight(
                (shape.length, width), "uniform", xavier((max(POSITIONS, shape.length), width)).scale
            ),
        }
        for block in range(shape.layers):
            weights |= {f"blocks.{block}.{name}": weight for name, weight in list_weights(shape, parts)}
        super().__init__(shape, weights)

    def prepare(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The parameters as they are."""
        return dict(parameters)

    def predict(
        self, prepared: Mapping[str, Tensor], tokens: Tensor, dropout: Dropout | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """See `Model.predict`."""
        B, L = tokens.shape
        inputs = Inputs(prepared["embedding"], prepared["positions"], tokens)
        rows = drop(inputs.map(), dropout)
        maps = []
        for block in range(self.shape.layers):
            prefix = f"blocks.{block}."
            own = {name.removeprefix(prefix): p for name, p in prepared.items() if name.startswith(prefix)}
            mask = self.shape.mask(block, rows.dtype, rows.device)
            known = inputs if block == 0 and dropout is None else None
            rows, attention = self.run_block(own, rows, mask, dropout, known)
            maps.append(attention.view(B, self.shape.heads, L, -1).transpose(2, 3))
        return linear(rows, prepared["unembedding"]).transpose(0, 1), maps

    def run_block(
        self,
        own: Mapping[str, Tensor],
        rows: Tensor,
        mask: Tensor,
        dropout: Dropout | None,
        known: Inputs | None,
    ) -> tuple[Tensor, Tensor]:
        """Rows (Q, B, width) after a block, and its attention (B * H, L, Q), from rows (L, B, width).

        `known` says that the rows are inputs without dropout.
        """
        parts, H = self.parts, self.shape.heads
        L, B, width = rows.shape
        Q, size = len(mask), width // H
        queried = rows[L - Q :]

        def project(name: str, last: int = L) -> Tensor:
            """The last rows times a matrix, as (last, B * H, size)."""
            if known is not None:
                return known.map(own[name], last).view(last, B * H, size)
            return linear(rows[L - last :], own[name]).view(last, B * H, size)

        if parts.merged:
            by_head = torch.einsum("qbw,hwv->qbhv", queried, own["merged"])
            scores = torch.einsum("lbv,qbhv->bhlq", rows, by_head).reshape(B * H, L, Q)
            scores = torch.add(mask.T, scores, alpha=width**-0.5)
        else:
            query, key = project("query", Q).permute(1, 2, 0), project("key").transpose(0, 1)
            scores = torch.baddbmm(mask.T, key, query, alpha=size**-0.5)
        attention = torch.softmax(scores, 1)  # keys first: torch's softmax is fast off the last axis
        mixed = torch.bmm(drop(attention, dropout).transpose(1, 2), project("value").transpose(0, 1))
        branch = linear(mixed.transpose(0, 1).reshape(Q, B, width), own["out"])
        rows = self.join(queried, branch, own, "attention", dropout)
        if parts.feed_forward:
            hidden = relu(linear(rows, own["up"], own["up_bias"]))
            rows = self.join(rows, linear(hidden, own["down"], own["down_bias"]), own, "ffn", dropout)
        return rows, attention

    def join(
        self, rows: Tensor, branch: Tensor, own: Mapping[str, Tensor], name: str, dropout: Dropout | None
    ) -> Tensor:
        """Rows after a branch: added, where there is a residual, and normalised, where there is a norm."""
        branch = drop(branch, dropout)
        joined = rows + branch if self.parts.residual else branch
        if not self.parts.normalise:
            return joined
        return layer_norm(joined, joined.shape[-1:], own[f"{name}_gain"], own[f"{name}_shift"], EPSILON)


def list_weights(shape: Shape, parts: Parts) -> list[tuple[str, Weight]]:
    """The parameters of a block by name; see `Full`."""
    width, ffn = parts.width, parts.ffn
    square = xavier((width, width))
    found = {"value": square, "out": square}
    if parts.merged:
        found["merged"] = xavier((shape.heads, width, width))
    else:
        found |= {"query": square, "key": square}
    norms = ["attention"]
    if parts.feed_forward:
        found |= {"up": xavier((ffn, width)), "down": xavier((width, ffn))}
        found |= {"up_bias": Weight((ffn,), "constant", 0.0), "down_bias": Weight((width,), "constant", 0.0)}
        norms.append("ffn")
    if parts.normalise:
        found |= {f"{name}_gain": Weight((width,), "constant", 1.0) for name in norms}
        found |= {f"{name}_shift": Weight((width,), "constant", 0.0) for name in norms}
    return list(found.items())
