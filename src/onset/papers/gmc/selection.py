"""What figures and claims read from the runs: levels of a task, best heads, progress, emergence steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from onset.measures.emergence import crossing_step, measure_progress
from onset.measures.head_scores import (
    approximate_IH_MC,
    approximate_IH_repeat,
    approximate_PTH,
    random_IH_MC,
    random_IH_repeat,
    random_PTH,
)
from onset.store.attributes import parameters_of

SCORES = ("PTH", "IH_MC", "IH_Repeat")
NAMES = {"PTH": "PTH", "IH_MC": "IH-MC", "IH_Repeat": "IH-Repeat", "IH_Repeat_control": "IH-Repeat, control"}
CONTEXTS = ("close", "loose", "long", "wide")
"""Roles of the runs on a task of their own; all others are trained on the base task."""
BEST = ("layer", "head")


def read_own(runs: xr.Dataset) -> dict[str, Any]:
    """The parameters of a result's own section: architecture, layers, steps, …"""
    return dict(parameters_of(runs).get("own", {}))


def read_section(runs: xr.Dataset, section: str) -> dict[str, Any]:
    """The parameters of a shared section (`task`, `backbone`, `optimiser`) that a result was made with."""
    return dict(parameters_of(runs).get(section, {}))


def task_of(role: str) -> str:
    """The floors' name of the task on which the runs of a role were trained."""
    return role if role in CONTEXTS else "base"


def take_levels(floors: xr.Dataset, role: str, sequences: str = "curve") -> xr.Dataset:
    """Levels of the task of a role's runs, on the test sequences used along training where not said else."""
    return floors.sel(task=task_of(role), sequences=sequences)


def take_best(scores: xr.DataArray) -> xr.DataArray:
    """Largest score over all heads of all layers; layers and heads are taken out, seed and step stay."""
    return scores.astype(np.float64).max(BEST)


def count_repeated(runs: xr.Dataset) -> int:
    """K, the length of what a repeated sequence repeats: half a map's side, or T where no maps were kept."""
    return runs.sizes["query"] // 2 if "query" in runs.sizes else int(read_section(runs, "task")["T"])


def random_scores(T: int, K: int, printed: bool = False) -> dict[str, float]:
    """What uniform attention scores, exactly; or the paper's printed baselines, which leave out the self."""
    if printed:
        values = approximate_PTH(T), approximate_IH_MC(T), approximate_IH_repeat(K)
    else:
        values = random_PTH(T), random_IH_MC(T), random_IH_repeat(K)
    return dict(zip(SCORES, values, strict=True))


def score_ceilings(levels: xr.Dataset) -> dict[str, float]:
    """What each score can reach: 1, and for IH-MC the mean posterior weight of the match."""
    return {"PTH": 1.0, "IH_MC": float(levels.match_weight), "IH_Repeat": 1.0}


def loss_progress(loss: xr.DataArray, levels: xr.Dataset) -> xr.DataArray:
    """Share of the way from uniform average to Bayes floor; negative before the average is learned."""
    return measure_progress(loss, float(levels.uniform_loss), float(levels.bayes_loss))


def score_progress(runs: xr.Dataset, levels: xr.Dataset) -> dict[str, xr.DataArray]:
    """The best head's share of the way from random attention to the ceiling, by score: (seed, step)."""
    start, end = random_scores(int(levels["T"]), count_repeated(runs)), score_ceilings(levels)
    return {name: measure_progress(take_best(runs[name]), start[name], end[name]) for name in SCORES}


def emergence_steps(runs: xr.Dataset, levels: xr.Dataset) -> xr.DataArray:
    """Step at which each seed's test loss is half-way from the uniform average to the Bayes floor: (seed,).

    NaN where it never is.
    """
    return crossing_step(loss_progress(runs.test_loss, levels))


def median_step(steps: xr.DataArray) -> float:
    """Median over seeds, one that never arrives being later than all; NaN where the median never does."""
    middle = float(np.median(np.where(np.isfinite(steps.values), steps.values, np.inf)))
    return middle if np.isfinite(middle) else np.nan


def is_whole(runs: xr.Dataset, base: xr.Dataset) -> bool:
    """Whether a run is as long as the base run; scales may cut deep ones short."""
    return int(runs["step"].values[-1]) >= int(base["step"].values[-1])


def count_layers(runs: xr.Dataset) -> int:
    """Blocks of the transformer."""
    return int(runs.sizes["layer"])
