"""The full flow of the regression variant from its starts, with stages read off each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.papers.sparse.flows.features import (
    compute_loss,
    compute_loss_terms,
    compute_residual,
    measure_contributions,
    read_features,
)
from onset.papers.sparse.flows.labels import carry_coordinates, label_flows
from onset.papers.sparse.flows.regression import compute_descent, flow_regression
from onset.papers.sparse.flows.stages import find_boundaries, find_half_times, find_owners
from onset.papers.sparse.simulate.solver import follow_flow, list_times

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job
    from onset.papers.sparse.flows.features import Array, Features
    from onset.params.sparse import FlowSolver

VARIABLES = {
    "V": (("time", "head", "feature"), "component of the value matrix along the feature's"),
    "s": (("time", "head", "position"), "attention"),
    "loss": (("time",), "loss L = |G - P|²/2"),
    "loss_term": (("time", "feature"), "part of the loss at the feature's own position"),
    "descent": (("time",), "rate -dL/dt, the squared norm of the gradient"),
    "half_time": (("feature",), "time at which the feature's loss term is halved"),
    "owner": (("feature",), "head that delivers most of the feature at the end"),
    "boundary": (("stage",), "time at which the stage begins: closest approach to the saddle before"),
}


def follow_run(
    s: Array, times: Array, features: Features, solver: FlowSolver, label: str
) -> dict[str, Array]:
    """Everything in VARIABLES of the run from V = 0 and attention s (h, T).

    Raises OnsetError where the solver fails.
    """
    start = {"V": np.zeros((features.h, features.h)), "s": s}
    found = follow_flow(lambda V, s: flow_regression(V, s, features), start, times, solver, label)
    V, s = found["V"], found["s"]
    residual = compute_residual(V, s, features)
    terms, descent = compute_loss_terms(residual), compute_descent(V, s, features)
    half_times = find_half_times(times, terms)
    return {
        "V": V,
        "s": s,
        "loss": compute_loss(residual),
        "loss_term": terms,
        "descent": descent,
        "half_time": half_times,
        "owner": find_owners(measure_contributions(V[-1], s[-1], features)),
        "boundary": find_boundaries(times, descent, half_times),
    }


def simulate_regression(job: Job) -> xr.Dataset:
    """The full flow of every kind of noise and the first `own.seeds` seeds of the starts.

    Dimensions run, seed, time (0 and log-spaced), head (0..), feature and position (1..), stage (2..h).
    Raises OnsetError where an integration fails, with experiment, run, seed and time reached.
    Source: arXiv 2602.19143, section 3.1 and appendix D.1.
    """
    features, own = read_features(job.sections["features"]), job.own
    times = list_times(own)
    starts = job.inputs["starts"]
    starts = starts.isel(seed=slice(own.seeds))
    runs = [
        [
            follow_run(
                starts["s"].sel(run=run, seed=seed).values,
                times,
                features,
                job.sections["flow_solver"],
                f"{job.name}, run {run}, seed {seed}",
            )
            for seed in starts["seed"].values
        ]
        for run in starts["run"].values
    ]
    return label_flows(
        {
            name: (("run", "seed", *dims), [[one[name] for one in seeds] for seeds in runs], title)
            for name, (dims, title) in VARIABLES.items()
        },
        features,
        {
            **carry_coordinates(starts, "run", "noise", "epsilon", "seed"),
            "time": (("time",), times, "time t of the gradient flow"),
            "stage": (("stage",), np.arange(2, features.h + 1), "stage, by the feature it learns"),
        },
    )
