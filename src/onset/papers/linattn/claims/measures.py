"""Measures that claims of several figures share: drops, plateaus, times, over all seeds of a run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.measures.drops import count_drops, half_drop_step, map_curves
from onset.papers.linattn.selection import has_run, learning_epochs, list_runs, take_run, take_theory

Inputs = Mapping[str, xr.Dataset]

FEWEST = 4
"""Runs below which a median is not told apart from the worst run."""
REACHED = 0.5
"""Share of its optimum above which a direction counts as learned."""


def lack_run(what: str) -> Measured:
    """Nothing to measure: the scale leaves a run out."""
    return Measured(None, absent=f"no run {what} at this scale")


def find_run(runs: xr.Dataset, label: str) -> xr.Dataset | None:
    """A run by its label, or None where the scale leaves it out."""
    return take_run(runs, label) if has_run(runs, label) else None


def count_over_seeds(loss: xr.DataArray, prominence: float = 0.03) -> np.ndarray:
    """Number of abrupt drops of each curve (..., epoch), flat."""
    return map_curves(loss, count_drops, prominence=prominence).values.ravel().astype(int)


def farthest_count(counts: np.ndarray, expected: int) -> float:
    """The count that is farthest from what is expected."""
    return float(counts[np.argmax(np.abs(counts - expected))])


def tally(counts: np.ndarray) -> str:
    """How often each count occurs: `3 drops in 2 of 6 runs, 4 in 4`."""
    values, times = np.unique(counts, return_counts=True)
    parts = [f"{value}: {n} of {len(counts)}" for value, n in zip(values, times, strict=True)]
    return "runs by number of drops: " + ", ".join(parts)


def half_drop_times(run: xr.Dataset) -> np.ndarray:
    """Time t/tau at which each seed's loss is half-way down, (seed,)."""
    return map_curves(run.loss, half_drop_step).values * float(run.time_per_epoch)


def plateau_errors(run: xr.Dataset, theory: xr.Dataset, levels: xr.DataArray | None = None) -> xr.DataArray:
    """Loss on each plateau over its level, less 1: (seed, plateau), plateau 1 to D; NaN where not reached.

    Plateau m lies between the m-th and the next direction being half learned, where the loss falls slowest on
    the logarithm of the step.  The last one, reached where all directions were learned, is the last record.
    `levels` (plateau,) or (seed, plateau) replace the theory's.
    """
    levels = theory.plateau_loss if levels is None else levels
    D, epochs = run.sizes["direction"], run.epoch.values.astype(np.float64)
    times = learning_epochs(run, theory, REACHED).fillna(np.inf).transpose("seed", "direction").values
    times = np.sort(times, axis=1)
    loss = run.loss.transpose("seed", "epoch").values.astype(np.float64)
    found = np.full((len(times), D), np.nan)
    for seed, m in np.ndindex(*found.shape):
        begin = times[seed, m]
        if not np.isfinite(begin):
            continue
        end = times[seed, m + 1] if m + 1 < D else np.inf
        if m + 1 == D:
            found[seed, m] = loss[seed, -1]
            continue
        inside = np.flatnonzero((epochs > begin) & (epochs < end))
        if len(inside) < 3:
            # Two directions that rise within three records have no plateau between them: its worst case.
            found[seed, m] = loss[seed, min(np.searchsorted(epochs, begin), len(epochs) - 1)]
            continue
        slope = np.abs(np.gradient(loss[seed, inside], np.log(epochs[inside])))
        found[seed, m] = loss[seed, inside[np.argmin(slope)]]
    plateaus = xr.DataArray(
        found, dims=("seed", "plateau"), coords={"seed": run.seed, "plateau": np.arange(1, D + 1)}
    )
    return plateaus / levels.sel(plateau=plateaus.plateau) - 1


def median_plateau_error(
    run: xr.Dataset,
    theory: xr.Dataset,
    levels: xr.DataArray | None = None,
    only: slice = slice(None),
    fewest: int = FEWEST,
) -> Measured:
    """Largest over plateaus of the median over seeds of |loss/level - 1|; all medians in the detail.

    `only` is a slice of plateaus.  Undecided where none was reached by at least `fewest` runs.
    """
    errors = abs(plateau_errors(run, theory, levels)).sel(plateau=only)
    reached = errors.notnull().sum("seed")
    medians = errors.median("seed").where(reached > 0)
    if not bool((reached > 0).any()):
        return Measured(None, absent="no plateau was reached")
    detail = ", ".join(
        f"m = {int(m)}: {100 * float(medians.sel(plateau=m)):.2g} % ({int(reached.sel(plateau=m))} runs)"
        for m in medians.plateau.values
        if int(reached.sel(plateau=m))
    )
    enough = medians.where(reached >= fewest)
    if not bool(enough.notnull().any()):
        few = f"fewer than {fewest} runs reached a plateau; single runs may have none between directions"
        return Measured(float(medians.max()), f"medians, {detail}", undecided=few)
    left_out = "; plateaus that fewer reached left out" if bool((reached < fewest).any()) else ""
    detail += f"; worst run {100 * float(errors.max()):.2g} %{left_out}"
    return Measured(float(enough.max()), f"medians, {detail}")


def first_learning_times(run: xr.Dataset, theory: xr.Dataset, share: float = REACHED) -> xr.DataArray:
    """Time t/tau at which the first direction reaches a share of its optimum, (seed,)."""
    return learning_epochs(run, theory, share).min("direction") * float(run.time_per_epoch)


def theory_of(inputs: Inputs, run: xr.Dataset) -> xr.Dataset:
    """The theory of a run's task."""
    return take_theory(inputs["theory"], run)


def take_runs(runs: xr.Dataset, **settings: object) -> list[xr.Dataset]:
    """All runs with the given settings."""
    return [take_run(runs, label) for label in list_runs(runs, **settings)]


def own_levels(run: xr.Dataset, theory: xr.Dataset, sets: xr.Dataset) -> xr.DataArray:
    """Loss on each seed's own set of the theory's map with the m largest directions, (seed, plateau).

    `sets` has the moments of the reduced feature; the run was trained on one of its sizes.
    """
    sets, D = sets.sel(P=int(run.samples), seed=run.seed), run.sizes["direction"]
    S, b = (sets[name].transpose("seed", ...).values for name in ("S_reduced", "b_reduced"))
    levels = np.empty((run.sizes["seed"], D + 1))
    for m in range(D + 1):
        a = np.diag(np.where(np.arange(D) < m, theory.late_map.values, 0.0)).ravel()
        levels[:, m] = sets.c_reduced.values - 2 * b @ a + np.einsum("i,sij,j->s", a, S, a, optimize=True)
    coords = {"seed": run.seed, "plateau": np.arange(D + 1)}
    return xr.DataArray(levels, dims=("seed", "plateau"), coords=coords)
