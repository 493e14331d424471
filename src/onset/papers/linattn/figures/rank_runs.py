"""One run of each rank: its loss and the values of its heads (figures 11 and 12)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.papers.linattn.carriers import expect_carried_values, list_carried
from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import take_run, take_theory
from onset.plotting.panels import letter_panel
from onset.plotting.style import HEADS, look

if TYPE_CHECKING:
    from onset.job.context import Job


Flow = xr.Dataset | None
"""The exact flow of one run, where it was integrated."""


def take_flow(flow: xr.Dataset, label: str, seed: int) -> Flow:
    """The exact flow of one seed of one run, or None where it was not integrated."""
    if label not in flow.run.values or seed not in flow.seed.values:
        return None
    return flow.sel(run=label, seed=seed)


def order_ranks(runs: xr.Dataset) -> list[str]:
    """Labels of all runs by their rank."""
    return [str(runs.run.values[k]) for k in np.argsort(runs.rank_of.values, kind="stable")]


def spread(values: np.ndarray, apart: float) -> np.ndarray:
    """Heights for labels of values: each at its own, or higher where the next below is too near."""
    heights = values.copy()
    for before, after in pairwise(np.argsort(values)[: np.isfinite(values).sum()]):
        heights[after] = max(heights[after], heights[before] + apart)
    return heights


def name_heights(
    axes: Axes, values: np.ndarray, names: list[str], colours: list[str], apart: float, size: float
) -> None:
    """Write names right of an axis at their values, a little higher where they would touch; NaN have none."""
    place: dict[str, Any] = {
        "xycoords": ("axes fraction", "data"),
        "xytext": (3, 0),
        "textcoords": "offset points",
        "va": "center",
    }
    for height, name, colour in zip(spread(values, apart), names, colours, strict=True):
        if np.isfinite(height):
            axes.annotate(name, (1.0, height), fontsize=size, color=colour, **place)


def draw_loss(axes: Axes, run: xr.Dataset, flow: Flow, expected: xr.Dataset, size: float) -> None:
    """Loss of the run, the exact flow and the plateaus of Eq. 19, in brackets where R does not divide m."""
    rank, colour = int(run.rank_of), panels.RANKS.get(int(run.rank_of), HEADS[0])
    axes.plot(run.epoch.values, run.loss.values, color=colour, linewidth=1.4, label="loss")
    if flow is not None:
        axes.plot(flow.step.values, flow.loss.values, label="flow", **panels.FLOW_LINE)
    levels = expected.plateau_loss.values
    top, D = 1.06 * levels[0], len(levels) - 1
    axes.set_ylim(0, top)
    panels.mark_plateaus(axes, levels, size, [""] * (D + 1))
    names = [f"m = {m}" if m % rank == 0 or m == D else f"({m})" for m in range(D + 1)]
    name_heights(axes, levels, names, ["#555555"] * (D + 1), 0.08 * top, size)
    axes.set_title(f"R = {rank}", loc="left", pad=4)


def draw_values(axes: Axes, run: xr.Dataset, flow: Flow, expected: xr.Dataset, size: float) -> None:
    """|v_i| of every head over the exact flow; a dashed line at (sum of λ/a)^(1/3) of what a head carries."""
    carried = list_carried(run, expected)
    values = expect_carried_values(carried, expected)
    top = 1.1 * float(np.nanmax([*values, 1.0]))
    colours = [HEADS[head % len(HEADS)] for head in run["head"].values]
    for head, colour in zip(run["head"].values, colours, strict=True):
        one = abs(run.v.sel(head=head)).values
        axes.plot(run.epoch.values, one, color=colour, linewidth=1.2, label="_head")
        if flow is not None:
            step, value = flow.step.values, abs(flow.v.sel(head=head)).values
            axes.plot(step, value, label="_flow", **panels.FLOW_LINE)
        if carried[head]:
            axes.axhline(values[head], label="_carried", **panels.PLATEAU)
    names = [",".join(str(d + 1) for d in one) for one in carried]
    name_heights(axes, values, names, colours, 0.1 * top, size)
    axes.set_title(f"R = {int(run.rank_of)}, heads", loc="left", pad=4)
    axes.set(ylabel="$|v_i|$", xlabel="gradient steps", ylim=(0, top))


def draw_ranks(job: Job, what: str) -> Figure:
    """Loss (above) and values of the heads (below) of one seed of every run, a column for each.

    Inputs by role: `runs` (fig11_runs), `theory`, `flow` (fig11_flow).  `what` ends the footnote.
    Raises KeyError where the seed was not trained.  Source: arXiv 2501.16265, figures 11 and 12.
    """
    plotting, runs, seed = job.sections["plotting"], job.inputs["runs"], job.own.seed
    labels = order_ranks(runs)
    size = panels.small(plotting)
    with look(plotting):
        figure = panels.open_figure(job.own)
        grid = figure.subplots(
            2, len(labels), sharex="col", sharey="row", squeeze=False, height_ratios=[1.3, 1.0]
        )
        flows = {}
        for column, label in enumerate(labels):
            run = take_run(runs, label).sel(seed=seed)
            expected = take_theory(job.inputs["theory"], run)
            flows[label] = take_flow(job.inputs["flow"], label, seed)
            draw_loss(grid[0, column], run, flows[label], expected, size)
            draw_values(grid[1, column], run, flows[label], expected, size)
            panels.frame_steps(grid[0, column], [run.loss])
            panels.label_decades(grid[0, column], narrow=True)
            for row in (0, 1):
                letter_panel(grid[row, column], "abcdefghijkl"[row * len(labels) + column], left=-1.4)
        grid[0, 0].set_ylabel(panels.LOSS_LABEL)
        for axes in grid[1, 1:]:
            axes.set_ylabel("")
        drawn = any(flow is not None for flow in flows.values())
        overlay = "Dotted: exact population flow from the same start. " if drawn else ""
        first = take_run(runs, labels[0])
        note = (
            f"One run, seed\xa0{seed}: {panels.describe_run(first, 'rank', 'seeds')}; "
            f"{panels.describe_task(expected)}. {overlay}Dashed: plateaus of Eq. 19, in brackets those "
            "whose m is "
            "no multiple of R, where the stay is short; below, (Σ λ_d/a_d)^(1/3) of a head over the "
            "directions that "
            f"it carries, named at the right. {what}"
        )
        panels.finish(figure, plotting, f"{note} {panels.describe_scale(job.scale)}".strip())
    return figure
