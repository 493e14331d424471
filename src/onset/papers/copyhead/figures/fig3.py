"""Figure 3: pooling and copying of linear attention against the number of training sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from onset.papers.copyhead.figures import panels
from onset.papers.copyhead.selection import free_attention, signed_final, signed_means, stage_of
from onset.plotting.panels import add_colour_bar, attention_scale, draw_attention, label_maps, letter_panel
from onset.plotting.style import COPYING, MARKER, POOLING, TRANSITION, axis_label, look

if TYPE_CHECKING:
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


def draw_curves(
    left: SubFigure, theory: xr.Dataset, sgld: xr.Dataset, chains: xr.Dataset, seeds: xr.Dataset
) -> None:
    """|c1| (panel a) and cG sign(c1) (panel b); chains and seeds as from `signed_means`, `signed_final`."""
    panels_of = left.subplots(2, 1, sharex=True)
    for axes, name, colour, letter in zip(panels_of, ("c1", "cG"), (POOLING, COPYING), "ab", strict=True):
        panels.draw_theory(axes, theory[name])
        panels.draw_line(axes, theory[f"metastable_{name}"].sel(theory="dressed"), "metastable")
        panels.draw_line(axes, theory[f"{name}_mean"].rename(P_finite="P"), "finite")
        panels.draw_seeds(axes, seeds[name], ~seeds.free, panels.adam_points(colour), "Adam")
        panels.draw_chains(axes, chains[name], ~chains.free, panels.sgld_points(colour), "SGLD")
        panels.mark_transition(axes, float(theory.onset.sel(theory="dressed")), ONSET_LABEL)
        axes.margins(x=0.02)
        letter_panel(axes, letter, left=-4.4)
    panels_of[0].set(ylabel="pooling, $|c_1|$", ylim=(-0.03, None))
    panels_of[1].set(ylabel="copying, $c_G$", xlabel=axis_label(sgld.P.attrs, "P"))


def draw_maps(
    right: SubFigure, theory: xr.Dataset, sgld: xr.Dataset, free: xr.DataArray, at: tuple[int, ...]
) -> None:
    """Mean attention of the free chains at each P of `at`, with its stage (panel c)."""
    maps = [free_attention(sgld, P, free) for P in at]
    grid = right.subplots(2, (len(maps) + 1) // 2, squeeze=False)
    scale = attention_scale(maps)
    for axes, P, attention in zip(grid.flat, at, maps, strict=False):
        image = draw_attention(axes, attention, scale, f"P = {P}, {stage_of(theory, P)}")
    label_maps(grid)
    for axes in grid.flat[len(maps) :]:
        axes.set_visible(False)
    add_colour_bar(right, image, scale, grid, "mean attention weight")
    letter_panel(grid[0, 0], "c", left=-3.0)


def legend_handles() -> list[Line2D]:
    """Entries of the legend in four columns."""
    return [
        *panels.theory_handles("bare", "map", "dressed"),
        Line2D([], [], label=ONSET_LABEL, **TRANSITION),
        *panels.theory_handles("finite", "metastable"),
        panels.point_handle("SGLD, mean ± sd of chains", panels.sgld_points(MARKER)),
        panels.point_handle("Adam, lower-loss cluster", panels.adam_points(MARKER)),
    ]


def draw(job: Job) -> Figure:
    """|c1| and cG sign(c1) by theory, SGLD and Adam (left), and mean attention maps by stage (right).

    Inputs by role: `theory` (linear_theory), `sgld`, `adam`.  Raises KeyError where a value of
    `maps_at` was not sampled.  Source: arXiv 2606.12058, figure 3.
    """
    plotting = job.sections["plotting"]
    theory, sgld, adam = (job.inputs[role] for role in ("theory", "sgld", "adam"))
    chains, seeds = signed_means(sgld), signed_final(adam)
    with look(plotting):
        figure, left, right = panels.open_figure(job.own)
        draw_curves(left, theory, sgld, chains, seeds)
        draw_maps(right, theory, sgld, chains.free, job.own.maps_at)
        figure.legend(handles=legend_handles(), loc="upper center", ncol=4)
        note = (
            f"{panels.describe_runs(theory, sgld, adam)} {describe_trapped(chains.free, seeds.free)} "
            f"Maps: mean over chains and steps, square-root scale. {panels.STANDING}"
        )
        panels.finish(figure, plotting, note, legend_rows=2)
    return figure
