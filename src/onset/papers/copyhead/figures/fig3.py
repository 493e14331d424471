"""Figure 3: pooling and copying of linear attention against the number of training sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from onset.papers.copyhead.figures import panels
from onset.papers.copyhead.selection import free_attention, signed_final, signed_means, stage_of
from onset.plotting.panels import add_colour_bar, attention_scale, draw_attention, label_maps, letter_panel
from onset.plotting.style import COPYING, MARKER, POOLING, THEORY, look

if TYPE_CHECKING:
    from onset.job.context import Job


def draw(job: Job) -> Figure:
    """|c1| and cG sign(c1) by theory, SGLD and Adam (left), and mean attention maps by stage (right).

    Inputs by role: `theory` (linear_theory), `sgld`, `adam`.  Raises KeyError where a value of
    `maps_at` was not sampled.  Source: arXiv 2606.12058, figure 3.
    """
    plotting = job.sections["plotting"]
    theory, sgld, adam = (job.inputs[role] for role in ("theory", "sgld", "adam"))
    chains, seeds = signed_means(sgld), signed_final(adam)
    with look(plotting):
        figure = Figure(figsize=(job.own.width, job.own.height), layout="constrained")
        left, right = figure.subfigures(1, 2, width_ratios=[1.25, 1.0])
        above, below = left.subplots(2, 1, sharex=True)
        onset = float(theory.onset.sel(theory="dressed"))
        for axes, name, colour in ((above, "c1", POOLING), (below, "cG", COPYING)):
            panels.draw_theory(axes, theory[name])
            means = theory[f"{name}_mean"]
            axes.plot(means.P_finite.values, means.values, label="dressed, mean at finite L", **THEORY["finite"])
            panels.draw_seeds(axes, seeds[name], seeds.free, colour, "Adam")
            panels.draw_chains(axes, chains[name], chains.free, colour, "SGLD")
            axes.margins(x=0.02)
        above.set_ylabel("pooling, |c₁|")
        below.set_ylabel("copying, c_G")
        below.set_xlabel(panels.P_LABEL)
        above.set_ylim(bottom=-0.03)
        panels.mark_transition(above, onset, "onset", 0.9)
        panels.mark_transition(below, onset, "onset", 0.9)
        letter_panel(above, "a")
        letter_panel(below, "b")

        maps = [free_attention(sgld, P, chains.free) for P in job.own.maps_at]
        columns = (len(maps) + 1) // 2
        grid = right.subplots(2, columns, squeeze=False)
        scale = attention_scale(maps)
        for axes, P, attention in zip(grid.flat, job.own.maps_at, maps, strict=False):
            image = draw_attention(axes, attention, scale, f"P = {P}, {stage_of(theory, P)}")
        for axes in grid.flat[len(maps) :]:
            axes.remove()
        label_maps(grid)
        add_colour_bar(right, image, grid, "mean attention weight")
        letter_panel(grid[0, 0], "c")
        handles = [
            *panels.theory_handles(finite=True),
            panels.sgld_handle("SGLD, mean and sd over chains", MARKER),
            panels.adam_handle("Adam, cluster of lower loss", MARKER),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=3)
        out_chains, out_seeds = int((~chains.free).sum()), int((~seeds.free).sum())
        note = (
            f"{panels.describe_runs(theory, sgld, adam)} Faint marks: {out_chains} of {chains.free.size} chains and "
            f"{out_seeds} of {seeds.free.size} seeds in the metastable state with c₁c_G < 0, left out of the means. "
            f"Maps: mean over chains and steps. {panels.STANDING}"
        )
        panels.finish(figure, plotting, note, legend_rows=2)
    return figure
