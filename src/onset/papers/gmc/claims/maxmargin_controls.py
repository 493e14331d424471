"""Controls of the claims about the max margin: other laws than those of the theory."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.changes import hold_first, replace_variables, reverse_along, scale_variables
from onset.claims.control import Control

START = Control("first step", "every record is that of the first iteration", hold_first("iteration"))
REFUSED = Control(
    "negative products",
    "on no seed's data are the products of assumption A4 positive",
    replace_variables("theory", holds=lambda holds: holds & (holds["assumption"] != "A4")),
)
TWICE = Control(
    "whole logarithm",
    "the norm is compared with |W_hat| log tau, without its ½",
    scale_variables("descent", growth_ratio=0.5),
)
ONE_RISE = Control(
    "one rise",
    "the loss of every seed rises at one iteration",
    replace_variables("descent", rises=lambda rises: rises + 1),
)
SQUARE_ROOT = Control(
    "square root",
    "the loss falls as the square root of the law",
    replace_variables("descent", loss_per_decade=lambda fall: fall**0.5),
)
JUST_DIVERGES = Control(
    "not summable",
    "the squared gradient falls as 1/tau",
    replace_variables("descent", gradient2_slope=lambda slope: slope / 2),
)
TWICE_MARGIN = Control(
    "twice |W_hat|", "the theory's |W_hat| is twice as large", scale_variables("theory", norm=2.0)
)
EVEN_DOUBLINGS = Control("even doublings", "every doubling adds what the first does", hold_first("doubling"))


def _grow_as_logarithm(sums: xr.DataArray) -> xr.DataArray:
    growth = sums["iteration"].copy(data=1 + np.log(sums["iteration"].values))
    return growth * sums.isel(iteration=0, drop=True)


LOGARITHM = Control(
    "logarithmic sums",
    "the partial sums grow as log tau: what they sum falls as 1/tau",
    replace_variables(
        "descent",
        gradient2_sum=_grow_as_logarithm,
        h_deviation_sum=_grow_as_logarithm,
        limit_deviation_sum=_grow_as_logarithm,
    ),
)
BACKWARDS = Control(
    "backwards", "the tail proxy runs backwards in time", reverse_along("iteration", "descent", "tail_proxy")
)
MISALIGNED = Control(
    "opposite signs",
    "aligned pairs are misaligned and the other way round",
    replace_variables("descent", misaligned_share=lambda share: 1 - share),
)
