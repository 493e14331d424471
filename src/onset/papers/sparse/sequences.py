"""Datasets of the chains: training and validation sequences of every seed, with the matrices behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from onset.papers.sparse.chain import (
    draw_matrices,
    draw_training,
    draw_validation,
    open_streams,
    read_chain,
)

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.sparse import Sequences

SMALL = 128  # symbols that int8 can tell apart

VARIABLES = {
    "tokens": (("sample", "position"), "tokens of the training sequences"),
    "validation": (("validation_sample", "position"), "tokens of the validation sequences"),
    "matrices": (("group", "output", "feature"), "feature matrices A_k"),
}
COORDINATES = {
    "chain": "chain",
    "seed": "seed",
    "sample": "training sequence",
    "validation_sample": "validation sequence",
    "position": "position, the prefix first",
    "group": "group, the most important first",
    "output": "next token",
    "feature": "past token",
}


def draw_datasets(job: Job) -> xr.Dataset:
    """Sequences of each chain that the job reads, for each seed.

    tokens(chain, seed, sample, position) and validation(chain, seed, validation_sample, position), int8 where
    it suffices; matrices(chain, seed, group, output, feature) float64, gains included.  The first `window`
    positions are the uniform prefix.
    Source: arXiv 2602.19143, section 2.3; sizes: authors' code (facts); one chain for each seed: ours.
    """
    own: Sequences = job.own
    streams = open_streams(job.streams)
    values: dict[str, list[list[np.ndarray]]] = {name: [] for name in VARIABLES}
    for section in job.sections.values():
        chain = read_chain(section)
        matrices = [draw_matrices(streams, chain, seed) for seed in own.seeds]
        dtype = np.int8 if chain.d <= SMALL else np.int16
        drawn = list(zip(own.seeds, matrices, strict=True))
        values["matrices"].append(matrices)
        values["tokens"].append(
            [draw_training(streams, chain, A, seed, own.samples).astype(dtype) for seed, A in drawn]
        )
        values["validation"].append(
            [draw_validation(streams, chain, A, seed, own.validation).astype(dtype) for seed, A in drawn]
        )
    variables = {
        name: (("chain", "seed", *dims), np.stack([np.stack(seeds) for seeds in values[name]]), text)
        for name, (dims, text) in VARIABLES.items()
    }
    labels: dict[str, Any] = {"chain": list(job.sections), "seed": list(own.seeds)}
    for dims, array, _ in variables.values():
        for dim, size in zip(dims, array.shape, strict=True):
            labels.setdefault(dim, np.arange(size) + (dim == "group"))
    return xr.Dataset(
        {
            name: (dims, array, {"long_name": text, "units": "1"})
            for name, (dims, array, text) in variables.items()
        },
        coords={
            dim: (dim, values, {"long_name": COORDINATES[dim], "units": "1"})
            for dim, values in labels.items()
        },
    )
