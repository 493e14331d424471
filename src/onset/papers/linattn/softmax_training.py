"""Full-batch gradient descent of softmax attention on the sequences themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.errors import OnsetError
from onset.job.context import Result
from onset.job.loop import run_resumable
from onset.papers.linattn.models import Weights
from onset.papers.linattn.records import list_records
from onset.papers.linattn.softmax import softmax_gradient, split_sequences
from onset.papers.linattn.starts import add_side_blocks, draw_start
from onset.papers.linattn.task import draw_sequences, label, open_streams

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.linattn import SoftmaxTraining

CHUNK = 20  # steps between two possible saves
PART = 1000  # sequences that one pass over the cache holds


def read_tokens(
    job: Job, members: tuple[int, ...], dtype: type[np.floating] = np.float32
) -> tuple[np.ndarray, np.ndarray]:
    """Tokens (B, P, N+1, D+1), the query's label 0, and targets (B, P): the first P of each member's set."""
    own: SoftmaxTraining = job.own
    tokens, targets = [], []
    for seed in members:
        x, w = draw_sequences(open_streams(job.streams), job.sections[own.task], seed, 0, own.samples)
        y = label(x, w)
        targets.append(y[:, -1].copy())
        y[:, -1] = 0
        tokens.append(np.concatenate([x, y[..., None]], -1))
    return np.stack(tokens).astype(dtype), np.stack(targets).astype(dtype)


def train_softmax(job: Job, dtype: type[np.floating] = np.float32) -> Result:
    """Training loss (seed, epoch) and value weights v (seed, epoch, head) of one block of seeds.

    A seed has the sequences and the start that it has in linear attention.  All weights train, side blocks
    from zero.  Record 0 is the start.  Checkpoint: weights (seed, ...), float32.
    Raises OnsetError naming experiment, seed and step where the loss is no longer finite.
    Source: Figure 5 of arXiv 2501.16265; learning rate, start, samples and length are our choice.
    """
    own: SoftmaxTraining = job.own
    members = job.members or tuple(range(own.seeds))
    D = job.sections[own.task].dimension
    parts = split_sequences(*read_tokens(job, members, dtype), PART)
    start = draw_start(job.streams, own.model, D, own.heads, own.rank, own.init_std, members)
    weights: Weights = {name: array.astype(dtype) for name, array in add_side_blocks(start).items()}
    epochs = list_records(own.epochs, own.record_every)
    index = {epoch: k for k, epoch in enumerate(epochs)}
    loss: np.ndarray = np.full((len(epochs), len(members)), np.nan, dtype)
    v: np.ndarray = np.full((len(epochs), *weights["v"].shape), np.nan, dtype)

    def record(epoch: int, found: np.ndarray) -> None:
        loss[index[epoch]], v[index[epoch]] = found, weights["v"]
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            raise OnsetError(
                f"{job.paper}/{job.name}: the loss of seed {members[bad[0]]} is not finite after "
                f"{epoch} steps; lower learning_rate, which is {own.learning_rate:g}"
            )

    def advance(begin: int, end: int) -> None:
        for epoch in range(begin, end):
            found, gradient = softmax_gradient(weights, parts)
            if epoch in index:
                record(epoch, found)
            for name, array in weights.items():
                array -= own.learning_rate * gradient[name]
        if end == own.epochs:
            record(end, softmax_gradient(weights, parts)[0])

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        changed = {**{f"weights.{name}": t for name, t in weights.items()}, "loss": loss, "v": v}
        run_resumable(job, own.epochs, CHUNK, changed, advance, "epochs")

    def label_axis(values: object, text: str) -> tuple:
        return np.asarray(values), {"long_name": text, "units": "1"}

    dataset = xr.Dataset(
        {
            "loss": (("seed", "epoch"), *label_axis(loss.T, "training loss")),
            "v": (("seed", "epoch", "head"), *label_axis(v.swapaxes(0, 1), "value weight")),
        },
        coords={
            "seed": ("seed", *label_axis(members, "seed")),
            "epoch": ("epoch", *label_axis(epochs, "epochs done")),
            "head": ("head", *label_axis(range(own.heads), "head")),
        },
    )
    return Result(dataset, weights)
