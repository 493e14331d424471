"""Figure 1: the stages of attention on the way to the copy head, linear and softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from onset.papers.copyhead.figures import panels, parts
from onset.papers.copyhead.selection import free_attention, kept_means, signed_means, stage_of
from onset.plotting.panels import add_colour_bar, attention_scale, draw_attention, label_maps, letter_panel
from onset.plotting.style import COPYING, MARKER, POOLING, TRANSITION, WINDOW, axis_label, look

if TYPE_CHECKING:
    from onset.job.context import Job


def phase_of(theory: xr.Dataset, P: float) -> str:
    """The phase of softmax attention at P by the dressed theory: uniform, copying, or both in the window."""
    dressed = theory.sel(theory="dressed")
    lower, upper = float(dressed.P_lower), float(dressed.P_upper)
    if not np.isfinite(lower):
        return "no transition"
    return "uniform" if lower > P else "copying" if upper < P else "both phases"


def draw_maps(
    top: SubFigure, inputs: dict[str, xr.Dataset], free: xr.DataArray, at: dict[str, tuple[int, ...]]
) -> None:
    """Mean attention at each drawn P, linear (panel a) beside softmax (panel b), on one colour scale."""
    maps = [free_attention(inputs["linear_sgld"], P, free) for P in at["linear"]]
    maps += [free_attention(inputs["softmax_sgld"], P) for P in at["softmax"]]
    titles = [
        f"{parts.ROMAN[k]}: {stage_of(inputs['linear_theory'], P)}\nP = {P}"
        for k, P in enumerate(at["linear"])
    ]
    titles += [f"{phase_of(inputs['softmax_theory'], P)}\nP = {P}" for P in at["softmax"]]
    grid = top.subplots(1, len(maps), squeeze=False)
    scale = attention_scale(maps)
    for axes, attention, title in zip(grid[0], maps, titles, strict=True):
        image = draw_attention(axes, attention, scale, title)
    label_maps(grid)
    add_colour_bar(top, image, scale, grid, "mean weight")
    letter_panel(grid[0, 0], "a", left=-1.35, up=1.7)
    letter_panel(grid[0, len(at["linear"])], "b", left=-1.3, up=1.7)


def mark_maps(axes: Axes, at: tuple[int, ...], names: list[str]) -> None:
    """A tick above the panel at each P whose map is drawn."""
    for P, name in zip(at, names, strict=True):
        axes.annotate(
            name,
            xy=(P, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=float(axes.xaxis.label.get_fontsize()) * 0.9,
            arrowprops={"arrowstyle": "-", "color": MARKER, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
        )


def draw_linear(axes: Axes, theory: xr.Dataset, sgld: xr.Dataset, at: tuple[int, ...]) -> None:
    """|c1| and cG sign(c1) of free chains against P, over the dressed saddle and finite-size means."""
    chains = signed_means(sgld)
    dressed = theory.sel(theory="dressed")
    for name, colour, label in (("c1", POOLING, "$|c_1|$"), ("cG", COPYING, "$c_G$")):
        panels.draw_line(axes, dressed[name], "dressed")
        panels.draw_line(axes, theory[f"{name}_mean"].rename(P_finite="P"), "finite")
        panels.draw_chains(axes, chains[name], ~chains.free, panels.sgld_points(colour), label)
    panels.mark_transition(axes, float(dressed.onset), "onset")
    mark_maps(axes, at, [parts.ROMAN[k] for k in range(len(at))])
    axes.set(xlabel=axis_label(sgld.P.attrs, "P"), ylabel="order parameters", ylim=(-0.04, 1.08))
    axes.margins(x=0.03)
    letter_panel(axes, "c", left=-3.4)


def draw_softmax(axes: Axes, theory: xr.Dataset, sgld: xr.Dataset, at: tuple[int, ...]) -> None:
    """a1 = 1 and aG of chains from the prior against P, over both branches of the dressed theory."""
    dressed = theory.sel(theory="dressed")
    window = float(dressed.P_lower), float(dressed.P_upper)
    if np.isfinite(window).all():
        axes.axvspan(*window, color=WINDOW, linewidth=0, zorder=0, label="both phases")
    for branch in dressed.branch.values:
        panels.draw_line(axes, dressed.aG.sel(branch=branch), "dressed")
    for name, colour, label in (("a1", POOLING, "$a_1$"), ("aG", COPYING, "$a_G$")):
        means = kept_means(sgld[name])
        panels.draw_chains(axes, means, None, panels.sgld_points(colour), label, whole_range=True)
    panels.mark_transition(axes, float(dressed.P_c), "transition")
    mark_maps(axes, at, [""] * len(at))
    axes.set(xlabel=axis_label(sgld.P.attrs, "P"), ylim=(-0.04, 1.08))
    axes.margins(x=0.03)
    letter_panel(axes, "d", left=-1.6)


def draw(job: Job) -> Figure:
    """Mean attention maps by stage (top) and order parameters against P (bottom), linear and softmax.

    Inputs by role: `linear_theory`, `softmax_theory`, `linear_sgld`, `softmax_sgld` (from the prior).  Raises
    KeyError where a P of `linear_at` or `softmax_at` was not sampled.   Source: arXiv 2606.12058, figure 1
    and abstract; layout and sizes are ours.
    """
    plotting, own, inputs = job.sections["plotting"], job.own, dict(job.inputs)
    free = signed_means(inputs["linear_sgld"]).free
    trapped = int((~free).sum())
    with look(plotting):
        figure = parts.open_plain(own)
        top, bottom = np.asarray(figure.subfigures(2, 1, height_ratios=[1.0, 1.35], hspace=0.03))
        draw_maps(top, inputs, free, {"linear": own.linear_at, "softmax": own.softmax_at})
        left, right = bottom.subplots(1, 2, width_ratios=[1.3, 1.0])
        draw_linear(left, inputs["linear_theory"], inputs["linear_sgld"], own.linear_at)
        draw_softmax(right, inputs["softmax_theory"], inputs["softmax_sgld"], own.softmax_at)
        handles = [
            *panels.theory_handles("dressed", "finite"),
            parts.line_handle("onset, transition $P_c$", **TRANSITION),
            panels.point_handle("SGLD, pooling $|c_1|$, $a_1$", panels.sgld_points(POOLING)),
            panels.point_handle("SGLD, copying $c_G$, $a_G$", panels.sgld_points(COPYING)),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=5)
        linear, softmax = (parts.describe_chains(inputs[f"{kind}_sgld"]) for kind in ("linear", "softmax"))
        note = (
            "a, c: linear attention; b, d: softmax attention, grey: both phases exist. "
            f"{parts.name_sizes(inputs['linear_theory'])}{linear} (linear), "
            f"{softmax.removeprefix('SGLD: ')} (softmax), from the prior. "
            "Maps: mean over chains and steps, times sign c₁, square-root colour scale; stages by the "
            "theory's c_G/c₁ below 0.1, up to 0.5, above. Bars: sd (c), range (d) of chains. "
            f"{trapped} of {free.size} chains caught at c₁c_G < 0 are faint and in no mean. {parts.SIZES}"
        )
        panels.finish(figure, plotting, note, legend_rows=2)
    return figure
