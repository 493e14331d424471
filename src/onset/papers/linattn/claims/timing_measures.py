"""What the claims about times of drops measure: against the flow, and against what the start predicts."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.measures.drops import half_drop_step, map_curves
from onset.papers.linattn.claims.measures import (
    Inputs,
    first_learning_times,
    half_drop_times,
    lack_run,
    take_runs,
    theory_of,
)
from onset.papers.linattn.selection import crossing_epochs, has_run, match_heads
from onset.papers.linattn.theory.heads import Winner, predict_first_drop
from onset.papers.linattn.theory.landscape import describe_query_loss
from onset.papers.linattn.theory.scalar import STEEPEST_SHARE

LAG = 0.005
"""Share of a drop's time by which gradient descent lags the flow, at the rates that figures use."""
PREDICTION = 0.01
"""Share of its time by which the first drop may miss what the start predicts, on the population."""
ERRORS = 2
"""Standard errors of a set that are accepted."""


def force_error(theory: xr.Dataset, samples: int) -> float:
    """Standard error of b_1 = E[y_q z_11] on a set of `samples` sequences, over b_1; 0 for the population.

    Times of first drops go as 1/b_1.  With beta = Lambda w, which leaves out terms of order 1/N, Gaussian
    moments give Var(y_q z_11)/b_1^2 = 8 + (T - lambda_1)/lambda_1.   Source: ours.
    """
    if samples == 0:
        return 0.0
    lam = theory.eigenvalue.values
    return float(np.sqrt((7 + lam.sum() / lam[0]) / samples))


def accept_time_error(run: xr.Dataset, theory: xr.Dataset, exact: float) -> float:
    """Accepted relative error of a drop's time: that of the run's set, and `exact` on the population."""
    return ERRORS * force_error(theory, int(run.samples)) + exact


def flow_timing(inputs: Inputs) -> Measured:
    """Largest |t_run/t_flow - 1| of the half-way time of the loss, over what is accepted.

    Over ranks and integrated seeds of ATTN_S.
    """
    flow, worst, texts = inputs["flow"], [], []
    for run in take_runs(inputs["runs"], model="separate"):
        label = str(run.run.values)
        if not has_run(flow, label):
            continue
        one = flow.sel(run=label)
        expected = map_curves(one.loss, half_drop_step, dim="time").values
        times = half_drop_times(run.sel(seed=flow.seed))
        error = float(np.nanmax(np.abs(times / expected - 1)))
        accepted = accept_time_error(run, theory_of(inputs, run), LAG)
        worst.append(error / accepted)
        texts.append(f"R = {int(run.rank_of)}: {100 * error:.2g} %, accepted {100 * accepted:.2g} %")
    return Measured(max(worst), "; ".join(texts)) if worst else lack_run("that was integrated")


def predict_from_starts(run: xr.Dataset, theory: xr.Dataset) -> list[Winner]:
    """The first head and the time of the first drop that each seed's start predicts."""
    landscape = describe_query_loss(theory.eigenvalue.values, int(theory.context))
    start = run.isel(epoch=0, snapshot=0).transpose("seed", "head", "rank", "direction", ...)
    v, K, Q = (start[name].values.astype(np.float64) for name in ("v", "keys", "queries"))
    return [predict_first_drop(*weights, landscape) for weights in zip(v, K, Q, strict=True)]


def predicted_times(inputs: Inputs) -> Measured:
    """Largest over ranks of the median over starts of |t_1/predicted - 1|, over what is accepted.

    t_1 is the time at which the first direction rises fastest.
    """
    worst, texts = [], []
    for run in take_runs(inputs["runs"], model="separate"):
        theory = theory_of(inputs, run)
        predicted = np.array([winner.time for winner in predict_from_starts(run, theory)])
        found = first_learning_times(run, theory, STEEPEST_SHARE**3).values
        errors = np.abs(found / predicted - 1)
        if np.isfinite(errors).any():
            accepted = accept_time_error(run, theory, PREDICTION)
            worst.append(float(np.nanmedian(errors)) / accepted)
            texts.append(
                f"R = {int(run.rank_of)}: predicted {predicted.min():.3g} to {predicted.max():.3g} tau, "
                f"off by {100 * np.nanmedian(errors):.2g} %, accepted {100 * accepted:.2g} %"
            )
    return Measured(max(worst), "; ".join(texts)) if worst else lack_run("that learns a direction")


def predicted_heads(inputs: Inputs) -> Measured:
    """Share of starts, of all ranks, whose first direction is learned by the head that they predict."""
    hits, texts = [], []
    for run in take_runs(inputs["runs"], model="separate"):
        theory = theory_of(inputs, run)
        times = crossing_epochs(run.A_diagonal, 0.5 * theory.late_map).transpose("seed", "direction")
        learned = times.notnull().any("direction").values
        heads = match_heads(run).isel(direction=times.fillna(np.inf).argmin("direction")).values
        expected = np.array([winner.head for winner in predict_from_starts(run, theory)])
        now = (heads == expected)[learned]
        hits += list(now)
        texts.append(f"R = {int(run.rank_of)}: {int(now.sum())} of {len(now)}")
    if not hits:
        return lack_run("that learns a direction")
    return Measured(float(np.mean(hits)), "; ".join(texts))
