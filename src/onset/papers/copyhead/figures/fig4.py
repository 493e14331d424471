"""Figure 4: copying of softmax attention jumps, with two phases side by side around the transition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from onset.papers.copyhead.figures import panels
from onset.papers.copyhead.selection import free_attention, kept_means
from onset.plotting.panels import add_colour_bar, attention_scale, draw_attention, label_maps, letter_panel
from onset.plotting.style import COPYING, POOLING, WINDOW, look

if TYPE_CHECKING:
    from onset.job.context import Job

WINDOW_LABEL = "dressed, both phases (shaded)"


def legend_handles() -> list[Artist]:
    """Entries of the legend in three columns: theory, copying, pooling and the window."""
    copying, pooling = panels.sgld_points(COPYING), panels.sgld_points(POOLING)
    return [
        *panels.theory_handles(),
        panels.point_handle("$a_G$, SGLD from the prior", copying),
        panels.point_handle("$a_G$, SGLD from copying", panels.sgld_points(COPYING, filled=False)),
        panels.point_handle("$a_G$, Adam", panels.adam_points(COPYING)),
        panels.point_handle("$a_1$, SGLD from the prior", pooling),
        panels.point_handle("$a_1$, Adam", panels.adam_points(POOLING)),
        Patch(color=WINDOW, linewidth=0, label=WINDOW_LABEL),
    ]


def draw(job: Job) -> Figure:
    """a1 and aG by theory, SGLD from two starting states and Adam (left), and mean attention maps (right).

    Inputs by role: `theory` (softmax_theory), `from_prior`, `from_copy`, `adam`.  Raises KeyError where
    a value of `maps_at` was not sampled.  Source: arXiv 2606.12058, figure 4.
    """
    plotting = job.sections["plotting"]
    theory, adam = job.inputs["theory"], job.inputs["adam"]
    starts = {"from the prior": job.inputs["from_prior"], "from copying": job.inputs["from_copy"]}
    dressed = theory.sel(theory="dressed")
    with look(plotting):
        figure = Figure(figsize=(job.own.width, job.own.height), layout="constrained")
        left, right = figure.subfigures(1, 2, width_ratios=[1.25, 1.0], wspace=0.04)
        axes = left.subplots()
        window = float(dressed.P_lower), float(dressed.P_upper)
        if np.isfinite(window).all():
            axes.axvspan(*window, color=WINDOW, linewidth=0, zorder=0, label=WINDOW_LABEL)
        panels.mark_transition(axes, float(dressed.P_c), "$P_c$", 0.72)
        panels.draw_theory(axes, theory.aG)
        final = adam.isel(epoch=-1)
        for (start, sgld), filled in zip(starts.items(), (True, False), strict=True):
            points = panels.sgld_points(COPYING, filled)
            means = kept_means(sgld.aG)
            panels.draw_chains(axes, means, None, points, f"$a_G$, SGLD {start}")
            panels.draw_members(axes, means, means.notnull(), points)
        panels.draw_seeds(axes, final.aG, None, panels.adam_points(COPYING), "$a_G$, Adam")
        pooled = kept_means(starts["from the prior"].a1)
        panels.draw_chains(axes, pooled, None, panels.sgld_points(POOLING), "$a_1$, SGLD from the prior")
        panels.draw_seeds(axes, final.a1, None, panels.adam_points(POOLING), "$a_1$, Adam")
        axes.set(xlabel=panels.P_LABEL, ylabel="pooling, $a_1$, and copying, $a_G$", ylim=(-0.04, 1.1))
        axes.margins(x=0.02)
        letter_panel(axes, "a", left=-3.6)

        maps = {(s, P): free_attention(d, P) for s, d in starts.items() for P in job.own.maps_at}
        grid = right.subplots(len(starts), len(job.own.maps_at), squeeze=False)
        scale = attention_scale(list(maps.values()))
        for panel, ((start, P), attention) in zip(grid.flat, maps.items(), strict=True):
            row_title = f"SGLD {start}\n" if panel in grid[:, 0] else ""
            image = draw_attention(panel, attention, scale, f"{row_title}P = {P}")
        label_maps(grid)
        add_colour_bar(right, image, grid, "mean attention weight")
        letter_panel(grid[0, 0], "b", left=-3.0)
        figure.legend(handles=legend_handles(), loc="upper center", ncol=3)
        note = (
            f"{panels.describe_runs(theory, starts['from the prior'], adam)} Bars: sd over chains; faint: "
            "each chain, which inside the window can be in either phase. a₁ = 1 exactly, as rows of softmax "
            f"attention sum to 1. Maps on a square-root scale. {panels.STANDING}"
        )
        panels.finish(figure, plotting, note, legend_rows=3)
    return figure
