"""Fixed test sets: match-and-copy sequences, repeated sequences and their controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.papers.gmc.task import (
    draw_repeated,
    draw_test_sequences,
    draw_value_map,
    open_streams,
    read_task,
)

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.gmc import Sets

COORDINATES = {
    "sample": "test sequence",
    "position": "position, the query last",
    "feature": "entry of a token",
    "feature2": "entry of a token",
    "output": "entry of a target",
    "repeat": "repeated sequence or control",
    "repeat_position": "position in a repeated sequence",
}


def draw_sets(job: Job) -> xr.Dataset:
    """The test sequences of one task, with what they were made with.

    tokens(sample, position, feature) and targets(sample, output) float32, match(sample) int64 the position t0
    whose successor is the target, curve(sample) whether the sequence is among those used along training;
    repeated and control (repeat, repeat_position, feature) float32; value_map(output, feature) and
    C(feature, feature2) float64.
    Source: arXiv 2602.07562; sizes beyond the paper's 128 sequences are our choice.
    """
    own: Sets = job.own
    task = read_task(job.sections["task"])
    streams = open_streams(job.streams)
    value_map = draw_value_map(streams, task.d_in)
    test = draw_test_sequences(streams, task, value_map, own.samples)
    repeated, control = draw_repeated(streams, task, own.K or task.T, own.repeated_samples)
    axes = ("repeat", "repeat_position", "feature")
    variables = {
        "tokens": (("sample", "position", "feature"), test.tokens.astype(np.float32), "test tokens"),
        "targets": (("sample", "output"), test.targets.astype(np.float32), "test targets"),
        "match": (("sample",), test.match, "position of the match"),
        "curve": (("sample",), np.arange(own.samples) < own.curve_samples, "used along training"),
        "repeated": (axes, repeated.astype(np.float32), "tokens, repeated once"),
        "control": (axes, control.astype(np.float32), "tokens, second half fresh"),
        "value_map": (("output", "feature"), value_map, "value map W_V"),
        "C": (("feature", "feature2"), task.C, "covariance of query and match"),
    }
    sizes = {
        dim: size
        for dims, values, _ in variables.values()
        for dim, size in zip(dims, values.shape, strict=True)
    }
    return xr.Dataset(
        {
            name: (dims, values, {"long_name": text, "units": "1"})
            for name, (dims, values, text) in variables.items()
        },
        coords={
            dim: (dim, np.arange(size), {"long_name": COORDINATES[dim], "units": "1"})
            for dim, size in sizes.items()
        },
    )
