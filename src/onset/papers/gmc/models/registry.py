"""The transformers by the names that params.yaml gives them.

Other architectures get a mapping of their own beside this one, so that runs of these two do not depend on
them: `onset.papers.gmc.training.train` takes any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import nn

from onset.papers.gmc.models.gpt2 import GPT2
from onset.papers.gmc.models.llama import Llama
from onset.papers.gmc.models.shape import Shape
from onset.papers.gmc.models.transformer import Transformer

Builder = Callable[[Shape], Transformer]

TRANSFORMERS: Mapping[str, Builder] = {"llama": Llama, "gpt2": GPT2}


def count_backbone(model: nn.Module) -> int:
    """Parameters of a model without its maps of inputs and outputs."""
    outside = ("inputs.", "outputs.")
    return sum(p.numel() for name, p in model.named_parameters() if not name.startswith(outside))
