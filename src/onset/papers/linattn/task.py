"""In-context linear regression: sequences as a function of named random streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.papers.linattn.spectrum import list_eigenvalues
from onset.randomness import Streams

if TYPE_CHECKING:
    from onset.params.linattn import Task

PIECE = 500  # sequences drawn from one stream; part of what the sequences are


def open_streams(streams: Streams) -> Streams:
    """The streams of all sequences of the paper: every experiment with the same root draws the same sets."""
    return Streams(streams.root, streams.paper, "sequences")


def draw_sequences(
    streams: Streams, task: Task, seed: int, first: int, last: int, purpose: str = "training"
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs x (P, N+1, D) and task vectors w (P, D) of the sequences first..last-1 of set `seed`, float64.

    w ~ N(0, I), x ~ N(0, Lambda) with Lambda diagonal; labels are y_n = w . x_n, and the last input is the
    query.  A sequence depends on its number, not on how many are drawn.
    Source: the task of arXiv 2501.16265.
    """
    D, length = task.dimension, task.N + 1
    scale = np.sqrt(list_eigenvalues(task))
    xs, ws = [], []
    for piece in range(first // PIECE, -(-last // PIECE)):
        generator = streams.generator(purpose, seed, piece)
        kept = slice(max(first - piece * PIECE, 0), min(last - piece * PIECE, PIECE))
        ws.append(generator.standard_normal((PIECE, D))[kept])
        xs.append(generator.standard_normal((PIECE, length, D))[kept] * scale)
    return np.concatenate(xs), np.concatenate(ws)


def label(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Labels y_n = w . x_n of inputs (P, length, D) and task vectors (P, D): (P, length)."""
    return np.matmul(x, w[..., None])[..., 0]
