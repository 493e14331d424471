"""Figure 4: copying of softmax attention jumps, with two phases side by side around the transition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from onset.papers.copyhead.figures import panels
from onset.papers.copyhead.selection import free_attention, kept_means
from onset.plotting.panels import (
    add_colour_bar,
    attention_scale,
    draw_attention,
    label_maps,
    letter_panel,
)
from onset.plotting.style import COPYING, POOLING, TRANSITION, WINDOW, axis_label, look

if TYPE_CHECKING:
    from onset.job.context import Job

WINDOW_LABEL = "both phases, dressed"
TRANSITION_LABEL = "transition $P_c$, dressed"


def legend_handles() -> list[Artist]:
    """Entries of the legend in four columns: theory, transition, copying, pooling."""
    return [
        *panels.theory_handles("bare", "map", "dressed"),
        Line2D([], [], label=TRANSITION_LABEL, **TRANSITION),
        Patch(color=WINDOW, linewidth=0, label=WINDOW_LABEL),
        Line2D([], [], linestyle="none", label=" "),
        panels.point_handle("$a_G$, SGLD from prior", panels.sgld_points(COPYING)),
        panels.point_handle("$a_G$, SGLD from copying", panels.sgld_points(COPYING, filled=False)),
        panels.point_handle("$a_G$, Adam", panels.adam_points(COPYING)),
        panels.point_handle("$a_1$, SGLD", panels.sgld_points(POOLING)),
        panels.point_handle("$a_1$, Adam", panels.adam_points(POOLING)),
    ]


def draw_curves(axes: Axes, theory: xr.Dataset, starts: dict[str, xr.Dataset], adam: xr.Dataset) -> None:
    """a1 and aG against P, the dressed window shaded and its transition marked (panel a)."""
    dressed, final = theory.sel(theory="dressed"), adam.isel(epoch=-1)
    window = float(dressed.P_lower), float(dressed.P_upper)
    if np.isfinite(window).all():
        axes.axvspan(*window, color=WINDOW, linewidth=0, zorder=0, label=WINDOW_LABEL)
    panels.mark_transition(axes, float(dressed.P_c), TRANSITION_LABEL)
    panels.draw_theory(axes, theory.aG)
    for (start, sgld), filled in zip(starts.items(), (True, False), strict=True):
        points, means = panels.sgld_points(COPYING, filled), kept_means(sgld.aG)
        panels.draw_chains(axes, means, None, points, f"$a_G$, SGLD {start}", whole_range=True)
        panels.draw_members(axes, means, means.notnull(), points)
    panels.draw_seeds(axes, final.aG, None, panels.adam_points(COPYING), "$a_G$, Adam")
    pooled = kept_means(starts["from prior"].a1)
    panels.draw_chains(axes, pooled, None, panels.sgld_points(POOLING), "$a_1$, SGLD from prior")
    panels.draw_seeds(axes, final.a1, None, panels.adam_points(POOLING), "$a_1$, Adam")
    axes.set(
        xlabel=axis_label(sgld.P.attrs, "P"), ylabel="pooling, $a_1$, and copying, $a_G$", ylim=(-0.04, 1.1)
    )
    axes.margins(x=0.02)
    letter_panel(axes, "a", left=-3.6)


def draw_maps(right: SubFigure, starts: dict[str, xr.Dataset], at: tuple[int, ...]) -> None:
    """Mean attention at each P of `at`, a row for each start (panel b)."""
    grid = right.subplots(len(starts), len(at), squeeze=False)
    scale = attention_scale([free_attention(sgld, P) for sgld in starts.values() for P in at])
    titles = [f"P = {P}" for P in at]
    for row, start in zip(grid, starts, strict=True):
        for axes, P, title in zip(row, at, [f"{start}\n{titles[0]}", *titles[1:]], strict=True):
            image = draw_attention(axes, free_attention(starts[start], P), scale, title)
    label_maps(grid)
    add_colour_bar(right, image, scale, grid, "mean attention weight")
    letter_panel(grid[0, 0], "b", left=-3.0)


def draw(job: Job) -> Figure:
    """a1 and aG by theory, SGLD from two starting states and Adam (left), and mean attention maps (right).

    Inputs by role: `theory` (softmax_theory), `from_prior`, `from_copy`, `adam`.  Raises KeyError where
    a value of `maps_at` was not sampled.  Source: arXiv 2606.12058, figure 4.
    """
    plotting = job.sections["plotting"]
    theory, adam = job.inputs["theory"], job.inputs["adam"]
    starts = {"from prior": job.inputs["from_prior"], "from copying": job.inputs["from_copy"]}
    with look(plotting):
        figure, left, right = panels.open_figure(job.own)
        draw_curves(left.subplots(), theory, starts, adam)
        draw_maps(right, starts, job.own.maps_at)
        figure.legend(handles=legend_handles(), loc="upper center", ncol=4)
        note = (
            f"{panels.describe_runs(theory, starts['from prior'], adam)} Bars: range of the chains; faint: "
            "each chain, whose mean lies between the phases where it changed phase. a₁ = 1, as rows of "
            f"softmax attention sum to 1. Maps: SGLD, square-root scale. {panels.STANDING}"
        )
        panels.finish(figure, plotting, note, legend_rows=3)
    return figure
