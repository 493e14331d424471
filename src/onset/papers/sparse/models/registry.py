"""Models by the names that params.yaml has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onset.papers.sparse.models.full import Full, Parts
from onset.papers.sparse.models.minimal import Minimal
from onset.papers.sparse.models.model import Model
from onset.papers.sparse.models.shape import Shape

if TYPE_CHECKING:
    from onset.papers.sparse.chain import Chain
    from onset.params.sparse import FullModel, Training


def build_model(own: Training, full: FullModel, chain: Chain) -> Model:
    """The model of a run on a chain.  Raises OnsetError where its sizes do not go together."""
    shape = Shape(chain.d, chain.inputs, chain.T, own.layers, own.heads, own.context)
    if own.model == "minimal":
        return Minimal(shape, own.init_scale)
    parts = Parts(full.width, full.ffn, own.normalise, own.residual, own.feed_forward, own.merged)
    return Full(shape, parts)
