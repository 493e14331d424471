"""ATTN_M on mixtures of in-context and in-weight sequences: all shares and seeds in one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.job.context import Result
from onset.job.diverged import Diverged, Kept, note_lost, spell_lost
from onset.job.loop import run_resumable
from onset.papers.linattn.losses import SetLoss
from onset.papers.linattn.models import Full, descend
from onset.papers.linattn.records import list_records
from onset.papers.linattn.starts import add_side_blocks, draw_start

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.linattn import MixtureTraining

CHUNK = 500  # steps between two possible saves
LOSSES = {
    "loss": ("", "training loss"),
    "loss_in_context": ("_in_context", "in-context test loss"),
    "loss_in_weight": ("_in_weight", "in-weight test loss"),
}


def train_mixture(job: Job) -> Result:
    """Training loss and both test losses (share, seed, epoch) along full-batch gradient descent.

    Merged key-query attention with all blocks free: what a fixed w leaves in the weights is in the side
    blocks.  The start of a seed is the same at every share.  Record 0 is the start.
    A seed whose loss is no longer finite at some share lets the others finish; raises Diverged then, with
    experiment, share, seed and the record's step, and with the results of the other seeds.
    Source: Figure 14 of arXiv 2501.16265.
    """
    own: MixtureTraining = job.own
    sets = job.inputs["sets"].sel(seed=list(own.seeds))
    shares, seeds = sets["share"].values, own.seeds
    features = sets.sizes["feature"]
    D = next(d for d in range(1, features) if (d + 1) * (d + 2) // 2 * d == features)
    batch = (len(shares), len(seeds))

    def read(suffix: str) -> SetLoss:
        parts = []
        for letter in "Sbc":
            values = sets[f"{letter}{suffix}"].values
            values = values if not suffix else np.broadcast_to(values, (len(shares), *values.shape))
            parts.append(np.ascontiguousarray(values).reshape(-1, *values.shape[2:]))
        return SetLoss(*parts)

    losses = {name: read(suffix) for name, (suffix, _) in LOSSES.items()}
    start = draw_start(job.streams, "merged", D, own.heads, None, own.init_std, seeds)
    weights = {
        name: np.tile(array, (len(shares), *[1] * (array.ndim - 1)))
        for name, array in add_side_blocks(start).items()
    }
    model = Full(D)
    epochs = list_records(own.epochs, own.record_every)
    index = {epoch: k for k, epoch in enumerate(epochs)}
    records = {name: np.full((len(epochs), *batch), np.nan) for name in LOSSES}
    lost = np.full(batch, -1)

    def observe(epoch: int) -> None:
        if epoch not in index:
            return
        coefficients = model.coefficients(weights)
        for name, loss in losses.items():
            records[name][index[epoch]] = loss.value(coefficients).reshape(batch)
        note_lost(lost, records["loss"][index[epoch]], epoch)

    def advance(begin: int, end: int) -> None:
        for epoch in range(begin, end):
            if epoch == 0:
                observe(0)
            if epoch in index and lost.min() >= 0:
                return
            descend(model, losses["loss"], weights, own.learning_rate)
            observe(epoch + 1)

    changed = {**{f"weights.{name}": array for name, array in weights.items()}, **records, "lost": lost}
    with np.errstate(over="ignore", invalid="ignore"):
        run_resumable(job, own.epochs, CHUNK, changed, advance, "epochs")

    def collect(members: list[int]) -> Result:
        variables = {
            name: (
                ("share", "seed", "epoch"),
                np.moveaxis(records[name][:, :, members], 0, -1).astype(np.float32),
                {"long_name": text, "units": "1"},
            )
            for name, (_, text) in LOSSES.items()
        }
        coordinates = {
            "share": sets["share"],
            "seed": sets["seed"][members],
            "epoch": ("epoch", np.asarray(epochs), {"long_name": "epochs done", "units": "1"}),
        }
        checkpoint = {
            name: array.reshape(*batch, *array.shape[1:])[:, members] for name, array in weights.items()
        }
        return Result(xr.Dataset(variables, coords=coordinates), checkpoint)

    if lost.max() < 0:
        return collect(list(range(len(seeds))))
    names = [f"share {share:g}, seed {seed}" for share in shares for seed in seeds]
    told = f"{job.paper}/{job.name}: the loss at {spell_lost(names, lost.ravel())}; "
    told += f"lower learning_rate, which is {own.learning_rate:g}, or init_std, or leave them out"
    finished = np.flatnonzero((lost < 0).all(0)).tolist()
    change = {"seeds": [seeds[i] for i in finished]}
    raise Diverged(told, [Kept(change, collect(finished))] if finished else [])
