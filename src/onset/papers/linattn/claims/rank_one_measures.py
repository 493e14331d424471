"""What the claims about rank-one heads measure (figure 3)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.linattn.claims.measures import (
    Inputs,
    count_over_seeds,
    find_run,
    first_learning_times,
    lack_run,
    median_plateau_error,
    own_levels,
    take_runs,
    tally,
    theory_of,
)
from onset.papers.linattn.selection import (
    crossing_epochs,
    learned_directions,
    learning_epochs,
    match_heads,
    measure_contributions,
    superpose_scalar,
    take_winners,
)
from onset.papers.linattn.theory.scalar import STEEPEST_SHARE

PAPER, SMALL, HALF = "paper", "small_start", "half_rate"
"""Runs on the population: the published start, a tenth of it, and half the rate."""
FROM = 0.2
"""Share of v* from which the scalar equation is compared."""
STEP_TIME = 0.3948
"""Time t/tau of a published step, twice its rate."""


def population_plateaus(inputs: Inputs) -> Measured:
    """Median error of the plateaus' losses on the population, published start."""
    run = find_run(inputs["population"], PAPER)
    return lack_run(PAPER) if run is None else median_plateau_error(run, theory_of(inputs, run))


def set_plateaus(inputs: Inputs) -> Measured:
    """Median error of the plateaus' losses on training sets, over what is accepted for their size."""
    runs = [run for run in take_runs(inputs["runs"], model="separate", rank_of=1) if int(run.samples)]
    if not runs:
        return lack_run("of rank one on a training set")
    run = runs[0]
    found = median_plateau_error(run, theory_of(inputs, run))
    if found.value is None:
        return found
    accepted = 0.03 if int(run.samples) >= 80000 else 0.08
    text = f"P = {int(run.samples)}, accepted {100 * accepted:g} %; {found.detail}"
    return Measured(found.value / accepted, text)


def own_plateaus(inputs: Inputs) -> Measured:
    """Median error of plateaus' losses on sets, against theory's map on each own set, over what is accepted.

    That is 2 % up to P = 5000 and less by 1/sqrt(P) beyond: so much less do losses of different sets differ.
    """
    runs = [run for run in take_runs(inputs["runs"], model="separate", rank_of=1) if int(run.samples)]
    if not runs:
        return lack_run("of rank one on a training set")
    run, theory = runs[0], theory_of(inputs, runs[0])
    found = median_plateau_error(run, theory, own_levels(run, theory, inputs["sets"]))
    if found.value is None:
        return found
    accepted = 0.02 * min(1.0, np.sqrt(5000 / int(run.samples)))
    text = f"P = {int(run.samples)}, accepted {100 * accepted:.2g} %; {found.detail}"
    return Measured(found.value / accepted, text, found.undecided, found.absent)


def share_complete(inputs: Inputs) -> Measured:
    """Share of population runs in which every direction is learned by the end of training."""
    run = find_run(inputs["population"], PAPER)
    if run is None:
        return lack_run(PAPER)
    learned = learned_directions(run, theory_of(inputs, run))
    each = ", ".join(f"{int(n)}" for n in learned.sum("seed").values)
    steps = float(run.epoch[-1]) * float(run.time_per_epoch) / STEP_TIME
    text = f"runs by direction: {each} of {run.sizes['seed']}; {steps:.0f} published steps"
    return Measured(float(learned.all("direction").mean()), text)


def drops_per_direction(inputs: Inputs) -> Measured:
    """Share of population runs with as many drops as learned directions, and one at least."""
    run = find_run(inputs["population"], PAPER)
    if run is None:
        return lack_run(PAPER)
    counts = count_over_seeds(run.loss)
    learned = learned_directions(run, theory_of(inputs, run)).sum("direction").values
    return Measured(float(np.mean((counts == learned) & (learned > 0))), tally(counts))


