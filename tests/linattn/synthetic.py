"""Small results in the schemas of the real ones: plain gradient descent on population losses, two directions.

`make_runs` trains with rates of its own, independently of the trainers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

from onset.papers.linattn.theory.fixed_points import (
    compute_head_values,
    compute_optimal_map,
    compute_plateau_losses,
)
from onset.papers.linattn.theory.flow import compose_merged_map, compose_separate_map
from onset.papers.linattn.theory.landscape import (
    Landscape,
    compute_excess_factors,
    compute_force,
    compute_loss,
    describe_next_token_loss,
    describe_query_loss,
)

CONTEXT = 20
TASKS: dict[str, tuple[float, ...]] = {
    "base_task": (0.6, 0.4),
    "white_task": (0.5, 0.5),
    "wide_task": (0.5, 0.3, 0.2),
    "square_task": (0.5, 0.4, 0.35, 0.3),
    "repeated_task": (0.4, 0.4, 0.2, 0.2),
    "high16_task": (0.6, 0.4, 0.25, 0.1),
    "high32_task": (0.6, 0.4, 0.25, 0.1, 0.05),
}
BASE: dict[str, Any] = {
    "task": "base_task",
    "model": "separate",
    "rank": 1,
    "heads": 3,
    "init_std": 0.03,
    "learning_rate": 0.3,
    "samples": 0,
    "start": "random",
    "loss": "query",
}


def describe(task: str, loss: str = "query") -> Landscape:
    if loss == "query":
        return describe_query_loss(TASKS[task], CONTEXT)
    return describe_next_token_loss(TASKS[task], CONTEXT, "tokens")


def _start(settings: Mapping[str, Any], generator: np.random.Generator) -> dict[str, np.ndarray]:
    D, H, std = len(TASKS[settings["task"]]), settings["heads"], settings["init_std"]
    if settings["start"] == "aligned":
        share = np.full(H, H**-0.5)
        return {"v": std * share, "U": std * share[:, None, None] * np.eye(D) / np.sqrt(D)}
    shapes = {"v": (H,), "U": (H, D, D)}
    if settings["model"] == "separate":
        shapes = {"v": (H,), "K": (H, settings["rank"], D), "Q": (H, settings["rank"], D)}
    return {name: std * generator.standard_normal(shape) for name, shape in shapes.items()}


def _invariants(weights: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    if "U" in weights:
        return np.sum(weights["U"] ** 2, axis=(-2, -1)) - weights["v"] ** 2, np.zeros((len(weights["v"]), 1))
    K, Q = weights["K"], weights["Q"]
    gram = K @ K.swapaxes(-1, -2) - Q @ Q.swapaxes(-1, -2)
    return np.sum(K**2, axis=(-2, -1)) - weights["v"] ** 2, gram


def _rates(weights: Mapping[str, np.ndarray], G: np.ndarray) -> dict[str, np.ndarray]:
    """The flow's rates for weights with a leading seed axis, from G = -1/2 dL/dA (seed, D, D)."""
    v = weights["v"][..., None, None]
    if "U" in weights:
        return {"v": np.sum(weights["U"] * G[:, None], axis=(-2, -1)), "U": v * G[:, None]}
    K, Q = weights["K"], weights["Q"]
    pushed = Q @ G[:, None].swapaxes(-1, -2)
    return {"v": np.sum(K * pushed, axis=(-2, -1)), "K": v * pushed, "Q": v * (K @ G[:, None])}


