"""Controls of the claims about order parameters against P: other laws or constants, one of the runs off."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from onset.claims.changes import replace_variables, scale_variables, swap_roles, with_values
from onset.claims.control import Change, Control
from onset.papers.copyhead.claims.controls import ORDER, ZERO

Inputs = Mapping[str, xr.Dataset]


def _in_roles(change: Callable[[xr.Dataset], xr.Dataset], *roles: str) -> Change:
    return lambda role, inputs: change(inputs[role]) if role in roles else inputs[role]


def _in_theory(form: str, factor: float) -> Callable[[xr.DataArray], xr.DataArray]:
    return lambda variable: variable * xr.where(variable["theory"] == form, factor, 1.0)


LATE_ONSET = Control(
    "late onset", "the theory's onset is a tenth larger", scale_variables("theory", onset=1.1)
)
LINEAR_LAW = Control(
    "linear law", "the theory's c1 is squared: it grows as P - P1", replace_variables("theory", c1=np.square)
)


def _jump(sgld: xr.Dataset) -> xr.Dataset:
    late = float(sgld.P.median()) < sgld.P
    return sgld.assign(cG=with_values(sgld.cG, xr.where(late, 0.6, 0.0) * np.sign(sgld.c1)))


COPYING_JUMPS = Control(
    "copying jumps", "cG of every chain is 0, and 0.6 in the upper half of the grid", _in_roles(_jump, "sgld")
)


def _only_role(wanted: str) -> Change:
    return lambda role, inputs: ZERO.change(role, inputs) if role == wanted else inputs[role]


ADAM_ZERO = Control("Adam at zero", "order parameters of every seed of Adam are 0", _only_role("adam"))
COPY_ZERO = Control(
    "copy start at zero", "chains from copying have order parameters of 0", _only_role("from_copy")
)
LOSS_ONE = Control(
    "untrained loss",
    "chains have the loss of a network that outputs 0",
    _in_roles(lambda sgld: sgld.assign(test_loss=xr.ones_like(sgld.test_loss)), "sgld", "from_prior"),
)
UNMIXED = Control(
    "unmixed chains",
    "R-hat is a fifth larger everywhere",
    _in_roles(lambda sgld: sgld.assign(r_hat=1.2 * sgld.r_hat), "sgld", "from_prior", "from_copy"),
)
ROWS_OFF = Control(
    "rows not normalised", "rows of attention sum to 1.01", scale_variables("from_prior", a1=1.01)
)
HALF_JUMP = Control(
    "half the jump", "aG on both sides of P_c is half as large", scale_variables("theory", aG_at_P_c=0.5)
)


def _rise_evenly(dataset: xr.Dataset) -> xr.Dataset:
    share = (dataset.P - dataset.P[0]) / float(dataset.P[-1] - dataset.P[0])
    return dataset.assign(aG=with_values(dataset.aG, share))


CONTINUOUS = Control(
    "even rise",
    "aG of every chain and seed grows evenly with P, from 0 to 1",
    _in_roles(_rise_evenly, "from_prior", "from_copy", "adam"),
)
LOW_BARE = Control(
    "low bare theory",
    "the bare aG is a twentieth smaller",
    replace_variables("theory", aG=_in_theory("bare", 0.95)),
)
LATE_TRANSITION = Control("late transition", "P_c is half as large again", scale_variables("theory", P_c=1.5))
EARLY_TRANSITION = Control("early transition", "P_c is a fifth smaller", scale_variables("theory", P_c=0.8))
ONE_START = Control(
    "one start", "chains from copying are those from the prior", swap_roles(from_copy="from_prior")
)
LATE_ADAM = Control(
    "late Adam",
    "Adam needs P that are larger by 0.3",
    _in_roles(lambda adam: adam.assign_coords(P=1.3 * adam.P), "adam"),
)


def _spread_order(adam: xr.Dataset) -> xr.Dataset:
    apart = xr.where(adam.seed % 2 == 0, 0.0, 0.1)
    names = [name for name in ORDER if name in adam.data_vars and "epoch" in adam[name].dims]
    return adam.assign({name: with_values(adam[name], adam[name] + apart) for name in names})


TWO_STATES = Control(
    "two states",
    "every other seed has order parameters that are 0.1 larger",
    _in_roles(_spread_order, "adam"),
)
