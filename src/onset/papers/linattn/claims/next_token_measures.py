"""What the claims about next-token training measure (figure 7)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.linattn.claims.measures import (
    Inputs,
    count_over_seeds,
    farthest_count,
    lack_run,
    median_plateau_error,
    take_runs,
    tally,
    theory_of,
)
from onset.papers.linattn.selection import as_next_token
from onset.store.attributes import parameters_of


def next_token_theory(inputs: Inputs, run: xr.Dataset) -> xr.Dataset:
    """The theory of a run's task for the next-token loss."""
    return as_next_token(theory_of(inputs, run))


def population_plateaus(inputs: Inputs) -> Measured:
    """Median error of the plateaus' losses of ATTN_S on the population."""
    runs = take_runs(inputs["runs"], model="separate", samples=0)
    if not runs:
        return lack_run("of ATTN_S on the population")
    found = median_plateau_error(runs[0], next_token_theory(inputs, runs[0]))
    scaling = parameters_of(inputs["theory"]).get("next_token", {}).get("scaling", "not stated")
    return Measured(found.value, f"scaling: {scaling}; {found.detail}", found.undecided, found.absent)


def set_plateaus(inputs: Inputs) -> Measured:
    """Median error of the plateaus' losses of ATTN_S on training sets."""
    runs = [run for run in take_runs(inputs["runs"], model="separate") if int(run.samples)]
    if not runs:
        return lack_run("of ATTN_S on a training set")
    return median_plateau_error(runs[0], next_token_theory(inputs, runs[0]))


def merged_drops(inputs: Inputs) -> Measured:
    """Number of drops farthest from 1 of ATTN_M."""
    runs = take_runs(inputs["runs"], model="merged")
    if not runs:
        return lack_run("of ATTN_M")
    counts = np.concatenate([count_over_seeds(run.loss) for run in runs])
    return Measured(farthest_count(counts, 1), tally(counts))


def merged_end(inputs: Inputs) -> Measured:
    """Largest |final loss/floor of Eq. 23 - 1| of ATTN_M."""
    runs = take_runs(inputs["runs"], model="merged")
    if not runs:
        return lack_run("of ATTN_M")
    ends = [r.loss.isel(epoch=-1) / next_token_theory(inputs, r).plateau_loss[-1] for r in runs]
    values = np.concatenate([end.values for end in ends])
    return Measured(float(abs(values - 1).max()), f"ratios {values.min():.3f} to {values.max():.3f}")
