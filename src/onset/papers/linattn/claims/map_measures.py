"""What the claims about the maps of trained attention measure (figures 9 and 10)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.linattn.claims.measures import Inputs, find_run, lack_run, take_runs, theory_of
from onset.papers.linattn.maps import (
    compare_maps,
    drop_epochs,
    early_map,
    early_snapshot,
    flattest_epochs,
    late_map,
    measure_distance,
)

PAPER = "paper"
"""Run on the population from the published start."""


def merged_runs(inputs: Inputs) -> list[xr.Dataset]:
    """Runs of ATTN_M whose inputs are not white: there the two directions are one."""
    runs = take_runs(inputs["runs"], model="merged")
    return [run for run in runs if float(np.ptp(theory_of(inputs, run).eigenvalue.values)) > 0]


def _list(values: dict[str, np.ndarray]) -> str:
    return "; ".join(f"{name}: {found.min():.4f} to {found.max():.4f}" for name, found in values.items())


def before_the_drop(run: xr.Dataset, matrices: xr.DataArray) -> xr.DataArray:
    """Of matrices (seed, snapshot, ...) those of each seed's last snapshot before its loss falls."""
    chosen = [early_snapshot(run.isel(seed=k)) for k in range(run.sizes["seed"])]
    return matrices.isel(snapshot=xr.DataArray(chosen, dims="seed"))


def early_cosine(inputs: Inputs) -> Measured:
    """Smallest cosine of A with Λ² on the plateau, over runs of ATTN_M and seeds."""
    found = {}
    for run in merged_runs(inputs):
        target = early_map(theory_of(inputs, run))
        found[str(run.run.values)] = compare_maps(before_the_drop(run, run.A), target).values
    if not found:
        return lack_run("of ATTN_M on inputs that are not white")
    return Measured(min(float(values.min()) for values in found.values()), _list(found))


def late_cosine(inputs: Inputs) -> Measured:
    """Smallest cosine of A with the optimal map at the end, over runs of ATTN_M and seeds."""
    found = {}
    for run in merged_runs(inputs):
        target = late_map(theory_of(inputs, run))
        found[str(run.run.values)] = compare_maps(run.A.isel(snapshot=-1), target).values
    if not found:
        return lack_run("of ATTN_M on inputs that are not white")
    return Measured(min(float(values.min()) for values in found.values()), _list(found))


def late_distance(inputs: Inputs) -> Measured:
    """Largest relative Frobenius distance of A from the optimal map at the end."""
    found = {}
    for run in merged_runs(inputs):
        theory = theory_of(inputs, run)
        size = float(np.sqrt((theory.late_map**2).sum()))
        distance = measure_distance(run, theory, run.sizes["direction"]).isel(epoch=-1)
        found[str(run.run.values)] = distance.values / size
    if not found:
        return lack_run("of ATTN_M on inputs that are not white")
    return Measured(max(float(values.max()) for values in found.values()), _list(found))


def turned_away(inputs: Inputs) -> Measured:
    """Fall of the cosine of A with Λ² from 1 to the end, over that to the optimal map's; farthest from 1."""
    found, between = {}, np.nan
    for run in merged_runs(inputs):
        theory = theory_of(inputs, run)
        between = float(compare_maps(early_map(theory), late_map(theory)))
        cosine = compare_maps(run.A.isel(snapshot=-1), early_map(theory))
        found[str(run.run.values)] = (1 - cosine.values) / (1 - between)
    if not found:
        return lack_run("of ATTN_M on inputs that are not white")
    shares = np.concatenate(list(found.values()))
    farthest = float(shares[np.argmax(np.abs(shares - 1))])
    return Measured(farthest, f"cosine between the two {between:.4f}; {_list(found)}")


def head_cosine(inputs: Inputs, early: bool) -> Measured:
    """Smallest |cosine| of any head's U with Λ² on the plateau, or with A at the end."""
    found = {}
    for run in merged_runs(inputs):
        if early:
            cosine = compare_maps(before_the_drop(run, run.U), early_map(theory_of(inputs, run)))
        else:
            cosine = compare_maps(run.U.isel(snapshot=-1), run.A.isel(snapshot=-1))
        found[str(run.run.values)] = abs(cosine).values
    if not found:
        return lack_run("of ATTN_M on inputs that are not white")
    return Measured(min(float(values.min()) for values in found.values()), _list(found))


GROWING = (1e-7, 1e-2)
"""Sizes of A, over that of the optimum, between which growth is exponential: above the noise of the start."""


