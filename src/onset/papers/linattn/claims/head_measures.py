"""What the claims about heads of rank above one measure (figures 11 and 12)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.linattn.carriers import expect_carried_values, list_carried
from onset.papers.linattn.claims.level_measures import accept_error, level_errors
from onset.papers.linattn.claims.measures import Inputs, lack_run, take_runs, theory_of
from onset.papers.linattn.selection import learned_directions

Carried = list[list[tuple[int, ...]]]


def ranked_runs(inputs: Inputs) -> list[xr.Dataset]:
    """Runs of ATTN_S."""
    return take_runs(inputs["runs"], model="separate")


def carried_by_seed(run: xr.Dataset, theory: xr.Dataset) -> Carried:
    """What each head of each seed carries at the end."""
    return [list_carried(run.isel(seed=k), theory) for k in range(run.sizes["seed"])]


def accept_value_error(samples: int) -> float:
    """Accepted relative error of a head's value on sets of that many sequences; 0 is the population.

    That of rank one on the population, 1 %; on smaller sets three standard errors of (λ_D/a_D)^(1/3), the
    least certain: 0.6 % at P = 5000 and D = 4, from the variance L_D/(P a_D λ_D) of A_DD.
    """
    return 0.01 if samples == 0 or samples >= 80000 else 0.02


def group_values(inputs: Inputs) -> Measured:
    """Largest over ranks of the median of | |v|/(sum of λ/a)^(1/3) - 1 |, over what P allows.

    Over the heads that carry directions.
    """
    worst, texts = [], []
    for run in ranked_runs(inputs):
        theory, errors = theory_of(inputs, run), []
        for seed, carried in enumerate(carried_by_seed(run, theory)):
            v = abs(run.v.isel(seed=seed, epoch=-1)).values
            errors.append(np.abs(v / expect_carried_values(carried, theory) - 1))
        found = np.concatenate(errors)
        found = found[np.isfinite(found)]
        if len(found):
            median = float(np.median(found))
            worst.append(median / accept_value_error(int(run.samples)))
            text = f"{100 * median:.2g} % of {len(found)}, worst {100 * found.max():.2g} %"
            texts.append(f"R = {int(run.rank_of)}: {text}")
    if not worst:
        return Measured(None, absent="no head carries a direction")
    return Measured(max(worst), "; ".join(texts))


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
        if not bool(learned_directions(run, theory_of(inputs, run)).any()):
            continue
        size = (run.v.astype(np.float64) ** 2).max(["epoch", "head"])
        drift = xr.concat([run.drift_key_query, run.drift_value], "which").max(["which", "epoch"])
        found[int(run.rank_of)] = float((drift / size).max())
    if not found:
        return lack_run("that learns a direction")
    return Measured(max(found.values()), ", ".join(f"R = {R}: {value:.2g}" for R, value in found.items()))


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
