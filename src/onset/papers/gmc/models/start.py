"""Starting weights, each a function of the named stream, its own name and the seed alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from onset.papers.gmc.models.transformer import Transformer
from onset.randomness import Streams

RESIDUAL = ("out", "down")
"""The weights of a block whose products are added to the residual stream."""


def draw_start(
    model: Transformer,
    streams: Streams,
    seed: int,
    std: float,
    projections: Literal["default", "normal"] = "default",
) -> None:
    """Fill all parameters of a transformer in place.

    Backbone: matrices N(0, std^2), gains 1, biases and shifts 0, as transformers starts both models; those of
    GPT-2 that add to the residual stream have std / sqrt(2 layers).  The linear maps of inputs and outputs
    start as PyTorch's nn.Linear does, uniform within 1/sqrt(inputs), or with `normal` like the backbone.
    A parameter depends on its name, shape and seed: a deeper model begins with the matrices of a shallower
    one.  Source: arXiv 2602.07562, Table 1; the start of the two maps is our choice.
    """
    depth_scale = (2 * model.shape.layers) ** -0.5 if model.residual_depth_scaling else 1.0
    for name, parameter in model.named_parameters():
        module, _, own = name.rpartition(".")
        generator = streams.generator(f"weights {name}", seed)
        size = tuple(parameter.shape)
        if module in ("inputs", "outputs") and projections == "default":
            inputs = model.shape.d_in if module == "inputs" else model.shape.width
            bound = inputs**-0.5
            values = generator.uniform(-bound, bound, size)
        elif parameter.ndim == 2:
            scale = std * depth_scale if own in RESIDUAL else std
            values = scale * generator.standard_normal(size)
        else:
            values = np.full(size, 1.0 if own.endswith("gain") else 0.0)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(values))
