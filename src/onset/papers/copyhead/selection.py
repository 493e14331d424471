"""Which chains, seeds, steps and values of P enter means, for figures and claims alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from onset.papers.copyhead.phases import TRAPPED_BELOW
from onset.store.attributes import parameters_of

CROSSOVER_FROM = 0.1
COPYING_FROM = 0.5
"""Ratio <cG>/<c1> at which linear attention passes from pooling to the crossover, and from it to copying."""


def kept_means(chains: xr.DataArray) -> xr.DataArray:
    """Mean over the steps after burn-in: (chain, P, step) -> (chain, P), float64."""
    kept = chains["kept"].values.astype(bool)
    return chains.isel(step=np.flatnonzero(kept)).astype(np.float64).mean("step", keep_attrs=True)


def signed_means(sgld: xr.Dataset) -> xr.Dataset:
    """Posterior means of linear attention by chain: c1 = <|c1|>, cG = <cG sign(c1)>, test_loss, and `free`.

    All are (chain, P).  `free` is False for chains in the metastable state with c1 cG < 0.
    """
    cG = kept_means(sgld.cG * np.sign(sgld.c1))
    trapped = sgld.trapped.astype(bool) if "trapped" in sgld else cG < TRAPPED_BELOW
    c1 = kept_means(abs(sgld.c1))
    return xr.Dataset({"c1": c1, "cG": cG, "test_loss": kept_means(sgld.test_loss), "free": ~trapped})


def signed_final(adam: xr.Dataset) -> xr.Dataset:
    """Last record of linear attention by seed: c1 = |c1|, cG = cG sign(c1), test_loss, loss, and `free`.

    All are (seed, P).  `free` is False for seeds that ended in the cluster of higher loss, c1 cG < 0.
    """
    last = adam.isel(epoch=-1, drop=True).astype(np.float64)
    cG = last.cG * np.sign(last.c1)
    data = {"c1": abs(last.c1), "cG": cG, "test_loss": last.test_loss, "loss": last.loss}
    return xr.Dataset({**data, "free": ~(cG < TRAPPED_BELOW)})


def mean_and_sd(values: xr.DataArray, free: xr.DataArray | None = None) -> tuple[xr.DataArray, xr.DataArray]:
    """Mean and standard deviation (one less in the denominator) over members, those not `free` left out.

    `values` and `free` are (chain or seed, P); both results are (P,).  The mean is NaN where nobody is free,
    the deviation where fewer than two are.
    """
    chosen = values.astype(np.float64) if free is None else values.astype(np.float64).where(free)
    members = next(str(d) for d in chosen.dims if d != "P")
    count = chosen.notnull().sum(members)
    return chosen.mean(members), chosen.std(members, ddof=1).where(count > 1)


def theory_at(curve: xr.DataArray, P: Any) -> xr.DataArray:
    """A theory curve (..., P) at given P, linear between points of its grid; NaN outside, and where either
    neighbour does not exist."""
    return curve.interp(P=np.atleast_1d(np.asarray(P, dtype=np.float64)))


def stage_of(theory: xr.Dataset, P: float) -> str:
    """The stage of linear attention at P by the dressed theory: trivial, pooling, crossover or copying."""
    dressed = theory.sel(theory="dressed")
    if float(dressed.onset) > P:
        return "trivial"
    ratio = float(theory_at(dressed.cG, P)[0] / theory_at(dressed.c1, P)[0])
    return "pooling" if ratio < CROSSOVER_FROM else "crossover" if ratio < COPYING_FROM else "copying"


def free_attention(sgld: xr.Dataset, P: int, free: xr.DataArray | None = None) -> xr.DataArray:
    """Mean attention (query, key) over kept steps and chains at P, chains that are not `free` left out."""
    maps = sgld.attention_mean.sel(P=P).astype(np.float64)
    if free is not None:
        maps = maps.where(free.sel(P=P))
    return maps.mean("chain", keep_attrs=True)


def copied_weights(attention: xr.DataArray) -> np.ndarray:
    """Entries A[a, a-1], the weight on the key to copy, of an attention matrix (query, key): (query,)."""
    return np.roll(attention.transpose("query", "key").values, 1, axis=1).diagonal()


def name_parameters(dataset: xr.Dataset) -> str:
    """Sizes and priors of a result in one line, as far as it carries them; spaces inside do not break."""
    found = parameters_of(dataset)
    values = {**found.get("task", {}), **found.get("prior", {})}
    symbols = {"L": "L", "V": "V", "g_OV": "g_OV", "v": "v", "sigma2": "σ²"}
    return ", ".join(f"{symbol}\xa0=\xa0{values[key]:g}" for key, symbol in symbols.items() if key in values)


def base_settings(dataset: xr.Dataset) -> dict[str, float]:
    """v, g_OV and L of a result, as far as it carries its parameters."""
    found = parameters_of(dataset)
    values = {**found.get("task", {}), **found.get("prior", {})}
    return {name: float(values[name]) for name in ("v", "g_OV", "L") if name in values}


def select_run(runs: xr.Dataset, label: str, *names: str) -> xr.Dataset:
    """One run with the P that it has, those at which the named variables are not missing."""
    run = runs.sel(run=label)
    there = run[names[0]].notnull().any([d for d in run[names[0]].dims if d != "P"])
    return run.isel(P=np.flatnonzero(there.values))


def list_runs(runs: xr.Dataset, **settings: Any) -> list[str]:
    """Labels of the runs with given settings, such as `attention="linear"`, in their order."""
    return [
        str(label)
        for label in runs.run.values
        if all(str(runs[name].sel(run=label).values) == value for name, value in settings.items())
    ]


def final_order(run: xr.Dataset) -> xr.Dataset:
    """|pooling|, copying times the sign of pooling, of each seed at the end: (seed, P)."""
    last = run.isel(epoch=-1, drop=True)
    sign = np.where(last.pooling < 0, -1.0, 1.0)
    return xr.Dataset({"pooling": abs(last.pooling), "copy": last["copy"] * sign})