def learned_in_order(inputs: Inputs) -> Measured:
    """Share of population runs that learn directions in the order of their eigenvalues, and one at least."""
    run = find_run(inputs["population"], PAPER)
    if run is None:
        return lack_run(PAPER)
    theory = theory_of(inputs, run)
    times = (
        crossing_epochs(run.A_diagonal, 0.5 * theory.late_map).transpose("seed", "direction").fillna(np.inf)
    )
    ordered = np.all(np.diff(np.minimum(times.values, 1e12), axis=1) >= 0, axis=1)
    ordered &= np.isfinite(times.values).any(1)
    return Measured(float(ordered.mean()), f"{int(ordered.sum())} of {len(ordered)} runs")


ARRIVED = 0.95
"""Share of the optimum of A_dd from which direction d has been learned and its head is on the new plateau."""


def key_cosines(run: xr.Dataset, theory: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """|cos(k, e_d)| of the head that learned d, (seed, direction), NaN where none did.

    At the first snapshot after A_dd arrived near its optimum, and at the last one.
    """
    keys = (
        run["keys"].isel(rank=0).transpose("seed", "snapshot", "head", "direction").values.astype(np.float64)
    )
    heads = match_heads(run).transpose("seed", "direction").values
    learned = learned_directions(run, theory).transpose("seed", "direction").values
    arrival = learning_epochs(run, theory, ARRIVED).transpose("seed", "direction").values
    arrived, end = np.full(learned.shape, np.nan), np.full(learned.shape, np.nan)
    for seed, d in np.argwhere(learned):
        own = keys[seed, :, heads[seed, d]]
        cosine = np.abs(own[:, d]) / np.linalg.norm(own, axis=-1)
        end[seed, d] = cosine[-1]
        at = np.searchsorted(run.snapshot_epoch.values, arrival[seed, d])
        if np.isfinite(arrival[seed, d]) and at < len(cosine):
            arrived[seed, d] = cosine[at]
    return arrived, end


def alignment(inputs: Inputs, label: str) -> Measured:
    """Median over runs and directions of |cos(k, e_d)| of the head that learned d, once it has."""
    run = find_run(inputs["population"], label)
    if run is None:
        return lack_run(label)
    arrived, _ = key_cosines(run, theory_of(inputs, run))
    if not np.isfinite(arrived).any():
        return Measured(None, absent="no direction was learned")
    return Measured(float(np.nanmedian(arrived)), describe_cosines(arrived))


def final_alignment(inputs: Inputs, label: str) -> Measured:
    """Least over directions of the median over runs of |cos(k, e_d)| at the end of training."""
    run = find_run(inputs["population"], label)
    if run is None:
        return lack_run(label)
    _, end = key_cosines(run, theory_of(inputs, run))
    end = end[:, np.isfinite(end).any(0)]
    if end.size == 0:
        return Measured(None, absent="no direction was learned")
    return Measured(float(np.nanmedian(end, axis=0).min()), describe_cosines(end))


def describe_cosines(cosines: np.ndarray) -> str:
    """Medians by direction and the lowest tenth of (seed, direction)."""
    learned = cosines[:, np.isfinite(cosines).any(0)]
    medians = ", ".join(f"{m:.5f}" for m in np.nanmedian(learned, axis=0))
    return f"medians by direction: {medians}; a tenth of all are below {np.nanquantile(learned, 0.1):.3f}"


def final_values(inputs: Inputs) -> Measured:
    """Largest over learned directions of the median over runs of | |v|/v* - 1 | at the end."""
    run = find_run(inputs["population"], PAPER)
    if run is None:
        return lack_run(PAPER)
    theory = theory_of(inputs, run)
    error = abs(take_winners(run, theory).isel(epoch=-1) / theory.value - 1).median("seed")
    detail = ", ".join(f"{100 * float(e):.2g} %" for e in error.values)
    return Measured(float(error.max()), f"medians by direction: {detail}")


def balance(inputs: Inputs) -> Measured:
    """Largest over directions of the median over runs of | |k|/|v| - 1 | of the head that learned it."""
    run = find_run(inputs["population"], PAPER)
    if run is None:
        return lack_run(PAPER)
    theory = theory_of(inputs, run)
    squares = (run["keys"].isel(snapshot=-1, rank=0) ** 2).sum("direction").isel(head=match_heads(run))
    error = abs(squares**0.5 / take_winners(run, theory).isel(epoch=-1) - 1).median("seed")
    return Measured(
        float(error.max()), "medians by direction: " + ", ".join(f"{float(e):.4f}" for e in error)
    )


def second_share(inputs: Inputs) -> Measured:
    """Largest over directions of the median over runs of the second head's share of sum_i |A_dd of i|."""
    run = find_run(inputs["population"], PAPER)
    if run is None:
        return lack_run(PAPER)
    parts = abs(measure_contributions(run).isel(snapshot=-1)).transpose("seed", "direction", "head").values
    share = np.sort(parts, axis=-1)[..., -2] / parts.sum(-1)
    learned = learned_directions(run, theory_of(inputs, run)).transpose("seed", "direction").values
    if not learned.any():
        return Measured(None, absent="no direction was learned")
    share = np.where(learned, share, np.nan)[:, learned.any(0)]
    medians, high = np.nanmedian(share, axis=0), np.nanquantile(share, 0.9, axis=0)
    detail = "medians by direction: " + ", ".join(f"{m:.2g}" for m in medians)
    return Measured(float(medians.max()), f"{detail}; 90 % quantiles: {', '.join(f'{h:.2g}' for h in high)}")


def scalar_deviation(inputs: Inputs, label: str) -> Measured:
    """Largest over directions of the median over runs of max |v - v_scalar|/v*, from 0.2 v* on.

    v is of the head that learned the direction; the curves are superposed at v*/2.
    """
    run, flow = find_run(inputs["population"], label), inputs["flow"]
    if run is None:
        return lack_run(label)
    theory, times = theory_of(inputs, run), run.epoch.values * float(run.time_per_epoch)
    winners = take_winners(run, theory).transpose("seed", "epoch", "direction").values
    medians, high = [], []
    for d in range(run.sizes["direction"]):
        star, errors = float(theory.value[d]), []
        ode_time, ode_value = (flow[name].isel(direction=d).values for name in ("ode_time", "ode_value"))
        for v in winners[..., d]:
            shift = superpose_scalar(times, v, ode_time, ode_value)
            if np.isfinite(shift):
                risen = np.maximum.accumulate(v) >= FROM * star
                compared = risen & (times - shift >= ode_time[0]) & (times - shift <= ode_time[-1])
                expected = np.interp(times[compared] - shift, ode_time, ode_value)
                errors.append(float(np.max(np.abs(v[compared] - expected), initial=0.0)) / star)
        if errors:
            medians.append(float(np.median(errors)))
            high.append(float(np.quantile(errors, 0.9)))
    if not medians:
        return Measured(None, absent="no direction was learned")
    detail = "medians by direction: " + ", ".join(f"{100 * m:.2g} %" for m in medians)
    return Measured(max(medians), f"{detail}; 90 % quantiles: {', '.join(f'{100 * h:.2g} %' for h in high)}")


def first_drop_error(inputs: Inputs) -> Measured:
    """Median over integrated starts of |t_1/predicted - 1|, t_1 where the first direction rises fastest."""
    flow, errors = inputs["flow"], []
    for label in (PAPER, SMALL):
        run = find_run(inputs["population"], label)
        if run is not None and label in flow.run.values:
            run = run.sel(seed=flow.seed)
            found = first_learning_times(run, theory_of(inputs, run), STEEPEST_SHARE**3)
            errors += list(abs(found / flow.first_drop_predicted.sel(run=label) - 1).values)
    errors = [e for e in errors if np.isfinite(e)]
    if not errors:
        return lack_run("that was integrated")
    return Measured(float(np.median(errors)), f"{len(errors)} starts, largest {100 * max(errors):.2g} %")


def winners_predicted(inputs: Inputs) -> Measured:
    """Share of integrated starts in which the head predicted to blow up first learns the first direction."""
    flow, hits = inputs["flow"], []
    for label in (PAPER, SMALL):
        run = find_run(inputs["population"], label)
        if run is not None and label in flow.run.values:
            run = run.sel(seed=flow.seed)
            times = crossing_epochs(run.A_diagonal, 0.5 * theory_of(inputs, run).late_map)
            first = times.fillna(np.inf).argmin("direction")
            heads = match_heads(run).isel(direction=first)
            hits += list((heads == flow.winner_predicted.sel(run=label)).values)
    if not hits:
        return lack_run("that was integrated")
    return Measured(float(np.mean(hits)), f"{int(np.sum(hits))} of {len(hits)} starts")


def descent_drift(inputs: Inputs) -> Measured:
    """Largest change of a conserved quantity under gradient descent, scaled to the published rate."""
    run = find_run(inputs["population"], PAPER)
    if run is None:
        return lack_run(PAPER)
    if not bool(learned_directions(run, theory_of(inputs, run)).any()):
        return Measured(None, absent="no direction was learned")
    scale = STEP_TIME / float(run.time_per_epoch)
    value, key_query = (scale * float(run[name].max()) for name in ("drift_value", "drift_key_query"))
    text = f"key-query {key_query:.2g}, key-value {value:.2g}; scaled by {scale:.3g} to the published rate"
    return Measured(max(value, key_query), text)


def drift_ratio(inputs: Inputs) -> Measured:
    """Median over runs of the drift at the full over that at half the rate, at the same time t/tau."""
    full, half = (find_run(inputs["population"], label) for label in (PAPER, HALF))
    if full is None or half is None:
        return lack_run("at half the rate")
    end = float(half.epoch[-1]) * float(half.time_per_epoch)
    rates = float(full.time_per_epoch) / float(half.time_per_epoch)
    at = end / float(full.time_per_epoch)
    late = half.drift_value.isel(epoch=-1)
    ratio = (full.drift_value.interp(epoch=at) / late).values / rates * 2
    return Measured(
        float(np.median(ratio)),
        f"quartiles {np.quantile(ratio, 0.25):.2f} and {np.quantile(ratio, 0.75):.2f}",
    )


def flow_drift(inputs: Inputs) -> Measured:
    """Largest change of a conserved quantity along the exact flow."""
    flow = inputs["flow"]
    value, key_query = (float(flow[name].max()) for name in ("drift_value", "drift_key_query"))
    return Measured(max(value, key_query), f"key-query {key_query:.2g}, key-value {value:.2g}")


def sampled_moments(inputs: Inputs) -> Measured:
    """Largest |a_d sampled/a_d - 1| of E[Lhat^2]'s eigenvalues over the sampled tasks."""
    theory = inputs["theory"]
    if "squared_eigenvalue_sampled" not in theory or not theory.squared_eigenvalue_sampled.notnull().any():
        return Measured(None, absent="the theory has no Monte Carlo estimates")
    error = abs(theory.squared_eigenvalue_sampled / theory.squared_eigenvalue - 1)
    return Measured(float(error.max()), "all tasks with estimates")


def sampled_plateaus(inputs: Inputs) -> Measured:
    """Largest |loss of A_m sampled/Eq. 19 - 1| over the sampled tasks."""
    theory = inputs["theory"]
    if "plateau_loss_sampled" not in theory or not theory.plateau_loss_sampled.notnull().any():
        return Measured(None, absent="the theory has no Monte Carlo estimates")
    error = abs(theory.plateau_loss_sampled / theory.plateau_loss - 1)
    return Measured(float(error.max()), "all tasks with estimates")
