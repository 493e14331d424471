"""Population flow of merged attention from the starts of the trained runs, and Eq. 10 beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.dynamics.integrate import integrate_flow
from onset.papers.linattn.simulate.starts import (
    Run,
    iterate_seeds,
    list_runs,
    measure_scale,
    place,
    read_start,
)
from onset.papers.linattn.theory.conservation import measure_merged_invariant
from onset.papers.linattn.theory.flow import compose_merged_map, flow_merged
from onset.papers.linattn.theory.labels import label_dataset
from onset.papers.linattn.theory.landscape import Array, compute_loss
from onset.papers.linattn.theory.white import compute_white_loss, project_start, solve_white_course

if TYPE_CHECKING:
    from onset.job.context import Job


def _is_white(run: Run) -> bool:
    return bool(np.ptp(run.landscape.lam) < 1e-12 * run.landscape.lam[0])


def _follow(run: Run, start: dict[str, Array], times: Array, rtol: float, label: str) -> dict[str, Array]:
    """The flow from one start, with Eq. 10 from its effective amplitude where the task is white."""
    landscape = run.landscape
    found = integrate_flow(
        lambda _, state: flow_merged(**state, landscape=landscape),
        start,
        times,
        label=label,
        rtol=rtol,
        atol=rtol * measure_scale(start),
    )
    A = compose_merged_map(found["v"], found["U"])
    invariant = measure_merged_invariant(found["v"], found["U"])
    w_init = project_start(start["v"], start["U"], landscape)
    sigma = np.full(len(times), np.nan)
    if _is_white(run):
        sigma = solve_white_course(times, w_init, landscape)
    return {
        "loss": compute_loss(A, landscape),
        "A_diagonal": np.einsum("tdd->td", A),
        "w_init": w_init,
        "sigma": sigma,
        "sigma_loss": compute_white_loss(sigma, landscape),
        "drift_value": np.abs(invariant - invariant[0]).max(),
    }


_VARIABLES = {
    "loss": (("run", "seed", "time"), "population loss along the flow", "1"),
    "A_diagonal": (("run", "seed", "time", "direction"), "diagonal of the map A along the flow", "1"),
    "w_init": (("run", "seed"), "effective initial value of the growing mode", "1"),
    "sigma": (("run", "seed", "time"), "σ(t) of Eq. 10, A = σ I", "1"),
    "sigma_loss": (("run", "seed", "time"), "loss of A = σ I", "1"),
    "drift_value": (("run", "seed"), "largest change of a conserved quantity along the flow", "1"),
}


def simulate_merged(job: Job) -> xr.Dataset:
    """Exact population flow of the merged and MLP runs that train on the population, from their own starts.

    Dimensions run, seed (first `own.seeds`), time (t/tau, `own.points` even ones to `own.time`), direction.
    Eq. 10 (sigma) is NaN where a task is not white.  `step` converts time to each run's gradient steps.
    Raises OnsetError where no run qualifies or an integration fails.
    Source: arXiv 2501.16265, Eq. 10; flow and effective start in docs/theory/linattn.md, sections 3 and 5.
    """
    runs = list_runs(job, ("merged", "mlp"), population_only=True)
    times = np.linspace(0.0, job.own.time, job.own.points)
    seeds = runs[0].dataset["seed"].values
    widest = max(len(run.landscape.lam) for run in runs)
    sizes = {"run": len(runs), "seed": len(seeds), "time": len(times), "direction": widest}
    values = {
        name: np.full([sizes[dim] for dim in dims], np.nan) for name, (dims, _, _) in _VARIABLES.items()
    }
    for i, j, run, label in iterate_seeds(job, runs):
        found = _follow(run, read_start(run, j, {"U": "U"}), times, job.own.rtol, label)
        for name, value in found.items():
            place(values[name], (i, j), value)
    per_epoch = np.array([float(run.dataset["time_per_epoch"].item()) for run in runs])
    coordinates = {
        "run": (("run",), [run.label for run in runs], "run", "1"),
        "seed": (("seed",), seeds, "seed", "1"),
        "time": (("time",), times, "time t/τ", "τ"),
        "direction": (("direction",), np.arange(widest), "eigenvector of the input covariance", "1"),
        "step": (("run", "time"), times / per_epoch[:, None], "gradient steps", "1"),
    }
    return label_dataset(
        {name: (dims, values[name], title, units) for name, (dims, title, units) in _VARIABLES.items()},
        coordinates,
    )
