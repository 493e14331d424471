"""What the claims about merged key-query attention and the MLP measure (figure 1)."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.interpolate import CubicSpline

from onset.claims.claim import Measured
from onset.measures.drops import half_drop_step
from onset.papers.linattn.claims.measures import (
    Inputs,
    count_over_seeds,
    farthest_count,
    find_run,
    half_drop_times,
    lack_run,
    take_runs,
    tally,
    theory_of,
)
from onset.papers.linattn.selection import has_run, list_runs, take_run

PUBLISHED = {"learning_rate": 0.031, "init_std": 5.57e-6}
"""Step and start of the published run, in the paper's units."""


def trained(inputs: Inputs, model: str) -> list[xr.Dataset]:
    """Runs of a model on training sets."""
    return [run for run in take_runs(inputs["runs"], model=model) if int(run.samples)]


def drops_of(inputs: Inputs, models: tuple[str, ...] = ("merged", "mlp")) -> Measured:
    """Number of drops farthest from 1, over all seeds of the runs on sets and on the population."""
    counts = np.concatenate(
        [count_over_seeds(run.loss) for m in models for run in take_runs(inputs["runs"], model=m)]
    )
    return Measured(farthest_count(counts, 1), tally(counts))


def population_end(inputs: Inputs) -> Measured:
    """Largest |final loss - floor| of runs on the population's gradient."""
    runs = take_runs(inputs["runs"], samples=0)
    if not runs:
        return lack_run("on the population")
    gaps = [
        float(abs(run.loss.isel(epoch=-1) - theory_of(inputs, run).plateau_loss[-1]).max()) for run in runs
    ]
    labels = ", ".join(f"{run.run.values} {gap:.2g}" for run, gap in zip(runs, gaps, strict=True))
    return Measured(max(gaps), labels)


def set_end(inputs: Inputs) -> Measured:
    """Largest |final loss/floor - 1| of runs on sets, every seed."""
    runs = [*trained(inputs, "merged"), *trained(inputs, "mlp")]
    if not runs:
        return lack_run("on a training set")
    ends = np.concatenate(
        [(r.loss.isel(epoch=-1) / theory_of(inputs, r).plateau_loss[-1]).values for r in runs]
    )
    size = ", ".join(dict.fromkeys(f"P = {int(run.samples)}" for run in runs))
    return Measured(float(abs(ends - 1).max()), f"{size}; ratios {ends.min():.3f} to {ends.max():.3f}")


def published_half_drop(inputs: Inputs) -> Measured:
    """Half-drop step of the ATTN_M run on a set that is farthest from 1050, in steps of the published run."""
    found = trained(inputs, "merged")
    if not found:
        return lack_run("of ATTN_M on a training set")
    run = found[0]
    if abs(float(run.init_std) / PUBLISHED["init_std"] - 1) > 0.01 or int(run.heads) != 8:
        return Measured(None, absent="the start is not the published one")
    steps = half_drop_times(run) / (2 * PUBLISHED["learning_rate"])
    worst = steps[np.argmax(abs(steps - 1050))]
    return Measured(float(worst), f"{len(steps)} seeds, {steps.min():.0f} to {steps.max():.0f}")


def flow_half_drop(inputs: Inputs) -> Measured:
    """Largest |t_GD/t_flow - 1| of the half-drop time over population runs and integrated seeds."""
    flow, found = inputs["flow"], {}
    for label in list_runs(inputs["runs"], samples=0, model="merged"):
        if has_run(flow, label):
            loss = flow.loss.sel(run=label)
            # Cubic between the recorded times: they are farther apart than the steps of the run.
            fine = np.linspace(float(flow.time[0]), float(flow.time[-1]), 20 * flow.sizes["time"])
            curves = CubicSpline(flow.time.values, loss.transpose("time", "seed").values)(fine)
            expected = [half_drop_step(fine, curve) for curve in curves.T]
            run = take_run(inputs["runs"], label).sel(seed=flow.seed)
            found[label] = float(np.max(np.abs(half_drop_times(run) / expected - 1)))
    if not found:
        return lack_run("on the population that was integrated")
    return Measured(max(found.values()), ", ".join(f"{k} {100 * v:.2g} %" for k, v in found.items()))


