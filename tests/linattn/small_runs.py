"""Small training experiments of linear attention, by plain gradient descent on the population loss."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.papers.linattn.theory.flow import (
    compose_merged_map,
    compose_separate_map,
    flow_merged,
    flow_separate,
)
from onset.papers.linattn.theory.landscape import compute_loss, describe_query_loss
from onset.params.linattn import Task

TASKS = {
    "base_task": Task(N=31, eigenvalues=[0.4, 0.3, 0.2, 0.1]),
    "white_task": Task(N=31, law="white", D=4, trace=1.0),
}
FLOWS = {"merged": flow_merged, "separate": flow_separate}
MAPS = {"merged": compose_merged_map, "separate": compose_separate_map}


def draw_start(model, heads, rank, std, seed, D=4):
    rng = np.random.default_rng(seed)
    v = std * rng.standard_normal(heads)
    if model == "merged":
        return {"v": v, "U": std * rng.standard_normal((heads, D, D))}
    return {"v": v, "K": std * rng.standard_normal((heads, rank, D)),
            "Q": std * rng.standard_normal((heads, rank, D))}  # fmt: skip


def descend(model, weights, landscape, rate, epochs, every):
    """Records of plain gradient descent: a list of weights, one for each recorded epoch."""
    records = [weights]
    for epoch in range(1, epochs + 1):
        change = FLOWS[model](**weights, landscape=landscape)
        weights = {name: weights[name] + 2 * rate * change[name] for name in weights}
        if epoch % every == 0:
            records.append(weights)
    return {name: np.stack([record[name] for record in records]) for name in weights}


def train_one(model, task, heads, rank, std, rate, epochs, every, seeds):
    """The Dataset of one run, without the dimension `run`."""
    section = TASKS[task]
    lam = np.full(4, 0.25) if task == "white_task" else np.array(section.eigenvalues)
    landscape = describe_query_loss(lam, section.N)
    epoch = np.arange(0, epochs + 1, every)
    parts = []
    for seed in seeds:
        found = descend(model, draw_start(model, heads, rank, std, seed), landscape, rate, epochs, every)
        A = MAPS[model](**found)
        data = {
            "loss": (("epoch",), compute_loss(A, landscape)),
            "v": (("epoch", "head"), found["v"]),
            "A_diagonal": (("epoch", "direction"), np.einsum("tdd->td", A)),
        }
        ends = slice(None, None, len(epoch) - 1)
        if model == "merged":
            data["U"] = (("snapshot", "head", "direction", "column"), found["U"][ends])
        else:
            data["keys"] = (("snapshot", "head", "rank", "direction"), found["K"][ends])
            data["queries"] = (("snapshot", "head", "rank", "direction"), found["Q"][ends])
        parts.append(xr.Dataset(data))
    run = xr.concat(parts, dim="seed").assign_coords(
        seed=list(seeds), epoch=epoch, head=np.arange(heads), direction=np.arange(4)
    )
    other = "column" if model == "merged" else "rank"
    run = run.assign_coords({other: np.arange(run.sizes[other])})
    settings = {"model": model, "task": task, "rank_of": rank, "heads": heads, "samples": 0,
                "init_std": std, "learning_rate": rate, "time_per_epoch": 2 * rate}  # fmt: skip
    return run.assign_coords(settings).astype({name: np.float32 for name in run.data_vars})


def join(**runs):
    """Runs as one experiment: settings on the dimension `run`, weights padded to the largest with NaN."""
    placed = []
    for label, run in runs.items():
        settings = {name: ("run", [run[name].item()]) for name in run.coords if run[name].ndim == 0}
        placed.append(run.drop_vars(settings).expand_dims(run=[label]).assign_coords(settings))
    return xr.concat(placed, dim="run", join="outer", data_vars="all")
