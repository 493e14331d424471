"""What the claims about clusters of losses measure: linear attention, many seeds of Adam (figure 6)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.copyhead.claims.measures import list_P, take_largest
from onset.papers.copyhead.selection import mean_and_sd, signed_final

Inputs = Mapping[str, xr.Dataset]


def _trapped(free: xr.DataArray) -> str:
    counts = [f"{int((~free.sel(P=P)).sum())} at P = {P:g}" for P in free.P.values]
    return f"seeds with opposite signs, of {free.sizes['seed']}: {', '.join(counts)}"


def cluster_loss(inputs: Inputs, state: str) -> Measured:
    """Largest difference of a cluster's mean final test loss from that of the MAP theory's minimum."""
    seeds = signed_final(inputs["adam"])
    member = seeds.free if state == "global" else ~seeds.free
    mean, _ = mean_and_sd(seeds.test_loss, member)
    expected = inputs["theory"].test_loss.sel(theory="map", state=state).sel(P=mean.P)
    found = take_largest(abs(mean - expected.values), mean.P > 0, f"with seeds beside the {state} minimum")
    if found.absent and state == "metastable" and bool(expected.notnull().any()):
        return Measured(None, undecided="no seed ended in the second cluster")
    return found


def cluster_gap(inputs: Inputs) -> Measured:
    """Smallest gap between the losses of both clusters over the theory's, at P with seeds in both."""
    seeds = signed_final(inputs["adam"])
    high = seeds.test_loss.where(~seeds.free).min("seed")
    low = seeds.test_loss.where(seeds.free).max("seed")
    both = (high - low).dropna("P")
    if both.sizes["P"] == 0:
        return Measured(None, undecided="no P has seeds in both clusters")
    loss = inputs["theory"].test_loss.sel(theory="map", P=both.P)
    expected = (loss.sel(state="metastable") - loss.sel(state="global")).values
    ratio = both / expected
    return Measured(float(ratio.min()), f"{_trapped(seeds.free)}; smallest of {list_P(both.P.values)}")


def spread_in_cluster(inputs: Inputs) -> Measured:
    """Largest standard deviation of the final test loss within a cluster of two seeds or more."""
    seeds = signed_final(inputs["adam"])
    spreads = [mean_and_sd(seeds.test_loss, member)[1] for member in (seeds.free, ~seeds.free)]
    worst = xr.concat(spreads, "cluster").max("cluster")
    return take_largest(worst, worst.P > 0, "of the grid")


def trapped_before(inputs: Inputs) -> Measured:
    """Smallest P with seeds of opposite signs over the P from which the MAP theory has that minimum."""
    free = signed_final(inputs["adam"]).free
    trapped = free.P.values[~free.all("seed").values]
    start = float(inputs["theory"].metastable_from.sel(theory="map"))
    if len(trapped) == 0:
        return Measured(None, undecided="no seed ended with opposite signs")
    if not np.isfinite(start):
        return Measured(0.0, f"{_trapped(free)}; the theory has no such minimum at these P")
    return Measured(
        float(trapped.min()) / start, f"{_trapped(free)}; the minimum exists from P = {start:.1f}"
    )


def share_trapped(inputs: Inputs) -> Measured:
    """Largest share of seeds that end with opposite signs, over P."""
    free = signed_final(inputs["adam"]).free
    share = (~free).mean("seed")
    return Measured(float(share.max()), _trapped(free))
