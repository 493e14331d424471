"""Measures that claims of several figures share: differences over P, rows of attention, chains."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.copyhead.selection import copied_weights, free_attention, mean_and_sd


def list_P(values: Any) -> str:
    """Values of P for a detail text: `P = 40, 60`."""
    return "P = " + ", ".join(f"{value:g}" for value in np.atleast_1d(values))


def take_largest(values: xr.DataArray, where: xr.DataArray, region: str) -> Measured:
    """The largest of `values` (P,) over the P of a region, and where it is; NaN values are passed over.

    `where` is (P,) and true inside the region, which `region` names for the reader.
    """
    inside = values.where(where).dropna("P")
    if inside.sizes["P"] == 0:
        return Measured(None, absent=f"no sampled P {region}")
    worst = int(np.argmax(inside.values))
    detail = f"largest at P = {inside.P.values[worst]:g} of {list_P(inside.P.values)}"
    return Measured(float(inside[worst]), detail)


def compare_means(
    means: xr.DataArray,
    expected: xr.DataArray,
    where: xr.DataArray,
    region: str,
    tolerance: float,
    free: xr.DataArray | None = None,
) -> Measured:
    """Largest difference over a region of P between the mean over chains and what is expected there.

    means, free  (chain, P); chains that are not free are left out and counted in the detail
    expected     (P,)
    Undecided where, at some P of the region, two standard errors of the mean over chains exceed the
    tolerance: the chains then do not tell a difference of that size.
    """
    mean, sd = mean_and_sd(means, free)
    count = means.sizes["chain"] if free is None else free.sum("chain")
    found = take_largest(abs(mean - expected.values), where, region)
    if found.absent:
        return found
    left_out = 0 if free is None else int((~free).where(where, False).sum())
    detail = found.detail + (f"; {left_out} trapped chains left out" if left_out else "")
    error = (2 * sd / np.sqrt(count)).fillna(np.inf).where(where, 0.0)
    loose = error.P.values[error.values > tolerance]
    undecided = (
        f"two standard errors over chains exceed {tolerance:g} at {list_P(loose)}" if len(loose) else ""
    )
    return Measured(found.value, detail, undecided)


def compare_rows(
    sgld: xr.Dataset, where: xr.DataArray, region: str, free: xr.DataArray | None = None
) -> Measured:
    """Largest standard deviation over query rows of the chain-averaged copy entry, over a region of P."""
    spread = [float(np.std(copied_weights(free_attention(sgld, P, free)))) for P in sgld.P.values]
    return take_largest(xr.DataArray(spread, coords={"P": sgld.P}), where, region)


def agree_chains(sgld: xr.Dataset, quantity: str, where: xr.DataArray, region: str) -> Measured:
    """Largest split R-hat of a quantity over a region of P; the fewest effective samples in the detail."""
    found = take_largest(sgld.r_hat.sel(quantity=quantity).astype(np.float64), where, region)
    if found.absent:
        return found
    fewest = float(sgld.ess_bulk.sel(quantity=quantity).where(where).min())
    return Measured(found.value, f"{found.detail}; at least {fewest:.0f} effective samples")
