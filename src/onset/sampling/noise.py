"""Gaussian noise of many chains, the same however the chains are batched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

import torch
from torch import Tensor

from onset.randomness import Streams

CHUNK = 50
"""Steps whose noise one generator draws; long enough that making generators costs little."""


class Noise:
    """Standard normal numbers for each step of each member of an ensemble.

    A member draws from the stream ("noise", *its labels, chunk), where a chunk is CHUNK steps: what it
    draws depends neither on the members beside it nor on where a run was resumed.  Numbers are drawn in
    float32 on the host, so that every device and precision sees the same ones.
    """

    def __init__(
        self,
        streams: Streams,
        labels: Mapping[str, Sequence[int]],
        shapes: Mapping[str, tuple[int, ...]],
        dtype: torch.dtype = torch.float32,
        device: str = "cpu",
    ) -> None:
        self.streams = streams
        self.axes = tuple(len(values) for values in labels.values())
        self.keys = list(product(*labels.values()))
        self.shapes = dict(shapes)
        self.sizes = [prod(shape) for shape in self.shapes.values()]
        self.host = torch.empty(len(self.keys), CHUNK, sum(self.sizes), pin_memory=device == "cuda")
        self.drawn = self.host.to(device=device, dtype=dtype)

    def draw(self, chunk: int, scale: float) -> None:
        """Draw the noise of steps chunk*CHUNK .. (chunk+1)*CHUNK - 1, with standard deviation `scale`."""
        for rows, key in zip(self.host.numpy(), self.keys, strict=True):
            self.streams.generator("noise", *key, chunk).standard_normal(dtype="float32", out=rows)
        self.drawn.copy_(self.host).mul_(scale)

    def of(self, step: int) -> dict[str, Tensor]:
        """The noise of a step of the drawn chunk, each parameter's with the axes of the ensemble first."""
        parts = self.drawn[:, step % CHUNK].split(self.sizes, -1)
        return {
            name: part.view(*self.axes, *shape)
            for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }
