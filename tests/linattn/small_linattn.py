"""Small jobs of linear attention, as the pipeline would hand them to a callable."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr

from onset.job.context import Job
from onset.job.progress import Reporter
from onset.job.state import SavedState
from onset.papers.linattn.features import Moments, cubic_features, full_features
from onset.papers.linattn.losses import SetLoss
from onset.papers.linattn.raw import make_tokens
from onset.papers.linattn.sets import draw_sets
from onset.papers.linattn.starts import add_side_blocks, draw_start
from onset.papers.linattn.task import draw_sequences, label, open_streams
from onset.params.linattn import NextToken, Sets, Task, Training
from onset.randomness import Streams

STREAMS = Streams(0, "linattn", "small")
TASK = Task(N=6, eigenvalues=[0.5, 0.3, 0.2])
NEXT = NextToken(scaling="tokens")
BASE = {
    "task": "base_task",
    "model": "separate",
    "rank": 2,
    "heads": 3,
    "init_std": 0.3,
    "learning_rate": 0.05,
    "samples": 40,
    "free_side_blocks": False,
    "start": "random",
    "loss": "query",
    "epochs": 230,
    "record_every": 40,
    "snapshot_every": 80,
    "seeds": [0, 3],
    "runs": {
        "separate": {},
        "full": {"free_side_blocks": True},
        "merged": {"model": "merged", "heads": 4, "samples": 0},
    },
}


def small_sets(samples: tuple[int, ...] = (40,), seeds: Any = (0, 3)) -> xr.Dataset:
    own = Sets(samples=samples, seeds=seeds, side_blocks=True, next_token=True)
    return draw_sets(
        Job("linattn", "base_sets", "test", "-", own, {"task": TASK, "next_token": NEXT}, streams=STREAMS)
    )


def training(**changes: Any) -> Training:
    return Training.model_validate({**BASE, **changes})


def make_job(own: Training, sets: xr.Dataset | None = None, state: Path | None = None) -> Job:
    """A job on freshly drawn sets; with a `state` folder it saves after every chunk."""
    log = io.StringIO()
    return Job(
        "linattn",
        "small",
        "test",
        "r",
        own,
        {"base_task": TASK, "next_token": NEXT},
        {"base_sets": small_sets() if sets is None else sets},
        streams=STREAMS,
        reporter=Reporter("small", log, io.StringIO()),
        saved=SavedState(state, "r", every=0) if state else None,
    )


def raw_set(
    samples: int, seed: int = 0, task: Task = TASK
) -> tuple[np.ndarray, np.ndarray, torch.Tensor, torch.Tensor]:
    """Inputs, labels, tokens and targets of a set, float64."""
    x, w = draw_sequences(open_streams(STREAMS), task, seed, 0, samples)
    y = label(x, w)
    return x, y, make_tokens(torch.from_numpy(x), torch.from_numpy(y)), torch.from_numpy(y[:, -1].copy())


def set_loss(x: np.ndarray, y: np.ndarray, full: bool, members: int) -> SetLoss:
    """The moment form of a set, the same for every member."""
    phi = (full_features if full else cubic_features)(x, y)
    moments = Moments.empty(phi.shape[1])
    moments.add(phi, y[:, -1])
    S, b, c = moments.mean()
    return SetLoss(np.stack([S] * members), np.stack([b] * members), np.full(members, c))


def random_weights(
    model: str, full: bool, D: int = 3, H: int = 4, R: int = 2, seeds: tuple[int, ...] = (0, 1)
) -> dict[str, np.ndarray]:
    """Weights of order one, side blocks included where `full`."""
    weights = draw_start(STREAMS, model, D, H, R, 0.5, seeds)
    if full:
        weights = add_side_blocks(weights)
        draw = np.random.default_rng(0)
        for name in weights:
            if name.endswith("side"):
                weights[name] = draw.normal(size=weights[name].shape)
    return weights


def as_leaves(weights: Mapping[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(array, requires_grad=True) for name, array in weights.items()}
