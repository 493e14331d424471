"""Theory against experiment: order parameters and test loss at every sampled P (figures 3 and 4).

Chains are compared with the dressed theory, seeds of Adam with the MAP theory; chains and seeds in the
metastable cluster are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import xarray as xr

from onset.claims.theory import Comparison, Point
from onset.papers.copyhead.claims.softmax_window import Inputs, outside_window, single_phase
from onset.papers.copyhead.selection import kept_means, signed_final, signed_means, theory_at

Points = Iterator[Point]


def _each_P(label: str, expected: xr.DataArray, found: xr.DataArray) -> Points:
    """A point for each P of found (member, P) at which the theory (P,) has a number."""
    for P, level in zip(found.P.values, expected.values, strict=True):
        if np.isfinite(level):
            yield Point(f"{label}, P = {P:g}", float(level), found.sel(P=P).values)


def compare_linear_chains(inputs: Inputs, name: str) -> Points:
    """Means of linear attention against the finite-size means; the loss against the dressed curve."""
    chains, theory = signed_means(inputs["sgld"]), inputs["theory"]
    if name == "test_loss":
        expected = theory_at(theory.test_loss.sel(theory="dressed"), chains.P)
    else:
        expected = theory[f"{name}_mean"].interp(P_finite=chains.P.values)
    yield from _each_P("SGLD", expected, chains[name].where(chains.free))


def compare_linear_adam(inputs: Inputs, name: str) -> Points:
    """Adam's last record of linear attention against the MAP theory."""
    seeds = signed_final(inputs["adam"])
    expected = theory_at(inputs["theory"][name].sel(theory="map"), seeds.P)
    yield from _each_P("Adam", expected, seeds[name].where(seeds.free))


def compare_softmax_chains(inputs: Inputs, name: str) -> Points:
    """Means of chains from the prior against the dressed theory, where one phase is stable."""
    means = kept_means(inputs["from_prior"][name])
    yield from _each_P("SGLD", single_phase(inputs, name, means.P), means)


def compare_softmax_adam(inputs: Inputs, name: str) -> Points:
    """Adam's last record of softmax attention against the MAP copy branch, above the coexistence window."""
    final = inputs["adam"][name].isel(epoch=-1).astype(np.float64)
    branch = theory_at(inputs["theory"][name].sel(theory="map", branch="copy"), final.P)
    above = outside_window(inputs, final.P)[1].values
    yield from _each_P("Adam", branch.where(xr.DataArray(above, dims="P")), final)


FIG3 = (
    Comparison("|c1|, finite-size mean", partial(compare_linear_chains, name="c1")),
    Comparison("cG sign(c1), finite-size mean", partial(compare_linear_chains, name="cG")),
    Comparison("test loss, dressed theory", partial(compare_linear_chains, name="test_loss")),
    Comparison("|c1|, MAP theory", partial(compare_linear_adam, name="c1")),
    Comparison("cG sign(c1), MAP theory", partial(compare_linear_adam, name="cG")),
)
FIG4 = (
    Comparison("aG, dressed theory", partial(compare_softmax_chains, name="aG")),
    Comparison("test loss, dressed theory", partial(compare_softmax_chains, name="test_loss")),
    Comparison("aG, MAP copy branch", partial(compare_softmax_adam, name="aG")),
)
