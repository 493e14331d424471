"""Means of Langevin chains with their Monte Carlo errors, diagnostics, and comparison with other chains."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.papers.copyhead.phases import COPYING_ABOVE, TRAPPED_BELOW
from onset.sampling.diagnostics import diagnose_convergence, find_standard_error

QUANTITIES = ("pooling", "copy", "s2", "test_loss")


def summarise_chains(dataset: xr.Dataset) -> xr.Dataset:
    """The chains of one run (chain, P, record) with their summaries over kept records.

    Adds mean and error (quantity, P), over chains that are not trapped, error being the Monte Carlo
    standard error of the mean; r_hat, ess_bulk and ess_tail (quantity, P) over all chains; trapped (chain,
    P), where the mean of cG sign(c1) of linear attention is below -0.05; and copying (chain, P), the share
    of records whose copy order parameter is above 0.35.  Quantities are |c1| and cG sign(c1) for linear
    attention, a1 and aG for softmax, s2 and the test loss.  In a coexistence region R-hat far above 1, and a
    large error, are right: chains sit in different phases.
    """
    kept = dataset.isel(record=dataset["kept"].values).rename(record="step_")
    kept = kept.drop_vars("step").rename(step_="step").astype(np.float64)
    linear = dataset["attention"].item() == "linear"
    sign = np.sign(kept["pooling"]) if linear else 1.0
    if not linear:
        kept["pooling"] = kept["pooling"].round(4)  # rows sum to 1: its rounding is no fluctuation
    draws = xr.concat(
        [kept["pooling"] * sign, kept["copy"] * sign, kept["s2"], kept["test_loss"]],
        _label("quantity", QUANTITIES),
        coords="minimal",
    )
    copy = draws.sel(quantity="copy", drop=True)
    trapped = (copy.mean("step") < TRAPPED_BELOW) & linear
    with np.errstate(invalid="ignore"):  # a1 of softmax attention is constant
        diagnosed = diagnose_convergence(draws.drop_vars([n for n in draws.coords if n not in draws.dims]))
    mean, error = _average(draws, trapped)
    added = {
        "mean": (mean, "mean over chains that are not trapped"),
        "error": (error, "Monte Carlo standard error of the mean"),
        "r_hat": (diagnosed["r_hat"], "rank-normalised split R-hat"),
        "ess_bulk": (diagnosed["ess_bulk"], "effective sample size, bulk"),
        "ess_tail": (diagnosed["ess_tail"], "effective sample size, tails"),
        "trapped": (trapped, "trapped in the state with c1 cG < 0"),
        "copying": (
            (copy > COPYING_ABOVE).mean("step"),
            f"share of records with copying above {COPYING_ABOVE}",
        ),
    }
    return dataset.assign({name: _finish(values, text) for name, (values, text) in added.items()})


def compare_means(dataset: xr.Dataset, reference: xr.Dataset) -> xr.Dataset:
    """A summarised run with the means of other chains of the same attention at the same P.

    `reference` is joined chains as `sample_posterior` returns them.  Adds reference_mean, reference_error
    and deviation (quantity, P): the difference of the means in units of both errors together.  NaN where
    the reference has no such P.
    """
    names = {"c1": "pooling", "cG": "copy", "a1": "pooling", "aG": "copy", "step": "record"}
    chains = reference[[n for n in ("c1", "cG", "a1", "aG", "s2", "test_loss") if n in reference]]
    chains = chains.rename({old: new for old, new in names.items() if old in chains.variables})
    chains = chains.assign_coords(
        step=("record", chains["record"].values), attention=((), dataset["attention"].item())
    )
    common = [P for P in dataset["P"].values if P in chains["P"].values]
    found = summarise_chains(chains.sel(P=common))[["mean", "error"]].reindex(P=dataset["P"])
    difference = (dataset["mean"] - found["mean"]) / np.hypot(dataset["error"], found["error"])
    return dataset.assign(
        reference_mean=_finish(found["mean"], "mean of the reference chains"),
        reference_error=_finish(found["error"], "Monte Carlo standard error of the reference mean"),
        deviation=_finish(difference, "difference from the reference in units of both errors"),
    )


def _average(draws: xr.DataArray, trapped: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Mean and error (quantity, P) over chains that are not trapped; NaN where all are."""
    template = draws.isel(chain=0, step=0, drop=True).transpose("quantity", "P")
    mean, error = xr.full_like(template, np.nan), xr.full_like(template, np.nan)
    for j in range(template.sizes["P"]):
        free = draws.isel(P=j, chain=np.flatnonzero(~trapped.isel(P=j).values))
        if free.sizes["chain"]:
            mean[:, j] = free.mean(("chain", "step")).values
            error[:, j] = [find_standard_error(free.sel(quantity=q)) for q in QUANTITIES]
    return mean, error


def _finish(values: xr.DataArray, text: str) -> xr.DataArray:
    bare = values.drop_vars([n for n in values.coords if n not in values.dims])
    dims = [d for d in ("chain", "quantity", "P") if d in bare.dims]
    bare = bare.transpose(*dims)
    if bare.dtype != bool:
        bare = bare.astype(np.float32)
    bare.attrs = {"long_name": text, "units": "1"}
    return bare


def _label(name: str, values: tuple[str, ...]) -> xr.DataArray:
    return xr.DataArray(list(values), dims=name, name=name, attrs={"long_name": name, "units": "1"})
