"""Dropout whose noise is a function of a named stream, the same on every device."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

LEVELS = 2**16


class Dropout:
    """Draws masks one after the other from a generator; so their order is part of what they are.

    rate  probability of dropping an entry, to 1/65536
    """

    def __init__(self, rate: float, generator: np.random.Generator) -> None:
        self.rate, self.generator = rate, generator

    def apply(self, x: Tensor) -> Tensor:
        """x with entries dropped independently, and the others divided by 1 - rate."""
        words = self.generator.bit_generator.random_raw(-(-x.numel() // 4))
        kept = words.view(np.uint16)[: x.numel()] >= round(self.rate * LEVELS)
        mask = torch.from_numpy(kept).to(x.device).to(x.dtype).view(x.shape)
        return x * mask.mul_(1 / (1 - self.rate))


def drop(x: Tensor, dropout: Dropout | None) -> Tensor:
    """x after dropout, where there is any."""
    return x if dropout is None else dropout.apply(x)
