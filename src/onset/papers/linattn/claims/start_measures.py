"""What the claims about the size of the start measure (figure 6)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.linattn.claims.measures import (
    Inputs,
    count_over_seeds,
    farthest_count,
    first_learning_times,
    half_drop_times,
    lack_run,
    take_runs,
    tally,
    theory_of,
)

LINEAR = 1e-3
"""Starts of ATTN_M up to this size grow linearly for long."""
HYPERBOLIC = 0.101
"""Starts of ATTN_S up to this size blow up alone."""


def by_start(inputs: Inputs, model: str, largest: float = np.inf) -> list[xr.Dataset]:
    """Runs of a model with starts up to `largest`, smallest start first."""
    runs = [run for run in take_runs(inputs["runs"], model=model) if float(run.init_std) <= largest]
    return sorted(runs, key=lambda run: float(run.init_std))


def delay_ratio(inputs: Inputs) -> Measured:
    """Delay of ATTN_M's drop over ln(ratio of starts)/|Lambda^2|_F; the pair of starts farthest from 1."""
    runs, found = by_start(inputs, "merged", LINEAR), []
    for small, large in pairwise(runs):
        delay = np.median(half_drop_times(small) - half_drop_times(large))
        expected = np.log(float(large.init_std) / float(small.init_std)) / float(
            theory_of(inputs, small).growth_rate
        )
        found.append((float(delay / expected), f"{float(delay):.2f} of {float(expected):.2f} tau"))
    if not found:
        return lack_run("of ATTN_M from a second small start")
    worst = max(found, key=lambda pair: abs(pair[0] - 1))
    return Measured(worst[0], "; ".join(text for _, text in found))


def halving_ratio(inputs: Inputs) -> Measured:
    """By how much halving the start of ATTN_S delays its first drop; the pair of starts farthest from 2.

    Starts that differ by another factor are converted by the power law between them.
    """
    found = []
    for small, large in pairwise(by_start(inputs, "separate", HYPERBOLIC)):
        theory = theory_of(inputs, small)
        ratio = first_learning_times(small, theory) / first_learning_times(large, theory)
        power = np.log(ratio) / np.log(float(large.init_std) / float(small.init_std))
        found.append((2 ** float(power.median()), f"{float(small.init_std):g} to {float(large.init_std):g}"))
    found = [(ratio, text) for ratio, text in found if np.isfinite(ratio)]
    if not found:
        return lack_run("of ATTN_S from a second small start")
    worst = max(found, key=lambda pair: abs(pair[0] - 2))
    return Measured(worst[0], ", ".join(f"{text}: {ratio:.3f}" for ratio, text in found))


def late_starts(inputs: Inputs) -> Measured:
    """Number of neighbouring starts of either model of which the larger does not drop earlier."""
    wrong, texts = 0, []
    for model in ("merged", "separate"):
        times = [float(np.nanmedian(half_drop_times(run))) for run in by_start(inputs, model)]
        wrong += int(np.sum(~(np.diff(times) < 0)))
        texts.append(f"{model}: {', '.join(f'{t:.3g}' for t in times)}")
    return Measured(float(wrong), "half-drop times t/tau by start, " + "; ".join(texts))


def merged_drops(inputs: Inputs) -> Measured:
    """Number of drops farthest from 1 of ATTN_M over all starts."""
    runs = by_start(inputs, "merged")
    if not runs:
        return lack_run("of ATTN_M")
    counts = np.concatenate([count_over_seeds(run.loss) for run in runs])
    return Measured(farthest_count(counts, 1), tally(counts))


def first_slope(run: xr.Dataset, theory: xr.Dataset) -> float:
    """Fall of the loss within the first 1/lambda_1^2 over the largest in such a time, median over seeds.

    1/lambda_1^2 in t/tau is the time scale of the flow at weights of order one.
    """
    times = run.epoch.values * float(run.time_per_epoch)
    grid = np.arange(0.0, times[-1], 1 / float(theory.eigenvalue[0]) ** 2)
    falls = [-np.diff(np.interp(grid, times, loss)) for loss in run.loss.transpose("seed", "epoch").values]
    return float(np.median([fall[0] / fall.max() for fall in falls]))


def largest_start(inputs: Inputs) -> Measured:
    """How much ATTN_S's loss falls at the very beginning against its steepest fall, at the largest start."""
    runs = by_start(inputs, "separate")
    if len(runs) < 2 or float(runs[-1].init_std) <= HYPERBOLIC:
        return lack_run("of ATTN_S from a large start")
    found = [first_slope(run, theory_of(inputs, run)) for run in runs]
    text = ", ".join(f"{float(run.init_std):g}: {slope:.2g}" for run, slope in zip(runs, found, strict=True))
    return Measured(found[-1], f"by start, {text}")
