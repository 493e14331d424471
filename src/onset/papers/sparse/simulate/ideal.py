"""The coupled, cooperative and reduced systems from the starts that the theory assumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.papers.sparse.flows.cooperative import (
    compute_stage_potential,
    flow_cooperative,
    slave_values,
    start_stage,
)
from onset.papers.sparse.flows.coupled import compute_coupled_potential, flow_coupled, measure_margin
from onset.papers.sparse.flows.features import read_features
from onset.papers.sparse.flows.labels import label_flows
from onset.papers.sparse.flows.reduced import compute_reduced_potential, flow_reduced
from onset.papers.sparse.simulate.solver import follow_flow, list_times

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job
    from onset.papers.sparse.flows.features import Array, Features
    from onset.params.sparse import FlowSolver

SYSTEMS = ("cooperative", "reduced")

COUPLED = {
    "coupled_V": (("time", "feature"), "component of the common value matrix along the feature's"),
    "coupled_s": (("time", "feature"), "common attention on the feature's position"),
    "coupled_potential": (("time",), "potential φ of the coupled flow"),
    "coupled_rise": ((), "least change of φ from one record to the next"),
    "margin": (("time",), "least lead of the first feature in V and s"),
    "norm": (("time",), "norm of the common value matrix"),
}
STAGE = {
    "V": (("system", "time", "feature"), "component of the free head's value matrix along the feature's"),
    "s": (("system", "time", "feature"), "the free head's attention on the feature's position"),
    "potential": (("system", "time"), "potential φ of the flow"),
    "slaving": ((), "largest distance of the other heads' values from rest under the free head"),
}


def follow_coupled(
    V: Array, s: Array, times: Array, features: Features, solver: FlowSolver, label: str
) -> dict[str, Array]:
    """COUPLED from V (h,) and s (T,).   Raises OnsetError where the solver fails."""
    found = follow_flow(lambda V, s: flow_coupled(V, s, features), {"V": V, "s": s}, times, solver, label)
    V, s = found["V"], found["s"]
    potential = compute_coupled_potential(V, s, features)
    return {
        "coupled_V": V,
        "coupled_s": s[:, : features.h],
        "coupled_potential": potential,
        "coupled_rise": np.diff(potential).min(),
        "margin": measure_margin(V, s, features),
        "norm": np.linalg.norm(V, axis=-1),
    }


def follow_start(
    n: int, epsilon: float, times: Array, features: Features, solver: FlowSolver, label: str
) -> dict[str, Array]:
    """STAGE of stage n from the theory's start at `epsilon`.   Raises OnsetError where the solver fails."""
    V, s = start_stage(n, epsilon, features)
    whole = follow_flow(
        lambda V, s: flow_cooperative(V, s, features),
        {"V": V, "s": s},
        times,
        solver,
        f"{label}, cooperative flow",
    )
    less = follow_flow(
        lambda V, s: flow_reduced(V, s, n, features),
        {"V": V[-1], "s": s},
        times,
        solver,
        f"{label}, reduced flow",
    )
    at_rest = slave_values(whole["V"][:, -1], whole["s"], n, features)
    return {
        "V": np.stack([whole["V"][:, -1], less["V"]]),
        "s": np.stack([whole["s"][:, : features.h], less["s"][:, : features.h]]),
        "potential": np.stack(
            [
                compute_stage_potential(whole["V"], whole["s"], features),
                compute_reduced_potential(less["V"], less["s"], n, features),
            ]
        ),
        "slaving": np.abs(whole["V"] - at_rest).max(),
    }


def simulate_ideal(job: Job) -> xr.Dataset:
    """The coupled flow from uniform attention (start 0) and inside its invariant region; all later stages.

    Dimensions start, stage (2..h), epsilon, system (cooperative, reduced), time, feature.
    Raises OnsetError where an integration fails.
    Source: arXiv 2602.19143, sections 3.2 and 3.3, appendix B; the paper leaves epsilon open.
    """
    features, own, solver = read_features(job.sections["features"]), job.own, job.sections["flow_solver"]
    times, drawn = list_times(own), job.inputs["starts"]
    uniform = (np.zeros(features.h), np.full(features.T, 1 / features.T))
    random = zip(drawn["random_V"].values, drawn["random_s"].values, strict=True)
    coupled = [
        follow_coupled(V, s, times, features, solver, f"{job.name}, coupled flow, start {i}")
        for i, (V, s) in enumerate([uniform, *random])
    ]
    stages = [
        [
            follow_start(n, epsilon, times, features, solver, f"{job.name}, stage {n}, epsilon {epsilon:g}")
            for epsilon in own.epsilons
        ]
        for n in range(2, features.h + 1)
    ]
    variables = {
        name: (("start", *dims), [one[name] for one in coupled], title)
        for name, (dims, title) in COUPLED.items()
    } | {
        name: (("stage", "epsilon", *dims), [[one[name] for one in row] for row in stages], title)
        for name, (dims, title) in STAGE.items()
    }
    coordinates = {
        "start": (("start",), np.arange(len(coupled)), "start of the coupled flow, 0 for uniform attention"),
        "stage": (("stage",), np.arange(2, features.h + 1), "stage, by the feature it learns"),
        "epsilon": (("epsilon",), list(own.epsilons), "perturbation towards the stage's feature"),
        "system": (("system",), list(SYSTEMS), "flow of the stage"),
        "time": (("time",), times, "time t of the gradient flow"),
    }
    return label_flows(variables, features, coordinates)
