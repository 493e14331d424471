"""The minimal architecture: blocks of disentangled heads, nothing else.

    h_q <- sum over heads of sum_j softmax_j(h_q A_h h_j / sqrt(D)) V_h h_j,    h_j one-hot token and position

without normalisation, residual, MLP, output projection or dropout.  Logits are the first d entries of the
last block's output, so that V of the last block has d rows; inner ones have D = d + L.
Source: arXiv 2602.19143, section 2.4; sizes, 1/sqrt(D) and two blocks: authors' code (facts).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from onset.papers.sparse.models.dropout import Dropout
from onset.papers.sparse.models.model import Model, Weight, xavier
from onset.papers.sparse.models.onehot import Attend, Tables, build_tables, view_maps
from onset.papers.sparse.models.shape import Shape


class Minimal(Model):
    """Parameters: `blocks.<i>.A` (H, D, D) and `blocks.<i>.V` (H, D, D), in the last block (H, d, D).

    `scale` u starts A uniformly on [-u, u] and V at 0; None starts both Xavier-uniformly, with the bound of a
    D x D matrix for V too.  With u = 0 heads start equal, and are computed so that they stay equal exactly.
    """

    def __init__(self, shape: Shape, scale: float | None = None) -> None:
        H, D = shape.heads, shape.inputs
        self.separate = scale == 0 and shape.layers == 1
        weights: dict[str, Weight] = {}
        for block in range(shape.layers):
            outputs = shape.d if block == shape.layers - 1 else D
            bound = xavier((D, D)).scale
            A = Weight((H, D, D), "uniform", bound if scale is None else scale)
            V = Weight((H, outputs, D), "uniform", bound if scale is None else 0.0)
            weights |= {f"blocks.{block}.A": A, f"blocks.{block}.V": V}
        super().__init__(shape, weights)

    def prepare(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Tables of the first block, and the other blocks' parameters as they are."""
        A, V = parameters["blocks.0.A"], parameters["blocks.0.V"]
        tables = build_tables(A, V, self.shape.mask(0, A.dtype, A.device), self.separate)
        others = {name: p for name, p in parameters.items() if not name.startswith("blocks.0.")}
        return {**tables._asdict(), **others}

    def predict(
        self, prepared: Mapping[str, Tensor], tokens: Tensor, dropout: Dropout | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """See `Model.predict`; there is no dropout."""
        shape = self.shape
        tables = Tables(*(prepared[name] for name in Tables._fields))
        rows, attention = Attend.apply(*tables, tokens, shape.heads, self.separate)
        maps = [view_maps(attention, shape.heads, shape.length)]
        for block in range(1, shape.layers):
            mask = shape.mask(block, rows.dtype, rows.device)
            A, V = prepared[f"blocks.{block}.A"], prepared[f"blocks.{block}.V"]
            rows, attention = attend_densely(rows, A, V, mask)
            maps.append(attention)
        return rows, maps


def attend_densely(rows: Tensor, A: Tensor, V: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Output (B, Q, O) and attention (B, H, Q, L) of a block on rows (B, L, D), for its last Q positions.

    A (H, D, D), V (H, O, D), mask (Q, L).  Keys come before queries in memory: torch's softmax is fast along
    an axis that is not the last.
    """
    B, L, D = rows.shape
    Q, H = len(mask), len(A)
    queries = rows[:, L - Q :].reshape(B * Q, D) @ A.transpose(0, 1).reshape(D, H * D)
    by_head = queries.view(B, Q * H, D).transpose(1, 2)
    added = mask.T[..., None].expand(L, Q, H).reshape(L, Q * H)
    attention = torch.softmax(torch.baddbmm(added, rows, by_head, alpha=D**-0.5), 1)
    pooled = torch.bmm(attention.transpose(1, 2), rows).view(B * Q, H * D)
    output = pooled @ V.transpose(1, 2).reshape(H * D, -1)
    return output.view(B, Q, -1), attention.view(B, L, Q, H).permute(0, 3, 2, 1)
