"""Which runs, heads and records figures and claims read; results keep all runs of a figure side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr


def list_runs(runs: xr.Dataset, **settings: Any) -> list[str]:
    """Labels of the runs whose settings (coordinates on `run`) equal those given, in stored order."""
    chosen = np.ones(runs.sizes["run"], dtype=bool)
    for name, wanted in settings.items():
        chosen &= runs[name].values == wanted
    return [str(label) for label in runs.run.values[chosen]]


def has_run(runs: xr.Dataset, label: str) -> bool:
    """Whether a run is there; scales may leave runs out."""
    return label in runs.run.values


def take_run(runs: xr.Dataset, label: str) -> xr.Dataset:
    """One run without the padding of its heads, ranks and directions; its settings are scalar coordinates.

    Raises KeyError where the run is not there.
    """
    run = runs.sel(run=label)
    sizes = {"head": int(run.heads), "rank": max(int(run.rank_of), 1)}
    if "A_diagonal" in run:
        used = run.A_diagonal.notnull().any([d for d in run.A_diagonal.dims if d != "direction"])
        sizes |= dict.fromkeys(("direction", "column"), int(used.sum()))
    return run.isel({dim: slice(size) for dim, size in sizes.items() if dim in run.dims})


def take_task(theory: xr.Dataset, task: str) -> xr.Dataset:
    """The theory of one task without padding.   Raises KeyError where the theory does not have it."""
    found = theory.sel(task=task)
    D = int(found.dimension)
    return found.isel(direction=slice(D), plateau=slice(D + 1))


def take_theory(theory: xr.Dataset, run: xr.Dataset) -> xr.Dataset:
    """The theory of the task that a run (see `take_run`) was trained on."""
    return take_task(theory, str(run.task.values))


def as_next_token(theory: xr.Dataset) -> xr.Dataset:
    """A task's theory with plateaus and optimum of the next-token loss in place of the query's."""
    return theory.assign(plateau_loss=theory.next_token_plateau_loss, late_map=theory.next_token_map)


def measure_contributions(run: xr.Dataset) -> xr.DataArray:
    """What each head adds to A_dd: v_i sum_r k_ird q_ird, (seed, snapshot, head, direction).

    Of runs with separate key and query.  The signs of a head's weights cancel in it.
    """
    at = xr.DataArray(run.snapshot_epoch.values, dims="snapshot")
    v = run.v.sel(epoch=at).drop_vars("epoch")
    return v * (run["keys"] * run["queries"]).sum("rank")


def match_heads(run: xr.Dataset) -> xr.DataArray:
    """Head that learned each direction: the one that adds most to A_dd at the end, (seed, direction) ints."""
    last = measure_contributions(run).isel(snapshot=-1)
    return abs(last).fillna(0).argmax("head").drop_vars("snapshot_epoch", errors="ignore")


def learned_directions(run: xr.Dataset, theory: xr.Dataset, share: float = 0.5) -> xr.DataArray:
    """Whether A_dd ended above a share of its value at the optimum, (seed, direction).

    `theory` is that of the run's task (see `take_task`).
    """
    return run.A_diagonal.isel(epoch=-1, drop=True) > share * theory.late_map


def crossing_epochs(values: xr.DataArray, level: float | xr.DataArray) -> xr.DataArray:
    """Epoch at which values (..., epoch) first reach a level, between records on a straight line.

    NaN where they never do; the first record's epoch where they start above.
    """
    epochs = values.epoch.values.astype(np.float64)
    above = (values - level).transpose(..., "epoch")
    reached = (above >= 0).values
    after = reached.argmax(-1)
    before = np.maximum(after - 1, 0)
    high, low = (np.take_along_axis(above.values, at[..., None], -1)[..., 0] for at in (after, before))
    share = np.divide(-low, high - low, out=np.zeros_like(high), where=high > low)
    crossed = epochs[before] + share * (epochs[after] - epochs[before])
    found = np.where(reached.any(-1), np.where(after == 0, epochs[0], crossed), np.nan)
    return above.isel(epoch=0, drop=True).copy(data=found)


def learning_epochs(run: xr.Dataset, theory: xr.Dataset, share: float = 0.5) -> xr.DataArray:
    """Epoch at which A_dd reaches a share of its optimum, (seed, direction); NaN where it does not."""
    return crossing_epochs(run.A_diagonal, share * theory.late_map)


def take_winners(run: xr.Dataset, theory: xr.Dataset) -> xr.DataArray:
    """|v| of the head that learned each direction, (seed, epoch, direction); NaN where it was not learned."""
    heads = match_heads(run)
    won = abs(run.v).isel(head=heads).drop_vars("head", errors="ignore")
    return won.where(learned_directions(run, theory)).transpose("seed", "epoch", "direction")


def plateau_snapshots(run: xr.Dataset, theory: xr.Dataset, seed: int) -> list[int]:
    """Snapshots of one seed amid each of its plateaus: before the first direction, between two, and the last.

    The middle of a plateau is taken on the logarithm of the step.
    """
    times = learning_epochs(run, theory).sel(seed=seed).values
    times = np.sort(times[np.isfinite(times)])
    if len(times) == 0:
        return [0]
    middles = [0.5 * times[0], *np.sqrt(times[:-1] * times[1:])]
    snapshots = run.snapshot_epoch.values
    return [int(np.argmin(abs(snapshots - middle))) for middle in middles] + [len(snapshots) - 1]


def fix_signs(run: xr.Dataset) -> xr.Dataset:
    """v, keys and queries with v >= 0 and every key's largest entry positive, at each snapshot.

    Heads compute the same under (v, k) -> (-v, -k) and (k, q) -> (-k, -q).  Of runs of rank one.
    """
    at = xr.DataArray(run.snapshot_epoch.values, dims="snapshot")
    v, k, q = run.v.sel(epoch=at).drop_vars("epoch"), run["keys"], run["queries"]
    turn = xr.where(v < 0, -1.0, 1.0)
    k = k * turn
    largest = k.isel(direction=abs(k).argmax("direction"))
    flip = xr.where(largest.drop_vars("direction") < 0, -1.0, 1.0)
    return xr.Dataset({"v": v * turn, "keys": k * flip, "queries": q * flip})


def superpose_scalar(times: np.ndarray, v: np.ndarray, ode_time: np.ndarray, ode_value: np.ndarray) -> float:
    """Time t/tau at which |v| (T,) is at v*/2, by the scalar equation from the record nearest to it.

    ode_time, ode_value (points,): the equation's curve, increasing, with time 0 at v*/2.  Records can be
    farther apart than the rise is wide, so that a straight line between them would be off.   NaN where v is
    not finite or no record lies within the curve.
    """
    if not np.isfinite(v).all():
        return np.nan
    inside = (v > ode_value[0]) & (v < ode_value[-1])
    inside &= np.maximum.accumulate(v) <= v  # on the way up
    if not inside.any():
        return np.nan
    middle = np.interp(0.0, ode_time, ode_value)
    at = int(np.argmin(np.where(inside, np.abs(v - middle), np.inf)))
    return float(times[at] - np.interp(v[at], ode_value, ode_time))
