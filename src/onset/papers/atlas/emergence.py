"""When and how sharply every order parameter emerges, by one set of definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.measures.onset_time import (
    bootstrap_median,
    cross,
    find_change_point,
    find_steepest,
    follow_share,
    measure_resolution,
    measure_sharpness,
    share_of_way,
)
from onset.papers.atlas.curves import Curves, collect_curves

if TYPE_CHECKING:
    from onset.job.context import Job

DEFINITIONS = ("crossing", "steepest", "change_point")


def measure_emergence(job: Job) -> xr.Dataset:
    """Times, sharpness and curves on the loss's axis of all order parameters.

    Source: this project, docs/theory/atlas.md.  Dimensions: `order` (parameter), `seed` (seed or chain; NaN
    beyond an order parameter's own number), `definition`, `share` (of the loss drop), `end` of the interval.
    """
    own = job.own
    curves = collect_curves(job.inputs)
    grid = np.linspace(0, 1, own.points)
    seeds = max(len(c.values) for c in curves)
    times = np.full((len(curves), 3, seeds), np.nan)
    sharpness, resolution, half = (np.full((len(curves), seeds), np.nan) for _ in range(3))
    progress = np.full((len(curves), seeds, len(grid)), np.nan)
    for i, order in enumerate(curves):
        for k, (curve, loss) in enumerate(zip(share_of_way(order.values), order.loss, strict=True)):
            if not np.isfinite(curve).all() or not np.isfinite(loss).all():
                continue
            axis = order.axis
            times[i, :, k] = (
                cross(axis, curve, own.level),
                find_steepest(axis, curve),
                find_change_point(axis, curve),
            )
            sharpness[i, k] = measure_sharpness(axis, curve, own.low, own.high, own.level)
            resolution[i, k] = measure_resolution(axis, times[i, 0, k])
            half[i, k] = cross(axis, share_of_way(loss), 0.5)
            progress[i, k] = follow_share(axis, curve, loss, grid)
    relative = times / half[:, None]
    return xr.Dataset(
        {
            "time": _seen(("order", "definition", "seed"), times, "time of emergence, on its own axis"),
            "half_drop": _seen(("order", "seed"), half, "half of the loss drop, on its own axis"),
            "relative_time": _seen(
                ("order", "definition", "seed"), relative, "time of emergence / half loss drop"
            ),
            "sharpness": _seen(("order", "seed"), sharpness, "10–90 % width / time of onset"),
            "resolution": _seen(
                ("order", "seed"), resolution, "spacing of the records at onset / time of onset"
            ),
            "progress": _seen(
                ("order", "seed", "share"), progress, "share of the way from first to last value"
            ),
            "relative_time_interval": _seen(
                ("order", "definition", "end"),
                _intervals(job, "times", relative),
                "median and interval over seeds",
            ),
            "sharpness_interval": _seen(
                ("order", "end"), _intervals(job, "sharpness", sharpness), "median and interval over seeds"
            ),
        },
        coords={
            "order": ("order", [c.name for c in curves], {"long_name": "order parameter", "units": "1"}),
            "paper": ("order", [c.paper for c in curves], {"long_name": "paper", "units": "1"}),
            "along": ("order", [c.along for c in curves], {"long_name": "own axis", "units": "1"}),
            "members": ("order", _members(curves), {"long_name": "seeds or chains", "units": "1"}),
            "definition": ("definition", list(DEFINITIONS), {"long_name": "definition", "units": "1"}),
            "seed": ("seed", np.arange(seeds), {"long_name": "seed or chain", "units": "1"}),
            "share": ("share", grid, {"long_name": "share of the loss drop explained", "units": "1"}),
            "end": ("end", ["median", "low", "high"], {"long_name": "median and ends", "units": "1"}),
        },
    )


def _seen(dims: tuple[str, ...], values: np.ndarray, name: str) -> tuple:
    return dims, values, {"long_name": name, "units": "1"}


def _members(curves: list[Curves]) -> list[int]:
    return [len(c.values) for c in curves]


def _intervals(job: Job, purpose: str, values: np.ndarray) -> np.ndarray:
    """Median and bootstrap interval over the last axis, each entry from a stream of its own."""
    found = np.full((*values.shape[:-1], 3), np.nan)
    for at in np.ndindex(values.shape[:-1]):
        generator = job.streams.generator(f"bootstrap {purpose}", *at)
        found[at] = bootstrap_median(values[at], generator, job.own.resamples, job.own.coverage)
    return found
