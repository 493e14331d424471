"""Figure 3: pooling and copying of linear attention against the number of training sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from onset.papers.copyhead.figures import panels
from onset.papers.copyhead.selection import free_attention, signed_final, signed_means, stage_of
from onset.plotting.panels import add_colour_bar, attention_scale, draw_attention, label_maps, letter_panel
from onset.plotting.style import COPYING, MARKER, POOLING, THEORY, TRANSITION, look

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job

ONSET_LABEL = "dressed, onset"


def describe_trapped(chains: xr.DataArray, seeds: xr.DataArray) -> str:
    """One sentence on the chains and seeds that the means leave out, those where the argument is False."""
    counts = {"chains": chains, "seeds": seeds}
    trapped = [f"{int((~f).sum())} of {f.size} {member}" for member, f in counts.items() if not f.all()]
    if not trapped:
        return f"None of {chains.size} chains and {seeds.size} seeds ended in the metastable state."
    return (
        f"Faint marks: {' and '.join(trapped)} in the metastable state with c₁c_G < 0, left out of the means."
    )


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
        left, right = figure.subfigures(1, 2, width_ratios=[1.25, 1.0], wspace=0.04)
        above, below = left.subplots(2, 1, sharex=True)
        onset = float(theory.onset.sel(theory="dressed"))
        for axes, name, colour in ((above, "c1", POOLING), (below, "cG", COPYING)):
            panels.draw_theory(axes, theory[name])
            means = theory[f"{name}_mean"]
            metastable = theory[f"metastable_{name}"].sel(theory="dressed")
            axes.plot(
                metastable.P.values,
                metastable.values,
                label=panels.THEORY_LABELS["metastable"],
                **THEORY["metastable"],
            )
            axes.plot(
                means.P_finite.values, means.values, label=panels.THEORY_LABELS["finite"], **THEORY["finite"]
            )
            panels.draw_seeds(axes, seeds[name], ~seeds.free, panels.adam_points(colour), "Adam")
            panels.draw_chains(axes, chains[name], ~chains.free, panels.sgld_points(colour), "SGLD")
            axes.axvline(onset, label=ONSET_LABEL, **TRANSITION)
            axes.margins(x=0.02)
        above.set_ylabel("pooling, $|c_1|$")
        below.set_ylabel("copying, $c_G$")
        below.set_xlabel(panels.P_LABEL)
        above.set_ylim(bottom=-0.03)
        letter_panel(above, "a", left=-4.4)
        letter_panel(below, "b", left=-4.4)

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
        letter_panel(grid[0, 0], "c", left=-3.0)
        bare, at_maximum, dressed, finite, metastable = panels.theory_handles("finite", "metastable")
        handles = [
            *(bare, at_maximum, dressed, Line2D([], [], label=ONSET_LABEL, **TRANSITION), finite, metastable),
            panels.point_handle("SGLD, mean ± sd of chains", panels.sgld_points(MARKER)),
            panels.point_handle("Adam, lower-loss cluster", panels.adam_points(MARKER)),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=4)
        note = (
            f"{panels.describe_runs(theory, sgld, adam)} {describe_trapped(chains.free, seeds.free)} "
            f"Maps: mean over chains and steps, on a square-root scale. {panels.STANDING}"
        )
        panels.finish(figure, plotting, note, legend_rows=2)
    return figure
