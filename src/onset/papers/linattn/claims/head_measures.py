"""What the claims about heads of rank above one measure (figures 11 and 12)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.measures.drops import half_drop_step, map_curves
from onset.papers.linattn.carriers import expect_carried_values, list_carried
from onset.papers.linattn.claims.level_measures import accept_error, level_errors
from onset.papers.linattn.claims.measures import Inputs, half_drop_times, lack_run, take_runs, theory_of
from onset.papers.linattn.selection import has_run

Carried = list[list[tuple[int, ...]]]


def ranked_runs(inputs: Inputs) -> list[xr.Dataset]:
    """Runs of ATTN_S."""
    return take_runs(inputs["runs"], model="separate")


def carried_by_seed(run: xr.Dataset, theory: xr.Dataset) -> Carried:
    """What each head of each seed carries at the end."""
    return [list_carried(run.isel(seed=k), theory) for k in range(run.sizes["seed"])]


def group_values(inputs: Inputs) -> Measured:
    """Largest over ranks of the median of | |v|/(sum of λ/a)^(1/3) - 1 | over heads that carry directions."""
    medians, texts = [], []
    for run in ranked_runs(inputs):
        theory, errors = theory_of(inputs, run), []
        for seed, carried in enumerate(carried_by_seed(run, theory)):
            v = abs(run.v.isel(seed=seed, epoch=-1)).values
            errors.append(np.abs(v / expect_carried_values(carried, theory) - 1))
        found = np.concatenate(errors)
        found = found[np.isfinite(found)]
        if len(found):
            medians.append(float(np.median(found)))
            worst = 100 * found.max()
            texts.append(
                f"R = {int(run.rank_of)}: {100 * medians[-1]:.2g} % of {len(found)}, worst {worst:.2g} %"
            )
    if not medians:
        return Measured(None, absent="no head carries a direction")
    return Measured(max(medians), "; ".join(texts))


def grouping(inputs: Inputs) -> Measured:
    """Smallest over ranks of the share of runs whose heads carry 1..R, R+1..2R, and so on."""
    shares = {}
    for run in ranked_runs(inputs):
        R, D = int(run.rank_of), run.sizes["direction"]
        expected = {tuple(range(first, min(first + R, D))) for first in range(0, D, R)}
        found = [{one for one in heads if one} for heads in carried_by_seed(run, theory_of(inputs, run))]
        shares[R] = float(np.mean([one == expected for one in found]))
    if not shares:
        return lack_run("of ATTN_S")
    seeds = inputs["runs"].sizes["seed"]
    detail = ", ".join(f"R = {R}: {share:.2g}" for R, share in shares.items())
    return Measured(min(shares.values()), f"{detail}, of {seeds} runs each; otherwise heads share directions")


def levels_at_multiples(inputs: Inputs) -> Measured:
    """Largest over ranks and multiples m of R (and D) of the median error of Eq. 19, over what P allows."""
    worst, texts = [], []
    for run in ranked_runs(inputs):
        R, D = int(run.rank_of), run.sizes["direction"]
        at = sorted({*range(R, D, R), D})
        errors = (
            abs(level_errors(run, theory_of(inputs, run))).sel(plateau=at).median("seed").dropna("plateau")
        )
        if errors.size:
            worst.append(float(errors.max()) / accept_error(int(run.samples)))
            each = ", ".join(
                f"m = {int(m)}: {100 * float(errors.sel(plateau=m)):.2g} %" for m in errors.plateau.values
            )
            texts.append(f"R = {R}, P = {int(run.samples)}: {each}")
    if not worst:
        return Measured(None, absent="no run stays at a multiple of its rank")
    return Measured(max(worst), "; ".join(texts))


def flow_timing(inputs: Inputs) -> Measured:
    """Largest |t_run/t_flow - 1| of the half-way time of the loss, over ranks and integrated seeds."""
    flow, found = inputs["flow"], {}
    for run in ranked_runs(inputs):
        label = str(run.run.values)
        if not has_run(flow, label):
            continue
        one = flow.sel(run=label)
        expected = map_curves(one.loss, half_drop_step, dim="time").values
        times = half_drop_times(run.sel(seed=flow.seed))
        found[int(run.rank_of)] = float(np.nanmax(np.abs(times / expected - 1)))
    if not found:
        return lack_run("that was integrated")
    return Measured(max(found.values()), ", ".join(f"R = {R}: {100 * e:.2g} %" for R, e in found.items()))


def flow_drift(inputs: Inputs) -> Measured:
    """Largest change along the exact flow of K K^T - Q Q^T and of the sum over r of |k_r|^2 less v^2."""
    flow = inputs["flow"]
    found = {name: float(flow[name].max()) for name in ("drift_key_query", "drift_value")}
    text = f"key against query {found['drift_key_query']:.2g}, key against value {found['drift_value']:.2g}"
    return Measured(max(found.values()), text)


def descent_drift(inputs: Inputs) -> Measured:
    """The same along gradient descent, over the largest v^2 of the run; largest over ranks and seeds."""
    found = {}
    for run in ranked_runs(inputs):
        size = (run.v.astype(np.float64) ** 2).max(["epoch", "head"])
        drift = xr.concat([run.drift_key_query, run.drift_value], "which").max(["which", "epoch"])
        found[int(run.rank_of)] = float((drift / size).max())
    if not found:
        return lack_run("of ATTN_S")
    return Measured(max(found.values()), ", ".join(f"R = {R}: {value:.2g}" for R, value in found.items()))


def times_differ(inputs: Inputs) -> Measured:
    """Smallest over ranks of the latest over the earliest half-way time among starts."""
    found = {}
    for run in ranked_runs(inputs):
        times = half_drop_times(run)
        if np.isfinite(times).sum() > 1:
            found[int(run.rank_of)] = float(np.nanmax(times) / np.nanmin(times))
    if not found:
        return Measured(None, absent="there is one start only")
    return Measured(min(found.values()), ", ".join(f"R = {R}: {ratio:.3g}" for R, ratio in found.items()))


def ends_agree(inputs: Inputs) -> Measured:
    """Largest over ranks of the median over starts of |last loss/floor - 1|, over what P allows."""
    found = {}
    for run in ranked_runs(inputs):
        floor = float(theory_of(inputs, run).plateau_loss[-1])
        error = float(abs(run.loss.isel(epoch=-1) / floor - 1).median())
        found[int(run.rank_of)] = error / accept_error(int(run.samples))
    if not found:
        return lack_run("of ATTN_S")
    return Measured(max(found.values()), ", ".join(f"R = {R}: {value:.2g}" for R, value in found.items()))


def heads_differ(inputs: Inputs) -> Measured:
    """Largest over ranks of the number of ways in which directions are given to heads, among starts."""
    found = {}
    for run in ranked_runs(inputs):
        if run.sizes["seed"] > 1:
            ways = {tuple(heads) for heads in carried_by_seed(run, theory_of(inputs, run))}
            found[int(run.rank_of)] = len(ways)
    if not found:
        return Measured(None, absent="there is one start only")
    seeds = inputs["runs"].sizes["seed"]
    detail = ", ".join(f"R = {R}: {ways} in {seeds}" for R, ways in found.items())
    return Measured(float(max(found.values())), detail)
