"""Controls of the copy head's claims: heads that learned nothing or too much, and theories that are off."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import xarray as xr

from onset.claims.changes import replace_variables, scale_variables, with_values
from onset.claims.control import Control

Inputs = Mapping[str, xr.Dataset]

ORDER = ("c1", "cG", "aG", "pooling", "copy", "mean", "copying", "attention", "attention_mean")
"""What is measured of heads."""
MAPS = ("attention", "attention_mean")


def _measured(dataset: xr.Dataset) -> bool:
    return "chain" in dataset.dims or "seed" in dataset.dims


def _each_measured(change: Callable[[xr.Dataset], xr.Dataset]) -> Callable[[str, Inputs], xr.Dataset]:
    return lambda role, inputs: change(inputs[role]) if _measured(inputs[role]) else inputs[role]


def _erase(dataset: xr.Dataset) -> xr.Dataset:
    return dataset.assign({name: 0 * dataset[name] for name in ORDER if name in dataset.data_vars})


ZERO = Control(
    "zero order parameters",
    "every chain and seed has order parameters and attention of 0",
    _each_measured(_erase),
)


def _spread(dataset: xr.Dataset) -> xr.Dataset:
    maps = [name for name in MAPS if name in dataset.data_vars]
    even = {name: with_values(dataset[name], dataset[name].mean("key")) for name in maps}
    return dataset.assign(even)


EVEN = Control("even maps", "every row of every attention map is even", _each_measured(_spread))


def _order_at_the_end(dataset: xr.Dataset) -> xr.Dataset:
    names = [name for name in ORDER if name in dataset.data_vars and "P" in dataset[name].dims]
    return dataset.assign({name: with_values(dataset[name], dataset[name].isel(P=-1)) for name in names})


def _disorder(dataset: xr.Dataset) -> xr.Dataset:
    names = [name for name in ORDER if name in dataset.data_vars and "P" in dataset[name].dims]
    return dataset.assign({name: with_values(dataset[name], dataset[name].isel(P=0)) for name in names})


DISORDERED = Control(
    "disordered at all P", "at every P heads are as at the smallest", _each_measured(_disorder)
)
ORDERED = Control(
    "ordered at all P", "at every P heads are as at the largest", _each_measured(_order_at_the_end)
)


def _transpose(dataset: xr.Dataset) -> xr.Dataset:
    maps = [name for name in MAPS if name in dataset.data_vars]
    return dataset.assign(
        {name: dataset[name].copy(data=dataset[name].transpose(..., "key", "query").values) for name in maps}
    )


FORWARD = Control(
    "next token", "heads attend to the token after instead of before", _each_measured(_transpose)
)


def _pool_with_copying(dataset: xr.Dataset) -> xr.Dataset:
    return dataset.assign(cG=dataset.c1) if "cG" in dataset else dataset


AT_ONCE = Control(
    "copying at once", "linear chains have a cG equal to c1 at every P", _each_measured(_pool_with_copying)
)


def _flatten(role: str, inputs: Inputs) -> xr.Dataset:
    found = inputs[role]
    return found.assign({name: 0 * found[name] for name in found.data_vars})


FLAT = Control("flat landscape", "both actions, and all that is read off them, are 0 everywhere", _flatten)


def _convex(role: str, inputs: Inputs) -> xr.Dataset:
    found = inputs[role]
    bowl = found.c1**2 + found.cG**2
    return found.assign(linear_action=with_values(found.linear_action, bowl))


CONVEX = Control("single well", "the linear action is c1² + cG² at every P", _convex)


def _shift(role: str, **amounts: float) -> Callable[[str, Inputs], xr.Dataset]:
    def add(amount: float) -> Callable[[xr.DataArray], xr.DataArray]:
        return lambda variable: variable + amount

    return replace_variables(role, **{name: add(amount) for name, amount in amounts.items()})


TILTED = Control(
    "tilted",
    "the action at positive c1 is a nat higher than at negative",
    lambda role, inputs: inputs[role].assign(
        linear_action=with_values(
            inputs[role].linear_action, inputs[role].linear_action + (inputs[role].c1 > 0)
        )
    ),
)
NEVER_CROSS = Control(
    "copying never pays",
    "the copy branch is 1000 nats higher",
    replace_variables(
        "landscapes", softmax_minimum=lambda m: m + xr.where(m["branch"] == "copy", 1000.0, 0.0)
    ),
)
NO_BARRIER = Control(
    "no barrier",
    "no unstable saddle above the uniform branch",
    scale_variables("landscapes", softmax_barrier=0.0),
)
SECOND_LOWER = Control(
    "second minimum lower",
    "the action of the minimum with c1 cG < 0 is the global one's, and less",
    replace_variables(
        "landscapes",
        linear_minimum=lambda m: m + xr.where(m["state"] == "metastable", -1e4, 0.0),
    ),
)
MISPLACED = Control(
    "minima misplaced", "the listed minima lie 10 nats too high", _shift("landscapes", linear_minimum=10.0)
)

FOLLOWS = Control(
    "follows the posterior",
    "every seed of Adam on Q, K pools and copies with 0.9",
    lambda role, inputs: (
        inputs[role].assign(
            {
                n: xr.full_like(inputs[role][n], 0.9).where(inputs[role][n].notnull())
                for n in ("pooling", "copy")
            }
        )
        if role == "qk_adam"
        else inputs[role]
    ),
)
ONE_LOSS = Control(
    "one loss",
    "every seed ends with the mean loss of all",
    lambda role, inputs: (
        inputs[role].assign(
            test_loss=with_values(inputs[role].test_loss, inputs[role].test_loss.mean("seed"))
        )
        if "seed" in inputs[role].dims
        else inputs[role]
    ),
)


def _exchange_signs(dataset: xr.Dataset) -> xr.Dataset:
    return dataset.assign(cG=-dataset.cG) if "cG" in dataset else dataset


OTHER_SIGN = Control("other sign", "cG of every seed has the opposite sign", _each_measured(_exchange_signs))
LOSS_OFF = Control(
    "untrained loss",
    "every seed ends with a loss of 1",
    _each_measured(lambda adam: adam.assign(test_loss=xr.ones_like(adam.test_loss))),
)


def _spread_seeds(adam: xr.Dataset) -> xr.Dataset:
    even = xr.where(adam.seed % 2 == 0, 0.0, 0.5)
    return adam.assign(test_loss=with_values(adam.test_loss, adam.test_loss + even))


TWO_LOSSES = Control(
    "two clusters", "every other seed ends with a loss that is 0.5 larger", _each_measured(_spread_seeds)
)


def _smooth_loss(adam: xr.Dataset) -> xr.Dataset:
    line = 1 - (adam.P - adam.P.min()) / (adam.P.max() - adam.P.min())
    return adam.assign(test_loss=with_values(adam.test_loss, line))


GRADUAL_LOSS = Control(
    "gradual loss", "the loss falls on a straight line with P", _each_measured(_smooth_loss)
)

NO_LOOP = Control(
    "one way",
    "the way down is the way up",
    lambda role, inputs: (
        inputs[role].assign(
            {
                n: with_values(inputs[role][n], inputs[role][n].sel(direction="up"))
                for n in ("copy", "copying")
            }
        )
        if role == "hysteresis"
        else inputs[role]
    ),
)
LOOP_EVERYWHERE = Control(
    "loop in linear attention",
    "on every way down cG is 0.1 larger",
    lambda role, inputs: (
        inputs[role].assign(copy=inputs[role]["copy"] + 0.1 * (inputs[role].direction == "down"))
        if role == "hysteresis"
        else inputs[role]
    ),
)


def _scale_P(role: str, inputs: Inputs) -> xr.Dataset:
    sampled = inputs[role]
    return sampled.assign_coords(P=1.5 * sampled.P) if role == "sampled" else sampled


LATE = Control("late transition", "chains change phase at P that are half as large again", _scale_P)


def _merge_starts(role: str, inputs: Inputs) -> xr.Dataset:
    sampled = inputs[role]
    if role != "sampled":
        return sampled
    first: dict[tuple[float, ...], str] = {}
    of = []
    for run in sampled.run.values:
        key = tuple(float(sampled[name].sel(run=run)) for name in ("v", "g_OV", "L"))
        of.append(first.setdefault(key, str(run)))
    return sampled.assign(copying=sampled.copying.copy(data=sampled.copying.sel(run=of).values))


ONE_START = Control("one start", "chains of both starts are those of one", _merge_starts)


def _stay(role: str, inputs: Inputs) -> xr.Dataset:
    sampled = inputs[role]
    if role != "sampled":
        return sampled
    middle = float(sampled.P.mean())
    there = sampled.copying.notnull().any(("run", "chain"))
    share = xr.where(middle < sampled.P, 1.0, 0.0).where(there)
    return sampled.assign(copying=with_values(sampled.copying, share))


UNMOVED = Control("unmoved", "all chains change phase at one P, whatever their settings", _stay)
BARE_HIGHER = Control(
    "fluctuations ignored",
    "the dressed transition is the bare one",
    lambda role, inputs: (
        inputs[role].assign(
            {
                f"P_c_{axis}": with_values(
                    inputs[role][f"P_c_{axis}"], inputs[role][f"P_c_{axis}"].sel(theory="bare")
                )
                for axis in ("v", "g_OV", "L")
            }
        )
        if role == "phase"
        else inputs[role]
    ),
)
LOW_BARRIER = Control(
    "barrier of one size",
    "the barrier and the jump do not depend on L",
    lambda role, inputs: (
        inputs[role].assign(
            {n: with_values(inputs[role][n], inputs[role][n].isel(L=0)) for n in ("barrier_L", "jump_L")}
        )
        if role == "phase"
        else inputs[role]
    ),
)
ONSET_OFF = Control(
    "onset of the leading order",
    "the bare onset is one sequence later",
    _shift("phase", onset_v=1.0, onset_g_OV=1.0, onset_L=1.0),
)
SMALL_JUMP = Control("small jump", "the jump is half as large", scale_variables("phase", jump_L=0.5))
SECOND_JUMP = Control(
    "second jump",
    "the theory's cG jumps from 0.1 to 0.6",
    replace_variables("linear_theory", cG=lambda cG: xr.where(cG > 0.1, 0.6, cG)),
)
COARSE = Control(
    "coarse step",
    "half the step changes every mean by a tenth",
    replace_variables("variants", mean=lambda mean: 1.1 * mean),
)


def _one_row(dataset: xr.Dataset) -> xr.Dataset:
    maps = [name for name in MAPS if name in dataset.data_vars]
    return dataset.assign({name: dataset[name].where(dataset["query"] == 0, 0.0) for name in maps})


ONE_ROW = Control("one row", "only the first query attends to anything", _each_measured(_one_row))
GRADUAL = Control(
    "gradual",
    "at finite width pooling is a quarter of what it is",
    replace_variables("qk_sgld", mean=lambda mean: 0.25 * mean),
)


def _trap(dataset: xr.Dataset) -> xr.Dataset:
    if "cG" not in dataset:
        return dataset
    opposite = -abs(dataset.cG) * xr.where(dataset.c1 < 0, -1.0, 1.0) - 0.1
    changed = dataset.assign(cG=opposite.transpose(*dataset.cG.dims))
    return changed.assign(trapped=xr.ones_like(dataset.trapped)) if "trapped" in dataset else changed


TRAPPED = Control(
    "all trapped", "every linear chain and seed has c1 and cG of opposite signs", _each_measured(_trap)
)


def _trap_first(dataset: xr.Dataset) -> xr.Dataset:
    if "cG" not in dataset:
        return dataset
    trapped, first = _trap(dataset), dataset.P.min() == dataset.P
    names = [name for name in ("cG", "trapped") if name in dataset]
    return dataset.assign({name: xr.where(first, trapped[name], dataset[name]) for name in names})


EARLIER = Control(
    "trapped early", "every seed of the smallest P ends with opposite signs", _each_measured(_trap_first)
)