def train(
    settings: Mapping[str, Any], epochs: int, record_every: int, snapshot_every: int, seeds: int
) -> dict[str, np.ndarray]:
    """Records of all seeds of one run, each variable (record or snapshot, seed, ...)."""
    landscape = describe(settings["task"], settings["loss"])
    separate = settings["model"] == "separate"
    starts = [_start(settings, np.random.default_rng(seed)) for seed in range(seeds)]
    weights = {name: np.stack([start[name] for start in starts]) for name in starts[0]}
    first = _invariants(weights)
    found: dict[str, list[Any]] = {}

    def record(**values: Any) -> None:
        for name, value in values.items():
            found.setdefault(name, []).append(np.copy(value))

    compose = compose_separate_map if separate else compose_merged_map
    for epoch in range(epochs + 1):
        A = compose(*weights.values())
        if epoch % record_every == 0:
            drift = [
                np.abs(now - then).reshape(seeds, -1).max(1)
                for now, then in zip(_invariants(weights), first, strict=True)
            ]
            diagonal = np.diagonal(A, axis1=1, axis2=2)
            off = np.linalg.norm(A - diagonal[:, None] * np.eye(A.shape[-1]), axis=(1, 2))
            record(loss=compute_loss(A, landscape), v=weights["v"], A_diagonal=diagonal, A_off=off)
            record(side_weight=np.zeros(seeds), drift_value=drift[0])
            record(drift_key_query=drift[1] if separate else np.full(seeds, np.nan))
        if epoch % snapshot_every == 0:
            record(A=A, **{n: weights[w] for n, w in _NAMES.items() if w in weights})
        rates = _rates(weights, compute_force(A, landscape))
        weights = {name: w + 2 * settings["learning_rate"] * rates[name] for name, w in weights.items()}
    return {name: np.asarray(values) for name, values in found.items()}


_NAMES = {"U": "U", "keys": "K", "queries": "Q"}
_DIMS: dict[str, tuple[str, ...]] = {
    "loss": ("epoch",),
    "v": ("epoch", "head"),
    "A_diagonal": ("epoch", "direction"),
    "A_off": ("epoch",),
    "side_weight": ("epoch",),
    "drift_value": ("epoch",),
    "drift_key_query": ("epoch",),
    "A": ("snapshot", "direction", "column"),
    "U": ("snapshot", "head", "direction", "column"),
    "keys": ("snapshot", "head", "rank", "direction"),
    "queries": ("snapshot", "head", "rank", "direction"),
}


def make_runs(
    runs: Mapping[str, Mapping[str, Any]],
    epochs: int = 600,
    record_every: int = 5,
    snapshot_every: int = 50,
    seeds: int = 2,
) -> xr.Dataset:
    """A training result: each run is BASE with its overrides."""
    frozen = tuple((label, tuple(sorted(override.items()))) for label, override in runs.items())
    return _make_runs(frozen, epochs, record_every, snapshot_every, seeds).copy(deep=True)


@cache
def _make_runs(frozen: Any, epochs: int, record_every: int, snapshot_every: int, seeds: int) -> xr.Dataset:
    parts = {}
    settings_of = {label: {**BASE, **dict(override)} for label, override in frozen}
    for label, settings in settings_of.items():
        records = train(settings, epochs, record_every, snapshot_every, seeds)
        parts[label] = xr.Dataset(
            {
                name: (("seed", *dims), np.swapaxes(records[name], 0, 1))
                for name, dims in _DIMS.items()
                if name in records
            }
        )
    dims = {str(dim) for part in parts.values() for dim in part.dims}
    sizes = {dim: max(part.sizes.get(dim, 0) for part in parts.values()) for dim in sorted(dims)}
    padded = []
    for part in parts.values():
        widths = {dim: (0, sizes[dim] - size) for dim, size in part.sizes.items()}
        padded.append(part.pad(widths, constant_values=np.nan))
    data = xr.concat(padded, "run", data_vars="all", join="outer")
    coords: dict[str, Any] = {
        "run": list(parts),
        "seed": np.arange(seeds),
        "epoch": np.arange(0, epochs + 1, record_every),
        "snapshot_epoch": ("snapshot", np.arange(0, epochs + 1, snapshot_every)),
    }
    coords |= {
        dim: np.arange(size) for dim, size in sizes.items() if dim not in ("seed", "epoch", "snapshot")
    }
    columns = {
        "model": [s["model"] for s in settings_of.values()],
        "task": [s["task"] for s in settings_of.values()],
        "rank_of": [s["rank"] if s["model"] == "separate" else 0 for s in settings_of.values()],
        "heads": [s["heads"] for s in settings_of.values()],
        "samples": [s["samples"] for s in settings_of.values()],
        "init_std": [s["init_std"] for s in settings_of.values()],
        "learning_rate": [s["learning_rate"] for s in settings_of.values()],
        "time_per_epoch": [2 * s["learning_rate"] for s in settings_of.values()],
    }
    coords |= {name: ("run", values) for name, values in columns.items()}
    return described(data.assign_coords(coords), {"own": {"loss": BASE["loss"]}})