def model_gap(inputs: Inputs, end: bool) -> Measured:
    """Largest |loss of ATTN_M - loss of the MLP| on the same set and start: at the end, or on the way."""
    merged, mlp = trained(inputs, "merged"), trained(inputs, "mlp")
    if not (merged and mlp):
        return lack_run("of ATTN_M or of the MLP on a training set")
    gap = abs(merged[0].loss - mlp[0].loss).isel(epoch=slice(-1, None) if end else slice(None))
    if int(merged[0].samples) != int(mlp[0].samples):
        return Measured(None, absent="ATTN_M and MLP were trained on sets of different size")
    if bool((merged[0].loss.isel(epoch=-1) > 0.5 * merged[0].loss.isel(epoch=0)).any()):
        return Measured(None, absent="the loss of ATTN_M does not fall by half")
    side = float(merged[0].side_weight.max())
    worst = gap.max("epoch").values
    text = f"seeds {worst.min():.2g} to {worst.max():.2g}; blocks that the MLP lacks grow to {side:.2g}"
    return Measured(float(worst.max()), text)


def white_deviation(inputs: Inputs, label: str) -> float | None:
    """Largest |mean A_dd - sigma(t)|/sigma(inf) on white inputs, over records and integrated seeds."""
    run, flow = find_run(inputs["runs"], label), inputs["flow"]
    if run is None or not has_run(flow, label):
        return None
    times = run.epoch.values * float(run.time_per_epoch)
    inside = times <= float(flow.time[-1])
    sigma = flow.sigma.sel(run=label).transpose("time", "seed").values
    expected = CubicSpline(flow.time.values, sigma)(times[inside])
    found = run.A_diagonal.sel(seed=flow.seed).mean("direction").transpose("epoch", "seed").values[inside]
    limit = float(theory_of(inputs, run).late_map[0])
    return float(np.max(np.abs(found - expected)) / limit)


def aligned_deviation(inputs: Inputs) -> Measured:
    """Deviation from Eq. 10 of the slower aligned run, scaled to the rate 1e-3 on unit covariance."""
    deviation = white_deviation(inputs, "aligned_half")
    if deviation is None:
        return lack_run("from an aligned start at half the rate")
    run = take_run(inputs["runs"], "aligned_half")
    rate = float(run.learning_rate) * float(theory_of(inputs, run).eigenvalue[0]) ** 2
    return Measured(deviation * 1e-3 / rate, f"{deviation:.4f} at the rate {rate:.2g} of unit covariance")


def halving_ratio(inputs: Inputs) -> Measured:
    """Deviation from Eq. 10 at the full over that at half the rate, aligned start."""
    full, half = (white_deviation(inputs, label) for label in ("aligned", "aligned_half"))
    if full is None or half is None:
        return lack_run("from an aligned start at both rates")
    return Measured(full / half, f"{full:.4f} and {half:.4f}")


def random_start_deviation(inputs: Inputs) -> Measured:
    """Deviation from Eq. 10 from a random start, less what gradient descent's lag behind the flow explains.

    The lag grows with the time up to the drop; it is taken from the aligned run at the same rate.
    """
    deviation = white_deviation(inputs, "white")
    if deviation is None:
        return lack_run("on white inputs from a random start")
    flow, run = inputs["flow"], take_run(inputs["runs"], "white")
    ratio = (flow.w_init.sel(run="white") / float(run.init_std)).values
    text = f"effective over entries' size: {ratio.min():.2f} to {ratio.max():.2f}"
    for label in ("aligned", "aligned_half"):
        aligned, known = find_run(inputs["runs"], label), white_deviation(inputs, label)
        if aligned is not None and known and abs(float(aligned.learning_rate / run.learning_rate) - 1) < 1e-6:
            longer = np.max(half_drop_times(run.sel(seed=flow.seed))) / np.max(half_drop_times(aligned))
            lag = known * float(longer)
            return Measured(abs(deviation - lag), f"{deviation:.4f}, lag {lag:.4f}; {text}")
    return Measured(None, absent="no aligned run has the same rate")


def flow_conservation(inputs: Inputs) -> Measured:
    """Largest change of a conserved quantity along the exact flow."""
    drift = inputs["flow"].drift_value
    return Measured(float(drift.max()), f"{drift.notnull().sum().item()} starts")
