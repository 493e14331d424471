"""Controls of the claims about trained models: runs that never learned, or learned otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.changes import chain, hold_first, reverse_along, with_values
from onset.claims.control import Change, Control

Inputs = Mapping[str, xr.Dataset]
ORDERED = {"mass": "group", "value_alignment": "group", "KL": "prefix", "KL_learned": "context"}
"""What follows the order of the groups, and the dimension along which it does."""


def spread_maps(role: str, inputs: Inputs) -> xr.Dataset:
    """Every attention map even over the positions that a query sees; maps that are missing stay so."""
    runs = inputs[role]
    if "attention" not in runs:
        return runs
    window = runs.sizes["key"] - runs.sizes["query"] + 1
    allowed = np.arange(runs.sizes["key"]) < np.arange(runs.sizes["query"])[:, None] + window
    even = xr.DataArray(allowed / allowed.sum(-1, keepdims=True), dims=("query", "key"))
    found = with_values(runs.attention, even)
    return runs.assign(attention=found.where(runs.attention.notnull()))


UNTRAINED = Control(
    "untrained",
    "every record is the one before training, every attention map is even",
    chain(hold_first("step"), spread_maps),
)
EVEN_MAPS = Control("even maps", "every attention map is even", spread_maps)


def _reverse_groups(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    if "step" not in runs.dims:
        return runs
    for name, dim in ORDERED.items():
        if name in runs:
            runs = reverse_along(dim, role, name)(role, {role: runs})
    return runs


REVERSED = Control("groups reversed", "the groups are learned in the opposite order", _reverse_groups)


def _specialise_at_once(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    if "mass" not in runs:
        return runs
    mass = runs.mass
    there = mass.notnull().any([dim for dim in mass.dims if dim not in ("run", "step")])
    ends = [int(np.flatnonzero(row)[-1]) for row in there.transpose("run", "step").values]
    at = {"run": np.arange(len(ends)), "step": ends}
    last = mass.isel({dim: xr.DataArray(index, dims="run") for dim, index in at.items()})
    return runs.assign(mass=with_values(mass, last).where(mass.notnull()))


AT_ONCE = Control(
    "specialised at once", "heads attend from the start as they do at the end", _specialise_at_once
)


def exchange_runs(role: str, first: str, second: str) -> Change:
    """The records of two runs take each other's place; the settings stay where they were."""

    def change(given: str, inputs: Inputs) -> xr.Dataset:
        runs = inputs[given]
        labels = [str(label) for label in runs["run"].values] if given == role else []
        if first not in labels or second not in labels:
            return runs
        names = {first: second, second: first}
        order = [labels.index(names.get(label, label)) for label in labels]
        moved = runs.isel(run=order)
        return runs.assign({name: runs[name].copy(data=moved[name].values) for name in runs.data_vars})

    return change


def exchange(role: str, first: str, second: str) -> Control:
    """A control in which two runs of a role are exchanged."""
    return Control(
        f"{first} for {second}",
        f"the runs {first} and {second} are exchanged",
        exchange_runs(role, first, second),
    )


def hurry(role: str, label: str, factor: float = 1.5) -> Control:
    """A control in which one run acquires its groups sooner, by a factor of the steps."""

    def change(given: str, inputs: Inputs) -> xr.Dataset:
        runs = inputs[given]
        if given != role or label not in runs["run"].values:
            return runs
        at = (factor * runs["step"].values).clip(max=float(runs["steps"].sel(run=label)))
        early = runs.mass.sel(run=label).interp(step=at).assign_coords(step=runs["step"])
        return runs.assign(mass=with_values(runs.mass, runs.mass.where(runs["run"] != label, early)))

    return Control("sooner", f"the run {label} learns {factor:g} times as fast", change)


def _raise_first_KL(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    if "KL" not in runs:
        return runs
    return runs.assign(KL=with_values(runs.KL, runs.KL + (runs["prefix"] == runs["prefix"].min())))


FAR_FROM_FIRST = Control(
    "far from the first",
    "the divergence from the predictor of I(1) is a nat larger all along, as if above the others",
    _raise_first_KL,
)


def _exchange_sizes(role: str, inputs: Inputs) -> xr.Dataset:
    runs = inputs[role]
    if "samples" not in runs.coords:
        return runs
    samples = runs["samples"].values.astype(np.float64)
    order = np.argsort(np.where(samples == 0, np.inf, samples), kind="stable")
    exchanged = runs["samples"].values.copy()
    exchanged[order] = exchanged[order[::-1]]
    return runs.assign_coords(samples=("run", exchanged))


SIZES_EXCHANGED = Control(
    "sizes exchanged",
    "the runs on the smallest dataset pass for those on the largest, and so on",
    _exchange_sizes,
)


def _draw_evenly(role: str, inputs: Inputs) -> xr.Dataset:
    levels = inputs[role]
    if role != "levels":
        return levels
    even = levels["d"].copy(data=np.log(levels["d"].values))
    return levels.assign(entropy=with_values(levels.entropy, even).where(levels.entropy.notnull()))


EVEN_CHAIN = Control("even chain", "the chain draws every token evenly", _draw_evenly)
