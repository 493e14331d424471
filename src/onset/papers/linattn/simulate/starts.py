"""What a simulation takes from a training experiment: its runs, their tasks and starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from onset.errors import OnsetError
from onset.papers.linattn.spectrum import list_eigenvalues
from onset.papers.linattn.theory.landscape import Array, Landscape, describe_query_loss

if TYPE_CHECKING:
    from onset.job.context import Job


class Run(NamedTuple):
    """One run of a training experiment: its label, its population loss and its part of the Dataset."""

    label: str
    landscape: Landscape
    dataset: xr.Dataset


def list_runs(job: Job, models: tuple[str, ...], population_only: bool) -> list[Run]:
    """The runs whose model is among `models`, in order; on the population alone where asked.

    Each is cut to its own heads, ranks and directions, and to the first `own.seeds` seeds.
    Raises OnsetError where there is none, or where a run's task is not among the sections read.
    """
    runs, found = job.inputs["runs"], []
    for label in runs["run"].values:
        one = runs.sel(run=label)
        if str(one["model"].item()) not in models or (population_only and int(one["samples"].item()) > 0):
            continue
        task = str(one["task"].item())
        if task not in job.sections:
            raise OnsetError(f"{job.name}: run {label} has task {task}; add it to what {job.name} reads")
        section = job.sections[task]
        landscape = describe_query_loss(list_eigenvalues(section), section.N)
        kept = {"seed": slice(job.own.seeds), "head": slice(int(one["heads"].item()))}
        kept["direction"] = slice(len(landscape.lam))
        if "column" in one.dims:
            kept["column"] = slice(len(landscape.lam))
        if "rank" in one.dims:
            kept["rank"] = slice(max(1, int(one["rank_of"].item())))
        found.append(Run(str(label), landscape, one.isel(kept)))
    if not found:
        wanted = " or ".join(models) + (" on the population (samples: 0)" if population_only else "")
        raise OnsetError(f"{job.name}: no run of {wanted}; the runs are {', '.join(runs['run'].values)}")
    return found


def read_start(run: Run, seed: int, names: dict[str, str]) -> dict[str, Array]:
    """Weights before the first step of the seed at place `seed`: v, and the snapshots named.

    `names` maps the names wanted to the Dataset's variables, for instance {"K": "keys"}.
    """
    one = run.dataset.isel(seed=seed)
    start = {"v": np.asarray(one["v"].isel(epoch=0).values, dtype=np.float64)}
    order = ("head", "rank", "direction", "column")
    for name, variable in names.items():
        first = one[variable].isel(snapshot=0)
        dims = [dim for dim in order if dim in first.dims]
        start[name] = np.asarray(first.transpose(*dims).values, dtype=np.float64)
    return start


def iterate_seeds(job: Job, runs: list[Run]) -> Iterator[tuple[int, int, Run, str]]:
    """(place of the run, place of the seed, run, label for messages), counted by the job's reporter."""
    seeds = runs[0].dataset["seed"].values
    places = [(i, j) for i in range(len(runs)) for j in range(len(seeds))]
    if job.reporter is None:
        for i, j in places:
            yield i, j, runs[i], f"{job.name}, run {runs[i].label}, seed {seeds[j]}"
        return
    with job.reporter.steps(len(places), "flows") as counter:
        for i, j in places:
            yield i, j, runs[i], f"{job.name}, run {runs[i].label}, seed {seeds[j]}"
            counter.advance(1)


def measure_scale(start: dict[str, Array]) -> float:
    """Root mean square of all entries of a start, to which absolute tolerances are set."""
    entries = np.concatenate([np.ravel(value) for value in start.values()])
    return float(np.sqrt(np.mean(np.square(entries))))


def place(target: Array, at: tuple[int, ...], value: Array | float) -> None:
    """Write a value into `target` at the leading indices `at`; what it does not reach keeps its padding."""
    reached: tuple[Any, ...] = (*at, *(slice(size) for size in np.shape(value)))
    target[reached] = value
