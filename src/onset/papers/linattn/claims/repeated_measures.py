"""What the claims about repeated eigenvalues measure (figure 13)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.linattn.claims.level_measures import accept_error, level_errors, level_steps
from onset.papers.linattn.claims.measures import (
    Inputs,
    count_over_seeds,
    lack_run,
    take_runs,
    tally,
    theory_of,
)
from onset.papers.linattn.selection import measure_contributions


def drops_of_rank_one(inputs: Inputs) -> Measured:
    """Median number of drops of rank-one runs less the number of directions."""
    runs = take_runs(inputs["runs"], model="separate", rank_of=1)
    if not runs:
        return lack_run("of rank one")
    counts = count_over_seeds(runs[0].loss)
    return Measured(float(np.median(counts)) - runs[0].sizes["direction"], tally(counts))


def levels_of_rank_one(inputs: Inputs) -> Measured:
    """Largest over plateaus of the median error of Eq. 19 at rank one, over what P allows."""
    runs = take_runs(inputs["runs"], model="separate", rank_of=1)
    if not runs:
        return lack_run("of rank one")
    errors = abs(level_errors(runs[0], theory_of(inputs, runs[0]))).median("seed").dropna("plateau")
    if errors.size == 0:
        return Measured(None, absent="no plateau was reached")
    each = ", ".join(
        f"m = {int(m)}: {100 * float(errors.sel(plateau=m)):.2g} %" for m in errors.plateau.values
    )
    accepted = accept_error(int(runs[0].samples))
    return Measured(
        float(errors.max()) / accepted, f"P = {int(runs[0].samples)}, accepted {100 * accepted:g} %; {each}"
    )


def pair_gaps(run: xr.Dataset, theory: xr.Dataset) -> np.ndarray:
    """For each seed that learns all directions, the wider gap within a pair over the gap between pairs.

    Gaps are between logarithms of half-way steps; pairs are directions 1, 2 and 3, 4.
    """
    log = np.log(level_steps(run, theory).transpose("seed", "plateau").values)
    gaps = np.diff(log[np.isfinite(log).all(1)], axis=1)
    return np.maximum(gaps[:, 0], gaps[:, 2]) / gaps[:, 1]


def rank_two_pairs(inputs: Inputs) -> Measured:
    """Median of `pair_gaps` over runs of rank two; of rank one in the detail."""
    found = {}
    for rank in (1, 2):
        for run in take_runs(inputs["runs"], model="separate", rank_of=rank):
            if run.sizes["direction"] != 4:
                return Measured(None, absent="pairs are defined for four directions")
            ratios = pair_gaps(run, theory_of(inputs, run))
            if len(ratios):
                found[rank] = ratios
    if 2 not in found:
        return lack_run("of rank two that learns all directions")
    each = ", ".join(f"R = {rank}: {np.median(x):.2g} ({len(x)} runs)" for rank, x in found.items())
    return Measured(float(np.median(found[2])), f"medians, {each}")


def pair_shares(inputs: Inputs) -> Measured:
    """Smaller over both pairs of the median over rank-two runs of the largest part that one head has in it.

    The part of a head is its trace on the eigenspace over that of the optimum, whichever basis of the
    eigenspace was learned.
    """
    runs = take_runs(inputs["runs"], model="separate", rank_of=2)
    if not runs:
        return lack_run("of rank two")
    if runs[0].sizes["direction"] != 4:
        return Measured(None, absent="pairs are defined for four directions")
    late = theory_of(inputs, runs[0]).late_map
    last = (measure_contributions(runs[0]).isel(snapshot=-1) / late).transpose("seed", "head", "direction")
    shares = last.values.reshape(*last.shape[:2], 2, 2).mean(-1).max(1)
    medians = np.median(shares, axis=0)
    text = ", ".join(
        f"{median:.3f}, least {least:.2g}" for median, least in zip(medians, shares.min(0), strict=True)
    )
    return Measured(float(medians.min()), f"medians of {len(shares)} runs by pair: {text}")


def fewer_drops(inputs: Inputs) -> Measured:
    """Mean number of drops at rank one less that at the highest rank."""
    runs = {int(run.rank_of): run for run in take_runs(inputs["runs"], model="separate")}
    if len(runs) < 2:
        return lack_run("of a second rank")
    means = {rank: float(count_over_seeds(run.loss).mean()) for rank, run in sorted(runs.items())}
    detail = ", ".join(f"R = {rank}: {mean:.3g}" for rank, mean in means.items())
    return Measured(means[min(means)] - means[max(means)], f"mean number of drops, {detail}")
