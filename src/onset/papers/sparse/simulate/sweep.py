"""The full flow from all starts at once, by steps fixed in advance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.dynamics.fixed_step import choose_records, integrate_steps, plan_times
from onset.papers.sparse.flows.features import (
    compute_loss,
    compute_loss_terms,
    compute_residual,
    measure_contributions,
    read_features,
)
from onset.papers.sparse.flows.labels import carry_coordinates, label_flows
from onset.papers.sparse.flows.regression import flow_regression
from onset.papers.sparse.flows.stages import find_half_times, find_owners

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job


def simulate_sweep(job: Job) -> xr.Dataset:
    """Loss, half-times, owners and lowest values of every start of `starts`, in one batch for all of them.

    Dimensions run, seed, time (log-spaced among the steps), head, feature.   Trajectories are not kept.
    Raises OnsetError where a state stops being finite, with experiment and time reached.
    Source: arXiv 2602.19143, section 3.1 and appendix D.1.
    """
    features, own = read_features(job.sections["features"]), job.own
    starts = job.inputs["starts"]["s"]
    shape = (starts.sizes["run"], starts.sizes["seed"])
    s = starts.values.reshape(-1, features.h, features.T)
    times = plan_times([(segment.until, segment.step) for segment in own.segments])
    records = choose_records(times, np.geomspace(1.0, times[-1], own.points))
    states = integrate_steps(
        lambda _, state: flow_regression(**state, features=features),
        {"V": np.zeros((len(s), features.h, features.h)), "s": s},
        times,
        records,
        label=job.name,
        method=own.method,
    )
    V, s = states["V"], states["s"]
    residual = compute_residual(V, s, features)
    last = measure_contributions(V[-1], s[-1], features)

    def split(values: np.ndarray) -> np.ndarray:
        return values.reshape(*shape, *values.shape[1:])

    return label_flows(
        {
            "loss": (
                ("run", "seed", "time"),
                split(compute_loss(residual).T),
                "loss L = |G - P|²/2",
            ),
            "half_time": (
                ("run", "seed", "feature"),
                split(find_half_times(times[records], compute_loss_terms(residual))),
                "time at which the feature's loss term is halved",
            ),
            "owner": (
                ("run", "seed", "feature"),
                split(find_owners(last)),
                "head that delivers most of the feature at the end",
            ),
            "contribution": (
                ("run", "seed", "head", "feature"),
                split(last),
                "share of the feature that the head delivers at the end",
            ),
            "dip": (
                ("run", "seed", "feature"),
                split(V.min((0, 2))),
                "lowest component of a value matrix along the feature's, over heads and times",
            ),
        },
        features,
        {
            **carry_coordinates(job.inputs["starts"], "run", "noise", "epsilon", "seed"),
            "time": (("time",), times[records], "time t of the gradient flow"),
        },
    )