def described(dataset: xr.Dataset, parameters: Mapping[str, Any] | None = None) -> xr.Dataset:
    for name in dataset.variables:
        dataset[name].attrs = {"long_name": f"{name} of the test", "units": "1"}
    dataset.attrs["onset_params"] = json.dumps(parameters or {})
    return dataset


def make_theory() -> xr.Dataset:
    """Closed forms of every task of TASKS."""
    D = max(len(values) for values in TASKS.values())

    def pad(values: Any, size: int) -> np.ndarray:
        values = np.asarray(values, dtype=np.float64)
        return np.pad(values, (0, size - len(values)), constant_values=np.nan)

    rows: dict[str, list[Any]] = {}
    for task, values in TASKS.items():
        query, following = describe(task), describe(task, "next_token")
        row: dict[str, Any] = {
            "eigenvalue": pad(values, D),
            "squared_eigenvalue": pad(query.a, D),
            "c_factor": pad(compute_excess_factors(values, CONTEXT), D),
            "late_map": pad(np.diag(compute_optimal_map(query)), D),
            "value": pad(compute_head_values(query), D),
            "growth_rate": np.linalg.norm(query.b),
            "dimension": len(values),
            "context": CONTEXT,
            "plateau_loss": pad(compute_plateau_losses(query), D + 1),
            "next_token_plateau_loss": pad(compute_plateau_losses(following), D + 1),
            "next_token_map": pad(np.diag(compute_optimal_map(following)), D),
            "in_weight_floor": 1 - 1 / (1 + 2 / CONTEXT),
            "in_weight_in_context_loss": 1 + 1 / (1 + 2 / CONTEXT) * (len(values) + 2) / len(values),
        }
        for name, value in row.items():
            rows.setdefault(name, []).append(value)
    dims = {D: ("task", "direction"), D + 1: ("task", "plateau")}
    data = {
        name: (dims[len(values[0])] if np.ndim(values[0]) else ("task",), np.asarray(values))
        for name, values in rows.items()
    }
    coords = {"task": list(TASKS), "direction": np.arange(D), "plateau": np.arange(D + 1)}
    return described(xr.Dataset(data, coords=coords), {"next_token": {"scaling": "tokens"}})


def make_job(name: str, own: Any, inputs: Mapping[str, xr.Dataset], scale: str = "test") -> Any:
    """The job of a figure; inputs by role."""
    from onset.job.context import Job
    from onset.params.plotting import Plotting

    return Job("linattn", name, scale, "-", own, {"plotting": Plotting(font_size=8.0, dpi=100)}, inputs)


def without_runs(dataset: xr.Dataset, *labels: str) -> xr.Dataset:
    """The result without some of its runs, as where a scale leaves them out."""
    return dataset.sel(run=[label for label in dataset.run.values if label not in labels])


def stop_at_the_start(dataset: xr.Dataset) -> None:
    """Put the first record in place of all, as if nothing had been trained."""
    for variable in dataset.data_vars.values():
        for dim in {"epoch", "snapshot"} & set(variable.dims):
            variable.values[:] = np.take(variable.values, [0], axis=variable.dims.index(dim))
