"""Full-batch gradient descent of softmax attention on the sequences themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
import xarray as xr
from torch import Tensor

from onset.errors import OnsetError
from onset.job.context import Result
from onset.job.loop import run_resumable
from onset.papers.linattn.raw import make_tokens
from onset.papers.linattn.records import list_records
from onset.papers.linattn.softmax import softmax_gradient, split_sequences
from onset.papers.linattn.starts import add_side_blocks, draw_start
from onset.papers.linattn.task import draw_sequences, label, open_streams

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.linattn import SoftmaxTraining

CHUNK = 20  # steps between two possible saves
PART = 1000  # sequences that one pass over the cache holds


def read_tokens(job: Job, members: tuple[int, ...], dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Tokens (B, P, N+1, D+1) and targets (B, P): the first P sequences of each member's set."""
    own: SoftmaxTraining = job.own
    tokens, targets = [], []
    for seed in members:
        x, w = draw_sequences(open_streams(job.streams), job.sections[own.task], seed, 0, own.samples)
        y = label(x, w)
        tokens.append(make_tokens(torch.from_numpy(x), torch.from_numpy(y)))
        targets.append(torch.from_numpy(y[:, -1].copy()))
    return torch.stack(tokens).to(dtype), torch.stack(targets).to(dtype)


def train_softmax(job: Job, dtype: torch.dtype = torch.float32) -> Result:
    """Training loss (seed, epoch) and value weights v (seed, epoch, head) of one block of seeds.

    A seed has the sequences and the start that it has in linear attention.  All weights train, side blocks
    from zero.  Record 0 is the start.  Checkpoint: weights (seed, ...), float32.
    Raises OnsetError naming experiment, seed and step where the loss is no longer finite.
    Source: Figure 5 of arXiv 2501.16265; learning rate, start, samples and length are our choice.
    """
    own: SoftmaxTraining = job.own
    members = job.members or tuple(range(own.seeds))
    D = job.sections[own.task].dimension
    tokens, target = read_tokens(job, members, dtype)
    parts = split_sequences(tokens.to(job.device), target.to(job.device), PART)
    start = draw_start(job.streams, own.model, D, own.heads, own.rank, own.init_std, members)
    weights = {
        name: torch.from_numpy(array).to(job.device, dtype) for name, array in add_side_blocks(start).items()
    }
    epochs = list_records(own.epochs, own.record_every)
    index = {epoch: k for k, epoch in enumerate(epochs)}
    loss = torch.full((len(epochs), len(members)), torch.nan, dtype=dtype)
    v = torch.full((len(epochs), *weights["v"].shape), torch.nan, dtype=dtype)

    def record(epoch: int, found: Tensor) -> None:
        loss[index[epoch]], v[index[epoch]] = found.cpu(), weights["v"].cpu()
        bad = (~torch.isfinite(found)).nonzero()
        if len(bad):
            raise OnsetError(
                f"{job.paper}/{job.name}: the loss of seed {members[int(bad[0])]} is not finite after "
                f"{epoch} steps; lower learning_rate, which is {own.learning_rate:g}"
            )

    def advance(begin: int, end: int) -> None:
        for epoch in range(begin, end):
            found, gradient = softmax_gradient(weights, parts)
            if epoch in index:
                record(epoch, found)
            for name, tensor in weights.items():
                tensor.sub_(gradient[name], alpha=own.learning_rate)
        if end == own.epochs:
            record(end, softmax_gradient(weights, parts)[0])

    with torch.no_grad():
        changed = {**{f"weights.{name}": t for name, t in weights.items()}, "loss": loss, "v": v}
        run_resumable(job, own.epochs, CHUNK, changed, advance, "epochs")

    def label_axis(values: object, text: str) -> tuple:
        return np.asarray(values), {"long_name": text, "units": "1"}

    dataset = xr.Dataset(
        {
            "loss": (("seed", "epoch"), *label_axis(loss.T.numpy(), "training loss")),
            "v": (("seed", "epoch", "head"), *label_axis(v.transpose(0, 1).numpy(), "value weight")),
        },
        coords={
            "seed": ("seed", *label_axis(members, "seed")),
            "epoch": ("epoch", *label_axis(epochs, "epochs done")),
            "head": ("head", *label_axis(range(own.heads), "head")),
        },
    )
    return Result(dataset, {name: tensor.cpu() for name, tensor in weights.items()})
