"""Training sets as their moments: all that full-batch gradient descent of linear attention sees."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.papers.linattn.features import (
    Moments,
    cubic_features,
    full_features,
    next_token_features,
    pair_indices,
)
from onset.papers.linattn.task import draw_sequences, label, open_streams

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.linattn import NextToken, Sets, Task

CHUNK = 2000  # sequences held in memory at once
AXES = {"": ("feature", "feature2"), "_reduced": ("reduced", "reduced2"), "_next": ("reduced", "reduced2")}
TEXTS = {
    "": "all features, query loss",
    "_reduced": "cubic features, query loss",
    "_next": "cubic features, next-token loss",
}


def sum_features(job: Job, seed: int, kinds: tuple[str, ...], totals: dict[str, Moments], P: range) -> None:
    """Add the sequences numbered by `P` of set `seed` to the totals of each kind of moments."""
    task: Task = job.sections["task"]
    next_token: NextToken = job.sections["next_token"]
    streams = open_streams(job.streams)
    for first in range(P.start, P.stop, CHUNK):
        x, w = draw_sequences(streams, task, seed, first, min(first + CHUNK, P.stop))
        y = label(x, w)
        for kind in kinds:
            if kind == "_next":
                totals[kind].add(next_token_features(x, y, next_token.scaling), y[:, 1:])
            else:
                totals[kind].add((cubic_features if kind else full_features)(x, y), y[:, -1])


def draw_sets(job: Job) -> xr.Dataset:
    """Moments S, b, c of the sets of every size and seed, float64, of the kinds that the section asks for.

    S(P, seed, feature, feature2) = mean phi phi^T, b = mean y phi, c = mean y^2 over the first P sequences
    of set `seed` (see `onset.papers.linattn.features`), with suffix `_reduced` for the cubic feature z and
    `_next` for z averaged over context lengths.  The loss of coefficients w is c - 2 w.b + w.S.w, so
    gradient descent on the moments is full-batch gradient descent on the sequences.
    """
    own: Sets = job.own
    D = job.sections["task"].dimension
    size = {"": len(pair_indices(D)[0]) * D, "_reduced": D * D, "_next": D * D}
    kinds = ("_reduced", *([""] if own.side_blocks else []), *(["_next"] if own.next_token else []))
    found: dict[str, list] = {f"{letter}{kind}": [] for kind in kinds for letter in "Sbc"}
    total = len(own.seeds) * max(own.samples)
    counting = job.reporter.steps(total, "sequences") if job.reporter is not None else nullcontext()
    with counting as counter:
        for seed in own.seeds:
            totals = {kind: Moments.empty(size[kind]) for kind in kinds}
            for low, high in zip((0, *own.samples[:-1]), own.samples, strict=True):
                sum_features(job, seed, kinds, totals, range(low, high))
                for kind in kinds:
                    for letter, value in zip("Sbc", totals[kind].mean(), strict=True):
                        found[f"{letter}{kind}"].append(value)
                if counter is not None:
                    counter.advance(high - low)
    variables = {}
    for kind in kinds:
        for letter, axes, text in zip(
            "Sbc", (AXES[kind], AXES[kind][:1], ()), ("mean phi phi^T", "mean y phi", "mean y^2"), strict=True
        ):
            values = np.asarray(found[f"{letter}{kind}"])
            values = values.reshape(len(own.seeds), len(own.samples), *values.shape[1:]).swapaxes(0, 1)
            attributes = {"long_name": f"{text}, {TEXTS[kind]}", "units": "1"}
            variables[f"{letter}{kind}"] = (("P", "seed", *axes), values, attributes)
    return xr.Dataset(
        variables,
        coords={
            "P": ("P", np.asarray(own.samples), {"long_name": "training sequences", "units": "1"}),
            "seed": ("seed", np.asarray(own.seeds), {"long_name": "seed", "units": "1"}),
        },
    )
