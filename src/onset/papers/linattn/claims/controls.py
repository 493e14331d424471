"""Controls of the claims about linear attention: models that never learned, theories with other constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from onset.claims.changes import (
    hold_first,
    replace_variables,
    scale_variables,
    swap_roles,
    with_values,
)
from onset.claims.control import Change, Control

Inputs = Mapping[str, xr.Dataset]

UNTRAINED = Control(
    "untrained",
    "every record is the one before training",
    hold_first("epoch", "snapshot", but=("theory", "flow", "sets")),
)


def lengthen_context(theory: xr.Dataset, factor: float) -> xr.Dataset:
    """Theory of the query loss for contexts that are `factor` times as long: terms in 1/N divided by it.

    Changes a_d = λ_d² c_d, the map 1/(λ_d c_d), head values and Eq. 19's plateaus; all else stays.
    Source: docs/theory/linattn.md.
    """
    c = 1 + (theory.c_factor - 1) / factor
    late = 1 / (theory.eigenvalue * c)
    learned = (theory.eigenvalue / c).fillna(0.0).cumsum("direction").transpose("task", "direction").values
    learned = np.concatenate([np.zeros((len(learned), 1)), learned], axis=1)
    levels = theory.eigenvalue.sum("direction").values[:, None] - learned
    plateaus = theory.plateau_loss.transpose("task", "plateau")
    return theory.assign(
        squared_eigenvalue=with_values(theory.squared_eigenvalue, theory.eigenvalue**2 * c),
        late_map=with_values(theory.late_map, late),
        value=with_values(theory.value, np.cbrt(late)),
        plateau_loss=plateaus.copy(data=np.where(np.isnan(plateaus.values), np.nan, levels)),
    )


LONG_CONTEXT = Control(
    "twice the context",
    "the theory of contexts that are twice as long: half its terms in 1/N",
    lambda role, inputs: lengthen_context(inputs[role], 2.0) if role == "theory" else inputs[role],
)


def _take_query_loss(role: str, inputs: Inputs) -> xr.Dataset:
    found = inputs[role]
    if role != "theory":
        return found
    levels = with_values(found.next_token_plateau_loss, found.plateau_loss)
    return found.assign(next_token_plateau_loss=levels)


QUERY_LOSS = Control("query's loss", "the levels are those of the loss of the query alone", _take_query_loss)
SMALLER_MAP = Control(
    "smaller map", "the theory's map is a fifth smaller", scale_variables("theory", late_map=0.8)
)
OTHER_RATE = Control(
    "other rate",
    "growth at the rate of tr Λ² in place of |Λ²|_F",
    lambda role, inputs: (
        inputs[role].assign(
            growth_rate=with_values(inputs[role].growth_rate, (inputs[role].eigenvalue ** 2).sum("direction"))
        )
        if role == "theory"
        else inputs[role]
    ),
)
ROOT_OF_N = Control(
    "root of N",
    "the two predictions approach each other as the root of 1/N",
    replace_variables("theory", regression_distance=np.sqrt),
)


def _slow_flow(factor: float) -> Change:
    def change(role: str, inputs: Inputs) -> xr.Dataset:
        if role != "flow":
            return inputs[role]
        return inputs[role].assign_coords(time=factor * inputs[role]["time"])

    return change


SLOW_FLOW = Control("slower flow", "the flow takes a twentieth longer", _slow_flow(1.05))
SLOWER_FLOW = Control("much slower flow", "the flow takes a quarter longer", _slow_flow(1.25))
SLOW_SCALAR = Control(
    "slower equation", "the scalar equation takes a fifth longer", scale_variables("flow", ode_time=1.2)
)
LATE_PREDICTION = Control(
    "late prediction",
    "the first drop is predicted a twentieth later",
    scale_variables("flow", first_drop_predicted=1.05),
)


def _predict_next_head(role: str, inputs: Inputs) -> xr.Dataset:
    flow = inputs[role]
    if role != "flow":
        return flow
    heads = inputs["population"].sizes["head"]
    return flow.assign(
        winner_predicted=with_values(flow.winner_predicted, (flow.winner_predicted + 1) % heads)
    )


NEXT_HEAD = Control("next head", "the head after the predicted one is predicted", _predict_next_head)
LATE_RUN = Control(
    "slower run",
    "steps take a quarter longer",
    lambda role, inputs: (
        inputs[role].assign_coords(time_per_epoch=1.25 * inputs[role]["time_per_epoch"])
        if role == "runs"
        else inputs[role]
    ),
)


def roll_members(role: str, *names: str) -> Change:
    """Variables of a role rolled along `seed`: each seed has those of another."""
    return replace_variables(role, **dict.fromkeys(names, _roll))


def _roll(variable: xr.DataArray) -> xr.DataArray:
    return variable.roll(seed=1)


OTHER_SETS = Control(
    "other sets",
    "each seed's plateaus are compared with the set of another seed",
    roll_members("sets", "S_reduced", "b_reduced", "c_reduced"),
)
OTHER_MAPS = Control("other maps", "each seed has the maps of another", roll_members("runs", "A"))


def _change_MLP(change: Callable[[xr.DataArray], xr.DataArray]) -> Change:
    def changed(role: str, inputs: Inputs) -> xr.Dataset:
        runs = inputs[role]
        if role != "runs":
            return runs
        return runs.assign(
            loss=with_values(runs.loss, runs.loss.where(runs.model != "mlp", change(runs.loss)))
        )

    return changed


OTHER_SET = Control(
    "other sets", "the MLP's loss is that of another seed, on another set", _change_MLP(_roll)
)
SLOW_MLP = Control(
    "slower MLP",
    "the MLP takes a twentieth longer",
    _change_MLP(lambda loss: loss.interp(epoch=loss["epoch"] / 1.05)),
)


def _start_elsewhere(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    if role != "runs":
        return runs
    found = {}
    for name, dim in {"v": "epoch", "keys": "snapshot", "queries": "snapshot"}.items():
        first = (
            runs[dim] == runs[dim][0]
            if dim in runs.coords
            else xr.DataArray(np.arange(runs.sizes[dim]) == 0, dims=dim)
        )
        found[name] = with_values(runs[name], runs[name].where(~first, runs[name].roll(seed=1)))
    return runs.assign(found)


PREDICTED_ELSEWHERE = Control(
    "other starts", "times and heads are predicted from the start of another seed", _start_elsewhere
)


def _network_of_another_seed(role: str, inputs: Inputs) -> xr.Dataset:
    if role != "network":
        return inputs[role]
    runs = inputs["runs"]
    return runs.assign(v=with_values(runs.v, runs.v.roll(head=1)))


OTHER_NETWORK = Control(
    "values exchanged", "the network's output weights are those of the next head", _network_of_another_seed
)


def hold_weights(role: str, *names: str) -> Change:
    """Some weights stay as they were before training, while the map and the loss are those of the run."""
    first = hold_first("epoch", "snapshot", only=(role,))

    def change(given: str, inputs: Inputs) -> xr.Dataset:
        if given != role:
            return inputs[given]
        held = first(given, {given: inputs[given][list(names)]})
        return inputs[given].assign({name: with_values(inputs[given][name], held[name]) for name in names})

    return change


KEYS_AT_START = Control(
    "keys at the start",
    "keys stay as they were before training, all else is the trained model's",
    hold_weights("population", "keys"),
)
VALUES_AT_START = Control(
    "values at the start",
    "values stay as they were before training, all else is the trained model's",
    hold_weights("population", "v"),
)


def _equal_heads(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    if role not in ("runs", "population") or "keys" not in runs:
        return runs
    at = abs(runs.v).isel(epoch=-1, drop=True).fillna(0).argmax("head")
    names = ("v", "keys", "queries")
    return runs.assign({name: with_values(runs[name], runs[name].isel(head=at)) for name in names})


EQUAL_HEADS = Control("equal heads", "every head is the one that ends with the largest value", _equal_heads)


def _add_squares(role: str, inputs: Inputs) -> xr.Dataset:
    found = inputs[role]
    if "drift_value" not in found:
        return found
    if role == "flow":
        v = inputs["population" if "population" in inputs else "runs"].v
        return found.assign(drift_value=xr.full_like(found.drift_value, 2 * float((v**2).max())))
    squares = (found.v.astype(np.float64) ** 2).fillna(0).max("head")
    change = 2 * abs(squares - squares.isel(epoch=0, drop=True))
    return found.assign(drift_value=with_values(found.drift_value, change))


SUM_OF_SQUARES = Control(
    "sum of squares",
    "the sum of the squared weights in place of their difference, which the flow conserves",
    _add_squares,
)


def exchange_runs(*roles: str, coordinate: str, reverse: bool) -> Change:
    """A setting of the runs moved on to other runs of the same model.

    Each of its sizes becomes the next larger one and the largest the least; with `reverse` they change order.
    """

    def change(role: str, inputs: Inputs) -> xr.Dataset:
        runs = inputs[role]
        if role not in roles:
            return runs
        found = np.array(runs[coordinate].values)
        for name in np.unique(runs["model"].values):
            at = np.flatnonzero((runs["model"].values == name) & (found > 0))
            sizes = np.unique(found[at])
            new = sizes[::-1] if reverse else np.roll(sizes, -1)
            found[at] = new[np.searchsorted(sizes, found[at])]
        return runs.assign_coords({coordinate: ("run", found)})

    return change


RANKS_EXCHANGED = Control(
    "ranks exchanged",
    "runs pass for those of the next larger rank, the largest for the least",
    exchange_runs("runs", "population", coordinate="rank_of", reverse=False),
)
STARTS_EXCHANGED = Control(
    "starts exchanged",
    "the runs from the smallest start pass for those from the largest, and so on",
    exchange_runs("runs", coordinate="init_std", reverse=True),
)
MODELS_EXCHANGED = Control(
    "models exchanged",
    "merged and separate key and query are exchanged",
    swap_roles(merged="separate", separate="merged"),
)
SHARES_EXCHANGED = Control(
    "shares exchanged",
    "the runs at share p pass for those at 1 - p",
    lambda role, inputs: (
        inputs[role].assign_coords(share=inputs[role]["share"].values[::-1])
        if role == "runs"
        else inputs[role]
    ),
)


def _end_at_the_floor(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    if role != "runs":
        return runs
    theory = inputs["theory"]
    floors = theory.plateau_loss.min("plateau").sel(task=runs["task"])
    last = runs["epoch"] == runs["epoch"][-1]
    return runs.assign(loss=with_values(runs.loss, runs.loss.where(~last, floors)))


AT_THE_FLOOR = Control("at the floor", "the loss ends at that of all directions", _end_at_the_floor)
