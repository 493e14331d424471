"""The copy task: every position is to output the token of the position before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.errors import OnsetError

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import Sequences, Task
    from onset.randomness import Streams

PIECE = 64  # sequences drawn from one stream; part of what the tokens are


def draw_tokens(streams: Streams, samples: int, L: int, V: int) -> np.ndarray:
    """Tokens (samples, L), int8, independent and uniform over 0..V-1.

    Sequences are drawn in pieces of fixed size, each from a stream of its own, so that a sequence
    does not depend on how many are drawn.  Raises OnsetError where V does not fit int8.
    """
    if V > 127:
        raise OnsetError(f"tokens are stored as int8: expected task.V of at most 127, found {V}")
    pieces = [
        streams.generator("tokens", piece).integers(V, size=(PIECE, L), dtype=np.int8)
        for piece in range(-(-samples // PIECE))
    ]
    return np.concatenate(pieces)[:samples]


def draw_sequences(job: Job) -> xr.Dataset:
    """The training sequences; a run at P sequences uses the first P.

    The inputs are the tokens as one-hot rows; the target at position a is the token at a-1, and the
    first position copies the last one (cyclic), so that every query has exactly one correct key.
    With L = 5 and V = 8, one sequence:

        position   0  1  2  3  4
        input      3  7  0  0  5
        target     5  3  7  0  0

    Returns `tokens` (sample, position), int8.  Source: the task of arXiv 2606.12058; the cyclic
    first position is our reconstruction (docs/theory).
    """
    own: Sequences = job.own
    task: Task = job.sections["task"]
    tokens = draw_tokens(job.streams, own.samples, task.L, task.V)
    return xr.Dataset(
        {"tokens": (("sample", "position"), tokens, {"long_name": "token", "units": "1"})},
        coords={
            "sample": ("sample", np.arange(own.samples), {"long_name": "sequence", "units": "1"}),
            "position": ("position", np.arange(task.L), {"long_name": "position", "units": "1"}),
        },
    )
