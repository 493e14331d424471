"""Starting weights, a function of the seed alone: the same draws, scaled, for every size of start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from onset.randomness import Streams

if TYPE_CHECKING:
    from onset.papers.linattn.models import Weights


def draw_start(
    streams: Streams, model: str, D: int, H: int, R: int | None, std: float, seeds: Sequence[int]
) -> Weights:
    """Independent N(0, std^2) entries (B, ...), one member for each seed; side blocks are not among them.

    Merged key-query and the MLP draw the same numbers, so a merged model and the MLP with equal seeds,
    heads and std start alike.  Source: all entries have one deviation, as in the first version of the
    paper's program, whose loss curves the paper's figures show.
    """
    streams = Streams(streams.root, streams.paper, "starts")
    members = [_draw_one(streams, model, D, H, R or 0, seed) for seed in seeds]
    return {name: std * np.stack([member[name] for member in members]) for name in members[0]}


def _draw_one(streams: Streams, model: str, D: int, H: int, R: int, seed: int) -> Weights:
    kind = "separate" if model == "separate" else "merged"
    generator = streams.generator(kind, seed)
    shapes = {"K": (H, R, D), "Q": (H, R, D)} if kind == "separate" else {"U": (H, D, D)}
    return {"v": generator.standard_normal(H)} | {
        name: generator.standard_normal(shape) for name, shape in shapes.items()
    }


def align_start(streams: Streams, D: int, H: int, w_init: float, seeds: Sequence[int]) -> Weights:
    """The balanced start of Eq. 10 along the identity: v = w_init r, U_i = w_init r_i I/sqrt(D), |r| = 1."""
    streams = Streams(streams.root, streams.paper, "starts")
    r = np.stack([streams.generator("aligned", seed).standard_normal(H) for seed in seeds])
    r /= np.linalg.norm(r, axis=1, keepdims=True)
    return {"v": w_init * r, "U": w_init * r[:, :, None, None] * np.eye(D) / np.sqrt(D)}


def add_side_blocks(weights: Weights) -> Weights:
    """The weights with side blocks at zero, as the paper's program starts them."""
    B, H = weights["v"].shape
    D = weights["U" if "U" in weights else "Q"].shape[-1]
    found = {**weights, "v_side": np.zeros((B, H, D))}
    if "U" in weights:
        return found | {"u_side": np.zeros((B, H, D))}
    return found | {"k_side": np.zeros(weights["K"].shape[:-1])}
