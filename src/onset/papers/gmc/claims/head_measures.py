"""What the claims about single heads and layers measure (figures 7 and 8)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.measures.emergence import progress_at
from onset.papers.gmc.claims.measures import Inputs, emergence_of, take_median, take_worst
from onset.papers.gmc.selection import NAMES, score_progress, take_levels

BEFORE, AFTER = 0.75, 1.25
"""Shares of the emergence step that lie as far before and after it as steps 120 and 200 do of 160."""
FORMED = ("PTH", "IH_MC")


def progress_around(inputs: Inputs, share: float) -> dict[str, xr.DataArray]:
    """Share of the way of the best heads' PTH and IH-MC at a share of the emergence step: (seed,) each."""
    levels = take_levels(inputs["floors"], "runs")
    at = share * emergence_of(inputs, "runs")
    found = score_progress(inputs["runs"], levels)
    return {NAMES[name]: progress_at(found[name], at) for name in FORMED}


def formed_before(inputs: Inputs) -> Measured:
    """The larger of the best heads' shares of the way before the drop."""
    return take_worst(progress_around(inputs, BEFORE))


def formed_after(inputs: Inputs) -> Measured:
    """The smaller of the best heads' shares of the way after the drop."""
    return take_worst(progress_around(inputs, AFTER), largest=False)


def layer_gap(inputs: Inputs, name: str, layer: int) -> Measured:
    """Best score in one layer less the best in all others, at the end (-1 is the last layer)."""
    scores = inputs["runs"][f"final_{name}"].astype(np.float64).max("head")
    if scores.sizes["layer"] < 2:
        return Measured(None, absent="one layer at this scale")
    own = scores.isel(layer=layer)
    rest = scores.drop_isel(layer=layer).max("layer")
    detail = f"{float(own.median()):.3f} there, {float(rest.median()):.3f} elsewhere"
    return take_median(own.drop_vars("layer") - rest, detail)


def followed_rows(inputs: Inputs, layer: int, offset: str) -> Measured:
    """Share of queries whose largest weight is on a subdiagonal, of the layer's best head, on the last map.

    `offset` is "previous", the first subdiagonal of all queries but the first, or "repeat", subdiagonal K - 1
    of the second copy's queries.
    """
    runs = inputs["runs"]
    if "attention" not in runs:
        return Measured(None, absent="no attention maps at this scale")
    maps = runs.attention.isel(map_step=-1, layer=layer).transpose("seed", "head", "query", "key").values
    length = maps.shape[-1]
    K = length // 2
    back, first = (1, 1) if offset == "previous" else (K - 1, K)
    queries = np.arange(first, length)
    hits = (maps.argmax(-1)[..., queries] == queries - back).mean(-1)
    best = xr.DataArray(hits.max(-1), dims="seed", coords={"seed": runs["seed"]})
    return take_median(best, f"{len(queries)} queries, step {int(runs['map_step'][-1])}")
