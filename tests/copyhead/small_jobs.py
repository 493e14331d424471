"""Small jobs of the copy head, as the pipeline would hand them to a callable."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import torch
import xarray as xr

from onset.job.context import Job
from onset.job.progress import Reporter
from onset.job.state import SavedState
from onset.papers.copyhead.task import draw_sequences
from onset.params.copyhead import Prior, Sampling, Sequences, Task, Training
from onset.randomness import Streams

PRIOR = Prior(g_OV=0.03, v=1.0, sigma2=0.5)

SAMPLING = {
    "attention": "softmax",
    "start": "prior",
    "P": [5, 12],
    "chains": 3,
    "block": 3,
    "steps": 230,  # not a whole number of chunks, nor of records
    "step_size": 0.04,
    "burn_in": 0.5,
    "record_every": 11,
    "snapshots": 3,
}
TRAINING = {
    "attention": "softmax",
    "P": [5, 12],
    "seeds": 3,
    "block": 3,
    "epochs": 130,
    "learning_rate": 0.03,
    "record_every": 40,
}


def sequences(samples: int, task: Task) -> xr.Dataset:
    streams = Streams(0, "copyhead", "sequences")
    own = Sequences(samples=samples)
    return draw_sequences(Job("copyhead", "sequences", "test", "-", own, {"task": task}, streams=streams))


def make_job(
    own: Sampling | Training, members: tuple[int, ...], L: int = 6, V: int = 4, state: Path | None = None
) -> Job:
    """A job on freshly drawn sequences; with a `state` folder it saves after every chunk."""
    task = Task(L=L, V=V)
    return Job(
        paper="copyhead",
        name="small",
        scale="test",
        recipe="r",
        own=own,
        sections={"task": task, "prior": PRIOR},
        inputs={"sequences": sequences(max(own.P), task)},
        members=members,
        streams=Streams(0, "copyhead", "small"),
        reporter=Reporter("small", io.StringIO(), io.StringIO()) if state else None,
        saved=SavedState(state, "r", every=0) if state else None,
    )


def raw_squared_error(tokens: np.ndarray, A: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    """Plain reference: sum |A X W - Y|^2 of one head over sequences, on the data themselves."""
    X = torch.nn.functional.one_hot(torch.from_numpy(tokens.astype(np.int64)), W.shape[0]).to(A)
    Y = X[:, np.arange(X.shape[1]) - 1]  # position a has the token at a-1; position 0 the last one
    return (A @ X @ W - Y).square().sum()
