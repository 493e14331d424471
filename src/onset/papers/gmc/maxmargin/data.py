"""Small full-batch problems with exact matches, on which gradient descent meets its max-margin limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.papers.gmc.maxmargin.geometry import Array

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.gmc import MaxMarginTask
    from onset.randomness import Streams


def draw_problem(streams: Streams, task: MaxMarginTask, seed: int) -> tuple[Array, Array]:
    """Contexts (n, T, d_in) of tokens N(0, sigma_token²/d_in I) and matches (n,), uniform over 0..T-2.

    Sample i does not depend on how many are drawn.
    """
    scale = task.sigma_token / np.sqrt(task.d_in)
    tokens = streams.generator("tokens", seed).standard_normal((task.n, task.T, task.d_in))
    return scale * tokens, streams.generator("match", seed).integers(task.T - 1, size=task.n)


def draw_problems(job: Job) -> xr.Dataset:
    """The training set of each seed: the query repeats its match, the target is the token after it.

    With T = 4, one sample whose match is position 1:

        position     0    1    2    3   query   target
        token       e_0  e_1  e_2  e_3   e_1     e_2        rivals of the match: 0 and 2

    Returns `tokens` (seed, sample, position, feature) and `match` (seed, sample).
    Source: setting of arXiv 2602.07562, section 4 (C = I, W_V = I, no noise).
    """
    task: MaxMarginTask = job.sections["task"]
    drawn = [draw_problem(job.streams, task, seed) for seed in job.own.seeds]
    tokens, match = (np.stack(parts) for parts in zip(*drawn, strict=True))
    texts = {"sample": "sample", "position": "position in the context", "feature": "token feature"}
    coords = {
        name: (name, np.arange(size), {"long_name": texts[name], "units": "1"})
        for name, size in zip(texts, tokens.shape[1:], strict=True)
    }
    coords["seed"] = ("seed", np.asarray(job.own.seeds), {"long_name": "seed", "units": "1"})
    return xr.Dataset(
        {
            "tokens": (
                ("seed", "sample", "position", "feature"),
                tokens,
                {"long_name": "token", "units": "token units"},
            ),
            "match": (
                ("seed", "sample"),
                match.astype(np.int64),
                {"long_name": "position that the query repeats", "units": "1"},
            ),
        },
        coords=coords,
    )
