"""Convergence diagnostics of Markov chains."""

from __future__ import annotations

import xarray as xr


def diagnose_convergence(draws: xr.DataArray) -> xr.Dataset:
    """R-hat and effective sample sizes of a quantity, for every entry of its other dimensions.

    draws      dimensions chain and step (draws in order), and any others, which the results keep

    r_hat      rank-normalised split R-hat: the larger of that of the ranks and that of the folded ranks;
               near 1 where chains agree, and far above it where they sit in different phases
    ess_bulk   effective number of independent draws for the centre of the distribution
    ess_tail   the same for its 5 % and 95 % quantiles, the smaller of the two

    NaN where all draws are equal or there are fewer than 4 of them.  Source: Vehtari et al., Bayesian
    Analysis 16 (2021) 667, Sections 4.1 to 4.3, as ArviZ does it.
    """
    import arviz as az

    data = draws.rename(step="draw").to_dataset(name="value")
    results = {
        "r_hat": az.rhat(data, method="rank"),
        "ess_bulk": az.ess(data, method="bulk"),
        "ess_tail": az.ess(data, method="tail"),
    }
    return xr.Dataset({name: result["value"] for name, result in results.items()})


def find_standard_error(draws: xr.DataArray) -> float:
    """Monte Carlo standard error of the mean of all draws (chain, step): sd/sqrt(effective sample size).

    Chains in different phases give few effective draws, so that the error is then large, as it should be.
    NaN where all draws are equal or there are fewer than 4 of them.  Source: Vehtari et al. (2021), Section
    4.2, as ArviZ does it.
    """
    import arviz as az

    return float(az.mcse(draws.transpose("chain", "step").values, method="mean"))
