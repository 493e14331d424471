"""What both transformers have in common: their maps of inputs and outputs, and how they are read."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from onset.papers.gmc.models.shape import Shape


def blank(*size: int) -> nn.Parameter:
    """An uninitialised parameter."""
    return nn.Parameter(torch.empty(size))


class Transformer(nn.Module):
    """Blocks between a linear map of inputs (d_in -> width) and one of outputs (width -> d_out).

    Parameters are uninitialised until `onset.papers.gmc.models.start` fills them.
    `residual_depth_scaling` says whether weights that add to the stream start smaller in deep models.
    """

    residual_depth_scaling: ClassVar[bool] = False

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.inputs = nn.Linear(shape.d_in, shape.width)
        self.outputs = nn.Linear(shape.width, shape.d_out)

    def forward(self, x: Tensor) -> Tensor:
        """Predictions (B, d_out) at the last position of sequences x (B, L, d_in)."""
        return self.run(x, whole_map=False)[0]

    def observe(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Predictions (B, d_out) and attention (B, layer, head, query, key) for sequences x (B, L, d_in)."""
        prediction, maps = self.run(x, whole_map=True)
        B, L, _ = x.shape
        return prediction, torch.stack([each.view(B, -1, L, L) for each in maps], 1)

    def attention(self, x: Tensor) -> Tensor:
        """Attention (B, layer, head, query, key) for sequences x (B, L, d_in)."""
        return self.observe(x)[1]

    def run(self, x: Tensor, whole_map: bool) -> tuple[Tensor, list[Tensor]]:
        """Predictions (B, d_out), and of each layer the attention (B * heads, m, L) of the last m positions.

        m is L in all layers with `whole_map`, else in all but the last, where it is 1.
        """
        raise NotImplementedError