def growth_error(inputs: Inputs) -> Measured:
    """Largest |measured growth rate of A on the plateau/(2 |Λ²|_F) - 1| of population runs.

    Fitted to the logarithm of the part of A along Λ² against t/tau.
    """
    found = []
    for run in merged_runs(inputs):
        if int(run.samples):
            continue
        theory = theory_of(inputs, run)
        squared = theory.eigenvalue**2
        part = (run.A_diagonal.astype(np.float64) * squared).sum("direction") / np.sqrt((squared**2).sum())
        part = part / float(np.sqrt((theory.late_map**2).sum()))
        times = run.epoch.values * float(run.time_per_epoch)
        for curve in part.transpose("seed", "epoch").values:
            inside = (curve > GROWING[0]) & (curve < GROWING[1])
            if inside.sum() >= 5:
                slope = np.polyfit(times[inside], np.log(curve[inside]), 1)[0]
                found.append(slope / (2 * float(theory.growth_rate)))
    if not found:
        return lack_run("of ATTN_M on the population with a long enough plateau")
    ratios = np.array(found)
    text = f"measured over expected {ratios.min():.4f} to {ratios.max():.4f}, {len(ratios)} seeds"
    return Measured(float(np.abs(ratios - 1).max()), text)


def regression_distance(inputs: Inputs, learned: int) -> Measured:
    """Median over population runs of the relative distance of A from Eq. 22 with `learned` directions.

    In the Frobenius norm, where the loss is flattest on each run's plateau; runs without it are left out.
    """
    run = find_run(inputs["population"], PAPER)
    if run is None:
        return lack_run(PAPER)
    theory = theory_of(inputs, run)
    if learned > run.sizes["direction"]:
        return Measured(None, absent=f"there are {run.sizes['direction']} directions")
    at = flattest_epochs(run, theory).isel(direction=learned - 1).dropna("seed")
    if at.sizes["seed"] == 0:
        return Measured(None, absent=f"no run reaches m = {learned}")
    distance = measure_distance(run, theory, learned).sel(seed=at.seed).sel(epoch=at.astype(int))
    size = float(np.sqrt((theory.late_map[:learned] ** 2).sum()))
    found = distance.values / size
    text = f"{len(found)} of {run.sizes['seed']} runs; a tenth above {np.quantile(found, 0.9):.2g}"
    return Measured(float(np.median(found)), text)


def regression_limit(inputs: Inputs) -> Measured:
    """Power of 1/N with which predictions by Eq. 22 come to those of regression on principal components.

    Of the theory's Monte Carlo estimates for the run's task: mean over m of the slope of -ln(distance) over
    ln(N), between the two longest contexts.
    """
    run = find_run(inputs["population"], PAPER)
    if run is None:
        return lack_run(PAPER)
    distance = theory_of(inputs, run).regression_distance
    if distance.sizes["factor"] < 2 or not bool(distance.notnull().all()):
        return Measured(None, absent="the theory has no estimates for this task (theory.draws is 0)")
    last = distance.isel(factor=slice(-2, None))
    slopes = -np.diff(np.log(last.transpose("factor", "direction").values), axis=0)[0]
    slopes = slopes / float(np.log(last.factor[1] / last.factor[0]))
    now = ", ".join(f"{float(value):.2g}" for value in distance.isel(factor=0))
    text = f"relative squared difference at the paper's N, m = 1 to {len(slopes)}: {now}"
    return Measured(float(slopes.mean()), text)


def heads_grown(inputs: Inputs) -> Measured:
    """Share of (run, d) at which exactly d heads have grown at t_d: |v| above half the least v*."""
    runs = [
        run for run in (find_run(inputs["population"], PAPER), *take_runs(inputs["runs"])) if run is not None
    ]
    agreed, each = [], []
    for run in runs:
        theory = theory_of(inputs, run)
        times = drop_epochs(run, theory).transpose("seed", "direction")
        now = []
        for seed, d in np.argwhere(times.notnull().values):
            v = abs(run.v.isel(seed=seed).sel(epoch=float(times.values[seed, d]), method="bfill"))
            now.append(int((v > 0.5 * float(theory.value.min())).sum()) == d + 1)
        agreed += now
        each.append(f"{run.run.values}: {sum(now)} of {len(now)}")
    if not agreed:
        return Measured(None, absent="no direction is learned")
    return Measured(float(np.mean(agreed)), "; ".join(each))
