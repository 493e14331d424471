"""Which runs, heads and records figures and claims read; results keep all runs of an experiment together."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from onset.measures.emergence import crossing_step
from onset.store.attributes import parameters_of

LEFT = 0.1
"""Share of the growth of a divergence after its least value at which a stage has ended."""


def has_run(runs: xr.Dataset, label: str) -> bool:
    """Whether a run is there; scales may leave runs out."""
    return label in runs.run.values


def take_run(runs: xr.Dataset, label: str) -> xr.Dataset:
    """One run without the padding of its records, layers and heads; its settings are scalar coordinates.

    Raises KeyError where the run is not there.
    """
    run = runs.sel(run=label)
    sizes = {"layer": int(run.layers), "head": int(run.heads)}
    run = run.isel({dim: slice(size) for dim, size in sizes.items() if dim in run.dims})
    return run.sel(step=run["step"] <= int(run.steps))


def list_runs(runs: xr.Dataset) -> list[str]:
    """Labels of all runs, in stored order."""
    return [str(label) for label in runs.run.values]


def order_runs(runs: xr.Dataset, setting: str) -> list[str]:
    """Labels of all runs by a setting (a coordinate on `run`), smallest first; NaN come last."""
    values = runs[setting].values.astype(np.float64)
    return [str(runs.run.values[at]) for at in np.argsort(values, kind="stable")]


def order_by_size(runs: xr.Dataset) -> list[str]:
    """Labels of all runs by the size of their training set, fresh batches (0) being the largest."""
    samples = runs.samples.values.astype(np.float64)
    ordered = np.argsort(np.where(samples == 0, np.inf, samples), kind="stable")
    return [str(runs.run.values[at]) for at in ordered]


def read_chain(run: xr.Dataset) -> dict[str, Any]:
    """Parameters of the chain that a run (see `take_run`) was trained on; empty where not recorded."""
    return dict(parameters_of(run).get(str(run.chain.values), {}))


def take_mass(run: xr.Dataset, layer: int = 0) -> xr.DataArray:
    """Masses (seed, step, head, group) of one layer."""
    return run.mass.isel(layer=layer, drop=True).astype(np.float64)


def measure_excess(run: xr.Dataset) -> xr.DataArray:
    """Validation loss above the chain's own on the same tokens, in nats: (seed, step)."""
    return run.loss.astype(np.float64) - run.teacher_loss.astype(np.float64)


def take_KL(run: xr.Dataset, dim: str = "prefix") -> xr.DataArray:
    """KL to the prefix predictors (seed, step, prefix), or with `context` to the restricted references.

    The fewest groups or tokens first; references that were not evaluated are left out.
    """
    found = run.KL if dim == "prefix" else run.KL_learned
    return found.astype(np.float64).dropna(dim, how="all").sortby(dim)


def nearest_steps(KL: xr.DataArray) -> xr.DataArray:
    """Step at which the model is nearest to each reference: KL without `step`; the first of equal ones."""
    return KL["step"][KL.fillna(np.inf).argmin("step")].drop_vars("step")


def best_steps(run: xr.Dataset) -> xr.DataArray:
    """Step of the least validation loss of each seed: (seed,)."""
    return nearest_steps(run.loss)


def record_at(values: xr.DataArray, steps: xr.DataArray) -> xr.DataArray:
    """Values (..., step) at recorded steps, one for each entry of `steps`."""
    return values.sel(step=steps).drop_vars("step")


def stage_ends(run: xr.Dataset, seed: int) -> list[float]:
    """Ends of all stages of one seed but the last: where its KL to f_{A_1:i}, i below h, begins to grow.

    That is where the KL has made a tenth (LEFT) of its growth after its least value, which may lie anywhere
    on a plateau.  Only ends that increase are given, so that a run without stages has none.
    """
    ends: list[float] = []
    for curve in take_KL(run).sel(seed=seed).transpose("prefix", "step")[:-1]:
        at = int(curve.argmin("step"))
        later = curve.isel(step=slice(at, None))
        growth = float(later.max() - later[0])
        end = float(crossing_step((later - later[0]) / growth, LEFT)) if at and growth > 0 else np.nan
        if end > max(ends, default=0.0):
            ends.append(end)
    return ends


def nearest_reference(KL: xr.DataArray, dim: str) -> xr.DataArray:
    """Number (0, 1, …) of the nearest reference at each record, along `dim`; -1 where none is known."""
    known = KL.notnull().all(dim)
    return xr.where(known, KL.fillna(np.inf).argmin(dim), -1)


def count_switches(nearest: xr.DataArray) -> xr.DataArray:
    """How often the nearest reference changes along the records: (...), for numbers (..., step)."""
    return (nearest.diff("step") != 0).sum("step")


def boundary_lags(groups: list[list[int]]) -> list[int]:
    """Lags l such that l and l + 1 lie in different groups, the last lag of all included, 0 not."""
    last = max(lag for group in groups for lag in group)
    member = {lag: tuple(lag in group for group in groups) for lag in range(1, last + 2)}
    return [lag for lag in range(1, last + 1) if member[lag] != member[lag + 1]]
