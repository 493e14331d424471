"""Small max-margin jobs, as the pipeline would hand them to a callable, and the plain form of one step."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from onset.job.context import Job
from onset.job.progress import Reporter
from onset.job.state import SavedState
from onset.papers.gmc.maxmargin.data import draw_problems
from onset.papers.gmc.maxmargin.descent import descend
from onset.papers.gmc.maxmargin.theory import solve_problems
from onset.params.gmc import MaxMarginData, MaxMarginDescent, MaxMarginTask, MaxMarginTheory
from onset.randomness import Streams

TASK = {"d_in": 8, "T": 5, "n": 3, "sigma_token": 2.0}
OWN = {"iterations": 2300, "learning_rate": 0.01, "loss": "half", "points": 30, "tail": 0.02}


def draw_data(seeds: Any = (0, 1, 2), **changes: Any) -> xr.Dataset:
    sections = {"task": MaxMarginTask(**{**TASK, **changes})}
    own = MaxMarginData(seeds=seeds)
    return draw_problems(
        Job("gmc", "maxmargin_data", "test", "-", own, sections, streams=Streams(0, "gmc", "maxmargin_data"))
    )


def solve(data: xr.Dataset) -> xr.Dataset:
    own = MaxMarginTheory(tolerance=1e-9)
    return solve_problems(Job("gmc", "maxmargin_theory", "test", "-", own, inputs={"data": data}))


def make_job(
    data: xr.Dataset, theory: xr.Dataset, state: Path | None = None, log: io.StringIO | None = None, **changes
) -> Job:
    """A descent; with a `state` folder it saves after every chunk."""
    return Job(
        "gmc",
        "maxmargin_descent",
        "test",
        "r",
        MaxMarginDescent(**{**OWN, **changes}),
        inputs={"data": data, "theory": theory},
        reporter=Reporter("small", log or io.StringIO(), io.StringIO()),
        saved=SavedState(state, "r", every=0) if state else None,
    )


@cache
def run_small() -> tuple[xr.Dataset, xr.Dataset, xr.Dataset]:
    """Data, theory and descent of three seeds."""
    data = draw_data()
    theory = solve(data)
    return data, theory, descend(make_job(data, theory))


@cache
def run_long() -> dict[str, xr.Dataset]:
    """Inputs of the figures: six seeds at the paper's size, 20,000 iterations, parameters attached."""
    task = {"d_in": 16, "T": 4, "n": 4, "sigma_token": 4.0}
    own = {"iterations": 20000, "learning_rate": 1e-3, "points": 60}
    data = draw_data(seeds=6, **task)
    theory = solve(data)
    descent = descend(make_job(data, theory, **own))
    descent.attrs["onset_params"] = json.dumps({"own": {**OWN, **own}, "task": task})
    return {"descent": descent, "theory": theory}


def copy_inputs() -> dict[str, xr.Dataset]:
    return {role: dataset.copy(deep=True) for role, dataset in run_long().items()}


def step_plain(W: np.ndarray, tokens: np.ndarray, match: np.ndarray, rate: float) -> np.ndarray:
    """One step of gradient descent on sum |r|²/2 for one seed, in W itself (d, d).

    tokens (n, T, d), match (n,).
    """
    update = np.zeros_like(W)
    for e, y in zip(tokens, match, strict=True):
        query, keys, values = e[y], e[:-1], e[1:]
        scores = keys @ W @ query
        attention = np.exp(scores - scores.max())
        attention /= attention.sum()
        residual = attention @ values - e[y + 1]
        slope = attention * ((values - attention @ values) @ residual)
        update += np.outer(slope @ keys, query)
    return W - rate * update
