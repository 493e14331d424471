"""Controls of the claims about runs and about the task: models and data of which they must not hold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.changes import chain, hold_first, replace_variables, swap_roles, with_values
from onset.claims.control import Change, Control
from onset.papers.gmc.selection import SCORES, emergence_steps, take_levels

Inputs = Mapping[str, xr.Dataset]
ENDS = {"final_loss": "test_loss", "final_PTH": "PTH", "final_IH_MC": "IH_MC"}
"""What is measured on all test sequences at the end, and the curve that has it before training."""


def _start_at_the_end(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    if "final_loss" not in runs:
        return runs
    return runs.assign({end: with_values(runs[end], runs[of].isel(step=0)) for end, of in ENDS.items()})


UNTRAINED = Control(
    "untrained",
    "every record, map and final measurement is the one before training",
    chain(_start_at_the_end, hold_first("step", "map_step")),
)


def _end_at_the_start(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    return runs.assign({name: with_values(runs[name], runs[name].isel(step=-1)) for name in SCORES})


TRAINED = Control(
    "trained",
    "the scores before training are those at the end",
    lambda role, inputs: inputs[role] if role == "floors" else _end_at_the_start(role, inputs),
)


def warp_scores(factor: float) -> Change:
    """Scores as they are at `factor` times the step; the loss stays."""

    def change(role: str, inputs: Inputs) -> xr.Dataset:
        runs = inputs[role]
        if role == "floors":
            return runs
        at = (factor * runs["step"].values).clip(max=float(runs["step"][-1]))
        return runs.assign({name: with_values(runs[name], runs[name].interp(step=at)) for name in SCORES})

    return change


EARLY = Control("early scores", "heads form twice as early, the loss drops when it did", warp_scores(2.0))
LATE = Control("late scores", "heads form twice as late, the loss drops when it did", warp_scores(0.5))
SLOW = Control(
    "slow",
    "training takes twice the steps",
    lambda role, inputs: (
        inputs[role].assign_coords(step=2 * inputs[role]["step"])
        if "step" in inputs[role].dims
        else inputs[role]
    ),
)


def _approach_exponentially(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    if role == "floors":
        return runs
    levels = take_levels(inputs["floors"], role)
    high, low = float(levels.uniform_loss), float(levels.bayes_loss)
    half = emergence_steps(runs, levels)
    loss = low + (high - low) * 0.5 ** (runs["step"] / half)
    return runs.assign(test_loss=with_values(runs.test_loss, loss))


EXPONENTIAL = Control(
    "exponential",
    "the loss goes from the uniform average to the Bayes floor exponentially, half-way when it was",
    _approach_exponentially,
)


def exchange(first: str, second: str) -> Control:
    """The runs of two settings, and the levels of their tasks, take each other's place."""
    names = {first: second, second: first}

    def change(role: str, inputs: Inputs) -> xr.Dataset:
        if role != "floors":
            return inputs[names.get(role, role)]
        floors = inputs["floors"]
        if not set(names) <= set(floors["task"].values.tolist()):
            return floors
        return floors.assign_coords(task=[names.get(str(task), str(task)) for task in floors["task"].values])

    return Control(f"{first} for {second}", f"the runs of `{first}` and `{second}` are exchanged", change)


DEEP = Control("two layers", "the runs of one layer are those of two", swap_roles(depth1="base"))


def _tell_match(role: str, inputs: Inputs) -> xr.Dataset:
    floors = inputs[role]
    if role != "floors":
        return floors
    return floors.assign(bayes_loss=with_values(floors.bayes_loss, floors.noise_floor))


TOLD = Control("match told", "the Bayes predictor knows the match: its loss is the noise", _tell_match)


def _predict_zero(role: str, inputs: Inputs) -> xr.Dataset:
    floors = inputs[role]
    if role != "floors":
        return floors
    return floors.assign(uniform_loss=floors.zero_loss)


ZERO = Control("zero predictor", "the level of the plateau is that of predicting zero", _predict_zero)
ALL_ON_MATCH = Control(
    "all on the match",
    "the best head has all of its attention on the match's successor",
    replace_variables("runs", final_IH_MC=xr.ones_like),
)
OTHER_MATCH = Control(
    "shuffled matches",
    "each sequence has the match of another",
    replace_variables("test", match=lambda match: match.roll(sample=1)),
)
NEVER_FIRST = Control(
    "uneven matches",
    "the first token is never the match, the second twice as often",
    replace_variables("test", match=lambda match: match.clip(min=1)),
)


def _drop_query_noise(role: str, inputs: Inputs) -> xr.Dataset:
    test = inputs[role]
    tokens = test["tokens"].values.astype(np.float64)
    tokens[:, -1] = tokens[np.arange(len(tokens)), test["match"].values] @ test["C"].values.T
    return test.assign(tokens=test["tokens"].copy(data=tokens.astype(test["tokens"].dtype)))


NO_NOISE = Control("query without noise", "the query is C times its match, nothing added", _drop_query_noise)
