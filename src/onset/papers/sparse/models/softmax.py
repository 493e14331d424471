"""Softmax over short rows, and its derivative: the same numbers as torch.softmax, on faster roads.

torch's kernels take a scalar road for rows shorter than a vector register holds (`SHORT` numbers), and a slow
exponential in float64; both cost several times the arithmetic.
"""

from __future__ import annotations

import torch
from torch import Tensor

SHORT = 16
"""Rows should have at least this many entries; shorter ones are best padded with -inf."""


def softmax(scores: Tensor) -> Tensor:
    """Softmax over the last axis."""
    if scores.dtype == torch.float32:
        return torch.softmax(scores, -1)
    shifted = (scores - scores.amax(-1, keepdim=True)).exp_()
    return shifted.div_(shifted.sum(-1, keepdim=True))


def softmax_backward(gradient: Tensor, attention: Tensor) -> Tensor:
    """Derivative by the scores, from that by the attention, which has the shape of both."""
    if attention.dtype == torch.float32:
        return torch.ops.aten._softmax_backward_data(gradient, attention, -1, attention.dtype)
    weighted = attention * gradient
    return weighted.sub_(attention * weighted.sum(-1, keepdim=True))
