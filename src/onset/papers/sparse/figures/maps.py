"""Figures 2, 9, 11, 16, 18, 19 and 21: attention of all heads at several steps of one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.errors import OnsetError
from onset.papers.sparse.figures import captions, panels
from onset.papers.sparse.figures.overlay import draw_overlay, draw_scale, label_row
from onset.papers.sparse.selection import boundary_lags, read_chain, take_run
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job

NOTE = (
    "Each head has a colour, as strong as its attention; colours multiply, so that dark cells are read by "
    "several heads. Means over validation sequences; keys "
    "cut to the last T, so that rows at the top do not sum to one. Grey lines: edges of the groups."
)


def take_maps(run: xr.Dataset, seed: int, steps: Sequence[int]) -> xr.DataArray:
    """Attention (map_step, head, query, key) of one seed of a run of one block, at the given steps.

    Raises OnsetError where a step's maps were not kept.
    """
    kept = [int(step) for step in run.map_step.values]
    lacking = [step for step in steps if step not in kept]
    if lacking:
        raise OnsetError(
            f"no attention maps of step {', '.join(map(str, lacking))} of run {run.run.values}; "
            f"kept are {', '.join(map(str, kept))}"
        )
    return run.attention.sel(seed=seed, map_step=list(steps)).isel(layer=0, drop=True)


def draw_row(row: Sequence[Axes], maps: xr.DataArray, largest: float, lags: Sequence[int]) -> None:
    """A map for each step, titled by it."""
    for axes, step in zip(row, maps.map_step.values, strict=True):
        draw_overlay(axes, maps.sel(map_step=step), largest, f"step {int(step)}", lags)
    label_row(row)


def list_lags(run: xr.Dataset) -> list[int]:
    """Lags after which a group of the run's chain ends; none where the chain is not recorded."""
    groups = read_chain(run).get("groups")
    return boundary_lags(groups) if groups else []


def draw(job: Job) -> Figure:
    """Maps of one run and seed at the section's `steps`, all heads in one, with what the colours mean.

    Input by role: `runs`.   Raises OnsetError where maps of a step were not kept.
    Source: arXiv 2602.19143, figures 2, 9, 11, 16, 18, 19 and 21.
    """
    plotting, own = job.sections["plotting"], job.own
    run = take_run(job.inputs["runs"], own.run)
    maps = take_maps(run, own.seed, own.steps)
    largest = float(maps.max())
    with look(plotting):
        figure = panels.open_figure(own)
        count, heads = maps.sizes["map_step"], maps.sizes["head"]
        axes = np.asarray(figure.subplots(1, count + 1, width_ratios=[1.0] * count + [0.11 * (heads + 1)]))
        draw_row(list(axes[:count]), maps, largest, list_lags(run))
        draw_scale(axes[count], heads, largest)
        note = (
            f"{captions.describe_chain(run)}; {captions.describe_run(run, 'seeds')}; "
            f"drawn: seed\xa0{own.seed}. {NOTE}"
        )
        return panels.finish(figure, job, note, letters=False)
