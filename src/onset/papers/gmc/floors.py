"""Levels that the losses of every task can be held against, as one Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from onset.papers.gmc.bayes import (
    estimate_population,
    match_posterior,
    mean_squared_error,
    predict_bayes,
    predict_uniform,
    uniform_loss,
    zero_loss,
)
from onset.papers.gmc.task import GMC, read_task

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.gmc import Task

SEQUENCES = ("curve", "all", "population")
LEVELS = {
    "bayes_loss": "loss of the Bayes predictor",
    "uniform_loss": "loss of the average of all successors",
    "zero_loss": "loss of predicting zero",
    "match_weight": "mean posterior weight of the match",
    "top1": "share of sequences whose largest posterior weight is the match's",
}
ERRORS = {
    "bayes_loss_se": "standard error of the population's Bayes loss",
    "match_weight_se": "standard error of the population's mean weight of the match",
    "top1_se": "standard error of the population's share of matches found",
}


def measure_levels(test: xr.Dataset, chosen: np.ndarray, task: GMC) -> dict[str, float]:
    """The levels on the chosen (bool, sample) test sequences, with the noise that they have."""
    tokens, targets, match = (test[name].values[chosen] for name in ("tokens", "targets", "match"))
    value_map = test["value_map"].values
    weights = match_posterior(tokens, task)
    return {
        "bayes_loss": mean_squared_error(predict_bayes(tokens, task, value_map), targets),
        "uniform_loss": mean_squared_error(predict_uniform(tokens, task, value_map), targets),
        "zero_loss": mean_squared_error(0.0, targets),
        "match_weight": float(weights[np.arange(len(match)), match].mean()),
        "top1": float((weights.argmax(1) == match).mean()),
    }


def solve_floors(job: Job) -> xr.Dataset:
    """Losses of the Bayes, uniform and zero predictors of every task, float64.

    Each level (task, sequences) is given on the test sequences used along training (`curve`), on all test
    sequences, and in the population: closed forms for uniform and zero, Monte Carlo over `own.draws`
    sequences with standard errors for the Bayes predictor.  All losses include the noise of the targets.
    Source: ours, `onset.papers.gmc.bayes`; arXiv 2602.07562 gives noise_floor.
    """
    tasks: dict[str, Task] = {role: job.sections[role] for role in job.inputs}
    levels: dict[str, list[list[float]]] = {name: [] for name in LEVELS}
    errors: dict[str, list[float]] = {name: [] for name in ERRORS}
    scale: list[float] = []
    correlation: list[float] = []
    for role, section in tasks.items():
        task, test = read_task(section), job.inputs[role]
        value_map, curve = test["value_map"].values, test["curve"].values
        generator = job.streams.generator("population", task.T, task.d_in)
        population = estimate_population(generator, task, value_map, job.own.draws)
        rows = [
            measure_levels(test, curve, task),
            measure_levels(test, np.ones_like(curve), task),
            {
                "bayes_loss": population.loss,
                "uniform_loss": uniform_loss(task, value_map),
                "zero_loss": zero_loss(task, value_map),
                "match_weight": population.match_weight,
                "top1": population.top1,
            },
        ]
        for name in LEVELS:
            levels[name].append([row[name] for row in rows])
        errors["bayes_loss_se"].append(population.loss_se)
        errors["match_weight_se"].append(population.match_weight_se)
        errors["top1_se"].append(population.top1_se)
        scale.append(float((value_map**2).mean()))
        correlation.append(float(np.trace(task.C) / task.d_in))

    def label(dims: tuple[str, ...], values: Any, text: str) -> tuple:
        return dims, np.asarray(values), {"long_name": text, "units": "1"}

    sections = tasks.values()
    return xr.Dataset(
        {name: label(("task", "sequences"), levels[name], text) for name, text in LEVELS.items()}
        | {name: label(("task",), errors[name], text) for name, text in ERRORS.items()}
        | {
            "noise_floor": label(
                ("task",), [s.sigma_noise**2 for s in sections], "variance of the targets' noise"
            ),
            "value_scale": label(("task",), scale, "mean squared entry of the value map"),
        },
        coords={
            "task": label(("task",), list(tasks), "task"),
            "sequences": label(("sequences",), list(SEQUENCES), "sequences"),
            "T": label(("task",), [s.T for s in sections], "context length T"),
            "d_in": label(("task",), [s.d_in for s in sections], "token dimension d_in"),
            "c": label(("task",), [np.nan if s.c is None else s.c for s in sections], "c, where C = I/c²"),
            "correlation": label(("task",), correlation, "correlation of query and match, mean over entries"),
        },
    )
