"""When the second stage comes, against the size of the noise that tells the heads apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.papers.sparse.flows.features import Array, Features, read_features
from onset.papers.sparse.flows.labels import label_flows
from onset.papers.sparse.simulate.regression import follow_run
from onset.papers.sparse.simulate.solver import list_times

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job


def tilt_attention(noise: float, features: Features) -> Array:
    """s (heads, T): uniform, but that head k looks a little more at position k; rows sum to 1.

    Source: our choice, a start whose only scale is the noise.
    """
    s = np.full((features.h, features.T), 1 / features.T)
    s[:, : features.h] += noise * np.eye(features.h)
    return s / s.sum(-1, keepdims=True)


def simulate_escape(job: Job) -> xr.Dataset:
    """Half-times of every feature for each size of noise: half_time(noise, feature), NaN where not reached.

    Raises OnsetError where an integration fails.   Source: our reconstruction, docs/theory/sparse.md.
    """
    features, own = read_features(job.sections["features"]), job.own
    times = list_times(own)
    found = [
        follow_run(
            tilt_attention(noise, features),
            times,
            features,
            job.sections["flow_solver"],
            f"{job.name}, noise {noise:g}",
        )["half_time"]
        for noise in own.noises
    ]
    return label_flows(
        {"half_time": (("noise", "feature"), found, "time at which the feature's loss term is halved")},
        features,
        {"noise": (("noise",), list(own.noises), "size of the tilt that tells the heads apart")},
    )
