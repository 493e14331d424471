"""Population flow of separate key and query from the starts of the trained runs, and Eq. 21 beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.dynamics.integrate import integrate_flow
from onset.papers.linattn.simulate.scalar import (
    compare_with_scalar,
    find_learners,
    locate_half,
    simulate_scalar,
)
from onset.papers.linattn.simulate.starts import (
    Run,
    iterate_seeds,
    list_runs,
    measure_scale,
    place,
    read_start,
)
from onset.papers.linattn.theory.conservation import measure_separate_invariants
from onset.papers.linattn.theory.flow import compose_separate_map, flow_separate
from onset.papers.linattn.theory.heads import predict_first_drop
from onset.papers.linattn.theory.labels import Variable, label_dataset
from onset.papers.linattn.theory.landscape import Array, compute_loss

if TYPE_CHECKING:
    from onset.job.context import Job

_VARIABLES = {
    "loss": (("run", "seed", "time"), "population loss along the flow", "1"),
    "v": (("run", "seed", "time", "head"), "value weights along the flow", "1"),
    "A_diagonal": (("run", "seed", "time", "direction"), "diagonal of the map A along the flow", "1"),
    "drift_key_query": (("run", "seed"), "largest change of K Kᵀ - Q Qᵀ along the flow", "1"),
    "drift_value": (("run", "seed"), "largest change of Σ|k|² - v² along the flow", "1"),
    "first_drop_predicted": (("run", "seed"), "first drop predicted from the start, t/τ", "τ"),
    "winner_predicted": (("run", "seed"), "head predicted to learn first", "1"),
    "learner": (("run", "seed", "direction"), "head that learns the direction in the run, -1 for none", "1"),
    "half_time": (("run", "seed", "direction"), "time at which the run's head is at v*/2, t/τ", "τ"),
    "ode_deviation": (
        ("run", "seed", "direction"),
        "largest distance of the run's v from the scalar equation, over v*",
        "1",
    ),
}


def _follow(run: Run, start: dict[str, Array], times: Array, rtol: float, label: str) -> dict[str, Array]:
    """The flow from one start, and what the start predicts about the first drop."""
    landscape = run.landscape
    found = integrate_flow(
        lambda _, state: flow_separate(**state, landscape=landscape),
        start,
        times,
        label=label,
        rtol=rtol,
        atol=rtol * measure_scale(start),
        method="LSODA",  # stiff once directions are learned: half to a quarter of an explicit method's steps
    )
    A = compose_separate_map(found["v"], found["K"], found["Q"])
    invariants = measure_separate_invariants(found["v"], found["K"], found["Q"])
    first = predict_first_drop(start["v"], start["K"], start["Q"], landscape)
    return {
        "loss": compute_loss(A, landscape),
        "v": found["v"],
        "A_diagonal": np.einsum("tdd->td", A),
        "drift_key_query": np.abs(invariants.key_query - invariants.key_query[0]).max(),
        "drift_value": np.abs(invariants.key_value - invariants.key_value[0]).max(),
        "first_drop_predicted": first.time,
        "winner_predicted": first.head,
    }


def simulate_separate(job: Job) -> xr.Dataset:
    """Exact population flow of the separate runs from their own starts, any rank, with Eq. 21 superposed.

    Dimensions run, seed (first `own.seeds`), time (t/tau; `own.points` times growing as squares up to
    `own.time`, because the drops come at ever longer intervals), head, direction, padded with NaN.
    ode_value and ode_time (direction, point): Eq. 21 from 1e-3 v*, time 0 where v = v*/2; it is drawn over a
    run by adding half_time(run, seed, direction).  `step` converts time to each run's gradient steps.
    Runs of one experiment share their task here.
    Raises OnsetError where no run qualifies or an integration fails.
    Source: arXiv 2501.16265, Eq. 21; docs/theory/linattn.md, sections 3, 7 and 8.
    """
    own = job.own
    runs = list_runs(job, ("separate",), population_only=False)
    times = own.time * np.linspace(0.0, 1.0, own.points) ** 2
    seeds = runs[0].dataset["seed"].values
    sizes = {
        "run": len(runs),
        "seed": len(seeds),
        "time": len(times),
        "head": max(run.dataset.sizes["head"] for run in runs),
        "direction": len(runs[0].landscape.lam),
    }
    ode_time, ode_value = simulate_scalar(runs[0].landscape, own.points, own.rtol, job.name)
    values = {
        name: np.full([sizes[dim] for dim in dims], np.nan) for name, (dims, _, _) in _VARIABLES.items()
    }
    for i, j, run, label in iterate_seeds(job, runs):
        start = read_start(run, j, {"K": "keys", "Q": "queries"})
        for name, value in _follow(run, start, times, own.rtol, label).items():
            place(values[name], (i, j), value)
        learners = find_learners(run, j)
        half = locate_half(run, j, learners)
        values["learner"][i, j], values["half_time"][i, j] = learners, half
        values["ode_deviation"][i, j] = compare_with_scalar(run, j, learners, half, ode_time, ode_value)
    per_epoch = np.array([float(run.dataset["time_per_epoch"].item()) for run in runs])
    coordinates = {
        "run": (("run",), [run.label for run in runs], "run", "1"),
        "seed": (("seed",), seeds, "seed", "1"),
        "time": (("time",), times, "time t/τ", "τ"),
        "head": (("head",), np.arange(sizes["head"]), "head", "1"),
        "direction": (
            ("direction",),
            np.arange(sizes["direction"]),
            "eigenvector of the input covariance",
            "1",
        ),
        "point": (("point",), np.arange(own.points), "point of the scalar equation's curve", "1"),
        "step": (("run", "time"), times / per_epoch[:, None], "gradient steps", "1"),
    }
    variables: dict[str, Variable] = {
        name: (dims, values[name], title, units) for name, (dims, title, units) in _VARIABLES.items()
    }
    variables["ode_time"] = (("direction", "point"), ode_time, "time after v = v*/2, t/τ", "τ")
    variables["ode_value"] = (("direction", "point"), ode_value, "value v of the scalar equation", "1")
    return label_dataset(variables, coordinates)
