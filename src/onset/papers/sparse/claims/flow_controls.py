"""Controls of the claims about the flows: other laws than those of the theory."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.changes import (
    chain,
    hold_first,
    replace_variables,
    reverse_along,
    scale_variables,
    with_values,
)
from onset.claims.control import Control

Inputs = Mapping[str, xr.Dataset]

START = Control("start", "every record is that of the start", hold_first("time"))
BACKWARDS = Control(
    "backwards",
    "losses and potentials run backwards in time",
    chain(
        reverse_along("time", "flow", "loss"),
        reverse_along("time", "sweep", "loss"),
        reverse_along("time", "ideal", "potential"),
        scale_variables("ideal", coupled_rise=-1.0),
    ),
)
OTHER_ORDER = Control(
    "other order",
    "features are learned in the opposite order",
    reverse_along("feature", "sweep", "half_time"),
)
NO_DIPS = Control(
    "no dips", "no head has a negative component", replace_variables("sweep", dip=lambda dip: dip.clip(min=0))
)
ONE_HEAD = Control(
    "one head",
    "the head of the first feature delivers all",
    replace_variables("sweep", owner=lambda owner: owner.isel(feature=0, drop=True)),
)
LESS_NOISE = Control(
    "less noise",
    "stages come three times as late, as from a smaller start",
    scale_variables("sweep", half_time=3.0),
)
NO_LEAD = Control("no lead", "the first feature trails by its lead", scale_variables("ideal", margin=-1.0))
SUMMED = Control(
    "heads summed",
    "the norm of all heads' V together in place of one head's",
    lambda role, inputs: (
        inputs[role].assign(norm=inputs[role].norm * inputs["sweep"].sizes["head"])
        if role == "ideal"
        else inputs[role]
    ),
)


def _escape_at_constant_rate(role: str, inputs: Inputs) -> xr.Dataset:
    escape = inputs[role]
    if role != "escape":
        return escape
    log = np.log10(escape["noise"])
    share = (log - log.max()) / (log.min() - log.max())
    half = escape.half_time
    first, last = (half.isel(noise=int(at), drop=True) for at in (log.argmax(), log.argmin()))
    return escape.assign(half_time=(first + (last - first) * share).transpose(*half.dims))


CONSTANT_RATE = Control(
    "constant rate",
    "heads grow apart at a constant rate: the time itself is affine in the logarithm of the noise",
    _escape_at_constant_rate,
)


def _trace_next_head(role: str, inputs: Inputs) -> xr.Dataset:
    stages = inputs[role]
    if role != "stages":
        return stages
    flow = inputs["flow"]
    attention = flow["s"].isel(position=slice(flow.sizes["feature"])).drop_vars("head", errors="ignore")
    free = stages.free_head.astype(int)
    apart = attention.isel(head=free) - attention.isel(head=(free + 1) % flow.sizes["head"])
    distance = ((apart**2).mean(["time", "position"]) ** 0.5).where(stages.free_head >= 0)
    return stages.assign(rms_s=with_values(stages.rms_s, distance))


NEXT_HEAD = Control(
    "next head", "attention is compared with that of the head after the free one", _trace_next_head
)
SLOWER = Control(
    "slower stage", "the cooperative flow takes a fifth longer", scale_variables("stages", half_time=1.2)
)
SHALLOW = Control("half the dip", "the ensemble dips half as deep", scale_variables("stages", dip=0.5))
SHORT = Control(
    "short of the feature",
    "the free head delivers a hundredth too little",
    scale_variables("stages", product=0.99),
)


def _stay_behind(role: str, inputs: Inputs) -> xr.Dataset:
    ideal = inputs[role]
    if role != "ideal":
        return ideal
    delivered = ideal.strength.sel(feature=ideal["stage"]).drop_vars("feature")
    return ideal.assign(slaving=ideal.slaving + delivered)


NOT_FOLLOWING = Control(
    "not following",
    "the other heads are off rest by what the free head delivers, as if they had not moved",
    _stay_behind,
)
OPPOSITE = Control(
    "opposite sign", "the potential has the opposite sign", scale_variables("ideal", potential=-1.0)
)
