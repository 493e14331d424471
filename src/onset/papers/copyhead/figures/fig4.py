"""Figure 4: copying of softmax attention jumps, with two phases side by side around the transition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from onset.papers.copyhead.figures import panels
from onset.papers.copyhead.selection import free_attention, kept_means
from onset.plotting.panels import add_colour_bar, attention_scale, draw_attention, label_maps, letter_panel
from onset.plotting.style import COPYING, POOLING, WINDOW, look

if TYPE_CHECKING:
    from onset.job.context import Job


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
        left, right = figure.subfigures(1, 2, width_ratios=[1.25, 1.0])
        axes = left.subplots()
        window = float(dressed.P_lower), float(dressed.P_upper)
        if np.isfinite(window).all():
            axes.axvspan(*window, color=WINDOW, linewidth=0, zorder=0, label="dressed coexistence")
        panels.mark_transition(axes, float(dressed.P_c), "$P_c$", 0.72)
        panels.draw_theory(axes, theory.aG)
        final = adam.isel(epoch=-1)
        panels.draw_seeds(axes, final.a1, None, POOLING, "$a_1$, Adam")
        panels.draw_seeds(axes, final.aG, None, COPYING, "$a_G$, Adam")
        for (start, sgld), filled in zip(starts.items(), (True, False), strict=True):
            if filled:
                panels.draw_chains(axes, kept_means(sgld.a1), None, POOLING, f"$a_1$, SGLD {start}")
            panels.draw_chains(axes, kept_means(sgld.aG), None, COPYING, f"$a_G$, SGLD {start}", filled)
        axes.set(xlabel=panels.P_LABEL, ylabel="pooling, a₁, and copying, a_G", ylim=(-0.04, 1.1))
        axes.margins(x=0.02)
        letter_panel(axes, "a")

        maps = {(s, P): free_attention(d, P) for s, d in starts.items() for P in job.own.maps_at}
        grid = right.subplots(len(starts), len(job.own.maps_at), squeeze=False)
        scale = attention_scale(list(maps.values()))
        for panel, ((start, P), attention) in zip(grid.flat, maps.items(), strict=True):
            image = draw_attention(panel, attention, scale, f"P = {P}" if start == "from the prior" else "")
        label_maps(grid)
        for row, start in zip(grid[:, 0], starts, strict=True):
            row.set_ylabel(f"{start}\nquery", labelpad=-5)
        add_colour_bar(right, image, grid, "mean attention weight")
        letter_panel(grid[0, 0], "b")
        figure.legend(handles=axes.get_legend_handles_labels()[0], loc="upper center", ncol=3)
        note = (
            f"{panels.describe_runs(theory, starts['from the prior'], adam)} Bars: sd over chains; inside the window "
            "chains of one start can be in different phases. a₁ = 1 exactly, as rows of softmax attention sum to 1. "
            f"{panels.STANDING}"
        )
        panels.finish(figure, plotting, note, legend_rows=3)
    return figure
