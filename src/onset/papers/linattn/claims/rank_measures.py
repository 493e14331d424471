"""What the claims about higher ranks measure (figure 4)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.measures.drops import dwell
from onset.papers.linattn.claims.measures import (
    FEWEST,
    Inputs,
    lack_run,
    median_plateau_error,
    own_levels,
    take_runs,
    theory_of,
)

BAND = 0.1
"""Half width of a plateau, as a share of the gap to the next one."""
SMALL = 0.006
"""Starts up to this size give plateaus that are sharp enough for a strict test."""


def levels_of(run: xr.Dataset, theory: xr.Dataset, sets: xr.Dataset | None) -> np.ndarray:
    """Loss of the theory's maps with m directions, (seed, D + 1): on each seed's own set, or the population.

    On a set the losses lie off Eq. 19 by more than the width of the last plateaus.
    """
    if int(run.samples) == 0 or sets is None:
        return np.broadcast_to(theory.plateau_loss.values, (run.sizes["seed"], run.sizes["direction"] + 1))
    own = own_levels(run, theory, sets)
    return own.transpose("seed", "plateau").values


def dwell_times(run: xr.Dataset, theory: xr.Dataset, sets: xr.Dataset | None) -> np.ndarray:
    """lambda_(m+1)^2 times the time t/tau near the plateau of m directions, median over seeds, (D,).

    Without the factor the slow last directions would look like plateaus at any rank.  NaN where the median
    run did not come down to the plateau.
    """
    levels, rates = levels_of(run, theory, sets), theory.eigenvalue.values**2
    loss, epochs = run.loss.transpose("seed", "epoch").values, run.epoch.values
    times, reached = (np.zeros((len(loss), len(rates))) for _ in range(2))
    for seed, m in np.ndindex(*times.shape):
        band = BAND * (levels[seed, m] - levels[seed, m + 1])
        times[seed, m] = dwell(epochs, loss[seed], level=float(levels[seed, m]), band=float(band))
        reached[seed, m] = loss[seed].min() < levels[seed, m] + band
    scaled = rates * np.median(times, axis=0) * float(run.time_per_epoch)
    return np.where(np.median(reached, axis=0) > 0.5, scaled, np.nan)


def contrast(run: xr.Dataset, theory: xr.Dataset, sets: xr.Dataset | None) -> tuple[float, str]:
    """Least scaled dwell at multiples of the rank over the largest elsewhere, and both in words.

    NaN where the median run does not come past the first multiple.
    """
    scaled, R = dwell_times(run, theory, sets), int(run.rank_of)
    at = np.arange(len(scaled)) % R == 0
    if np.isnan(scaled[~at]).all():
        return np.nan, f"R = {R}: no plateau is left ({_list(scaled)})"
    least, most = float(np.nanmin(scaled[at])), float(np.nanmax(scaled[~at]))
    ratio = least / most if most > 0 else np.inf
    return ratio, f"R = {R}: {least:.3g} against {most:.3g} ({_list(scaled)})"


def _list(scaled: np.ndarray) -> str:
    each = ", ".join("-" if np.isnan(value) else f"{value:.2g}" for value in scaled)
    return f"m = 0, 1, ...: {each}"


def pool(inputs: Inputs) -> xr.Dataset:
    """The runs whose medians are compared: those of many starts, `population`, where the figure has them."""
    return inputs.get("population", inputs["runs"])


def runs_from(inputs: Inputs, small: bool) -> list[xr.Dataset]:
    """Runs of ATTN_S from small starts, or from the others."""
    runs = take_runs(pool(inputs), model="separate")
    return [run for run in runs if (float(run.init_std) <= SMALL) == small]


def decide(value: float, detail: str, seeds: int) -> Measured:
    """A number that rests on medians over seeds; undecided where those are fewer than FEWEST."""
    few = f"a median over {seeds} starts is not told apart from the worst; {FEWEST} at least"
    return Measured(value, f"medians of {seeds} starts, {detail}", undecided=few if seeds < FEWEST else "")


def dwell_contrast(inputs: Inputs, small: bool) -> Measured:
    """The smallest contrast over ranks above 1, of runs from small starts or of the others."""
    runs = [run for run in runs_from(inputs, small) if int(run.rank_of) > 1]
    if not runs:
        return lack_run("from a small start" if small else "from the published start")
    found = [contrast(run, theory_of(inputs, run), inputs.get("sets")) for run in runs]
    detail = "; ".join(text for _, text in found)
    return decide(float(np.min([ratio for ratio, _ in found])), detail, pool(inputs).sizes["seed"])


def rank_one_contrast(inputs: Inputs) -> Measured:
    """Least scaled dwell of rank one over the longest of higher ranks where the rank does not divide m.

    Over the plateaus that the median run of rank one reaches and leaves; of runs from starts of one size.
    """
    ones = take_runs(pool(inputs), model="separate", rank_of=1)
    if not ones:
        return lack_run("of rank one")
    one, sets, longest = ones[0], inputs.get("sets"), {}
    for run in runs_from(inputs, small=float(one.init_std) <= SMALL):
        R, scaled = int(run.rank_of), dwell_times(run, theory_of(inputs, run), sets)
        elsewhere = scaled[np.arange(len(scaled)) % R > 0]
        if np.isfinite(elsewhere).any():
            longest[R] = float(np.nanmax(elsewhere))
    if not longest:
        return lack_run("of a rank above one from such a start")
    scaled = dwell_times(one, theory_of(inputs, one), sets)
    scaled[np.flatnonzero(np.isfinite(scaled))[-1:]] = np.nan  # reached, but the run may end there
    if np.isnan(scaled).all():
        return Measured(None, absent="rank one leaves no plateau within the run")
    ratio = float(np.nanmin(scaled)) / max(longest.values())
    each = ", ".join(f"R = {R}: {value:.2g}" for R, value in longest.items())
    detail = f"rank one {_list(scaled)}; longest elsewhere, {each}"
    return decide(ratio, detail, one.sizes["seed"])


def levels_at_multiples(inputs: Inputs) -> Measured:
    """Largest over ranks and multiples of R of the median of |loss/Eq. 19 - 1|, from small starts."""
    found = []
    for run in take_runs(pool(inputs), model="separate"):
        R, D = int(run.rank_of), run.sizes["direction"]
        if 1 < R < D and float(run.init_std) <= SMALL:
            one = median_plateau_error(run, theory_of(inputs, run), only=slice(R, D - 1, R), fewest=1)
            found += [] if one.value is None else [(one.value, f"R = {R}: {one.detail}")]
    if not found:
        return lack_run("of a rank between 1 and D from a small start")
    return Measured(max(value for value, _ in found), "; ".join(text for _, text in found))
