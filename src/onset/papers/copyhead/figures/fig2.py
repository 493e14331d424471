"""Figure 2: landscapes of the bare actions, of two order parameters (linear) and of one (softmax)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure, SubFigure

from onset.papers.copyhead.figures import panels, parts
from onset.plotting.panels import letter_panel
from onset.plotting.style import BLACK, VERMILLION, look

if TYPE_CHECKING:
    from onset.job.context import Job

LEVELS = (0.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Contours of the action above its minimum, in nats."""
WELL: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4.2, "markerfacecolor": VERMILLION}
SECOND: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4.2, "markerfacecolor": "white"}
EDGE: dict[str, Any] = {"markeredgecolor": BLACK, "markeredgewidth": 0.7}
TRIVIAL: dict[str, Any] = {"color": BLACK, "linestyle": (0, (2.5, 1.5)), "linewidth": 0.7}


def draw_contours(axes: Axes, landscapes: xr.Dataset, P: float, norm: BoundaryNorm) -> None:
    """The linear action at P above its least value, its minima, and where it equals the trivial state's."""
    chosen = landscapes.sel(linear_P=P)
    action = chosen.linear_action.transpose("cG", "c1").values
    least = min(float(action.min()), float(np.nanmin(chosen.linear_minimum.values, initial=0.0)))
    x, y = chosen.c1.values, chosen.cG.values
    axes.contourf(x, y, action - least, levels=LEVELS, cmap="Blues_r", norm=norm, extend="max")
    if action.min() < 0 < action.max():
        axes.contour(
            x, y, action, levels=[0.0], colors=TRIVIAL["color"], linestyles=["dashed"], linewidths=0.7
        )
    for state, marker in (("global", WELL), ("metastable", SECOND)):
        c1, cG = (float(chosen[name].sel(state=state)) for name in ("linear_c1", "linear_cG"))
        if np.isfinite(c1):
            axes.plot([c1, -c1], [cG, -cG], label=state, zorder=3, clip_on=False, **marker, **EDGE)
    axes.set_title(f"P = {P:g}", loc="left", pad=3)
    axes.set_xlabel("pooling, $c_1$")


def draw_linear(top: SubFigure, landscapes: xr.Dataset) -> None:
    """Contours of S_lin at each P (panel a), on one colour scale."""
    every = landscapes.linear_P.values
    row = top.subplots(1, len(every), squeeze=False, sharey=True)[0]
    norm = BoundaryNorm(LEVELS, 256, extend="max")
    for axes, P in zip(row, every, strict=True):
        draw_contours(axes, landscapes, float(P), norm)
    row[0].set_ylabel("copying, $c_G$")
    bar = top.colorbar(
        ScalarMappable(norm, "Blues_r"), ax=list(row), fraction=0.05, pad=0.02, aspect=16, extend="max"
    )
    bar.set_label("$S_{lin}$ above its\nminimum (nats)")
    bar.set_ticks(LEVELS, labels=[f"{level:g}" for level in LEVELS])
    bar.ax.tick_params(width=0.5, length=2)
    letter_panel(row[0], "a", left=-3.6)


def draw_curves(axes: Axes, landscapes: xr.Dataset) -> None:
    """S_softmax(aG) at each P, with the minima of both branches and the unstable saddle between."""
    colours = parts.ordered_colours(landscapes.sizes["softmax_P"])
    for colour, P in zip(colours, landscapes.softmax_P.values, strict=True):
        chosen = landscapes.sel(softmax_P=P)
        axes.plot(
            chosen.aG.values, chosen.softmax_action.values, color=colour, linewidth=1.1, label=f"P = {P:g}"
        )
        axes.plot(
            chosen.softmax_aG.values,
            chosen.softmax_minimum.values,
            label="_minima",
            zorder=3,
            **{**WELL, "markerfacecolor": colour},
            **EDGE,
        )
        top = float(chosen.softmax_minimum.sel(branch="uniform") + chosen.softmax_barrier)
        if np.isfinite(top):
            axes.plot(
                [float(chosen.softmax_saddle)],
                [top],
                "x",
                color=colour,
                markersize=4.5,
                markeredgewidth=1.3,
                label="_saddle",
                zorder=3,
            )
    axes.axhline(0, color="#BBBBBB", linewidth=0.5, zorder=1)
    axes.set_xlabel("copying, $a_G$")


def draw_softmax(bottom: SubFigure, landscapes: xr.Dataset) -> None:
    """S_softmax over the whole range (panel b) and around the barrier (panel c)."""
    whole, near = bottom.subplots(1, 2, width_ratios=[1.15, 1.0])
    for axes in (whole, near):
        draw_curves(axes, landscapes)
    lowest = float(np.nanmin(landscapes.softmax_minimum.values, initial=0.0))
    height = float(np.nanmax(landscapes.softmax_barrier.values, initial=2.0))
    whole.set(xlim=(-0.03, 1.0), ylim=(1.12 * lowest - 5, 0.35 * abs(lowest) + 2 * height))
    near.set(xlim=(-0.015, 0.5), ylim=(-0.6 * height, 1.6 * height))
    whole.set_ylabel("$S_{softmax}$ (nats)")
    near.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    letter_panel(whole, "b", left=-4.2)
    letter_panel(near, "c", left=-2.6)


def draw(job: Job) -> Figure:
    """Contours of S_lin(c1, cG) at each stage, and S_softmax(aG) around its first-order transition.

    Input by role: `landscapes`.   Source: arXiv 2606.12058, figure 2; both actions are our reconstruction,
    docs/theory/copyhead.md section 6.
    """
    plotting, landscapes = job.sections["plotting"], job.inputs["landscapes"]
    with look(plotting):
        figure = parts.open_plain(job.own)
        top, bottom = np.asarray(figure.subfigures(2, 1, height_ratios=[1.0, 1.1], hspace=0.03))
        draw_linear(top, landscapes)
        draw_softmax(bottom, landscapes)
        handles = [
            panels.point_handle("global minima", {**WELL, **EDGE}),
            panels.point_handle("metastable minima, $c_1 c_G < 0$", {**SECOND, **EDGE}),
            parts.line_handle("action of the trivial state", **TRIVIAL),
            panels.point_handle("unstable saddle", {"linestyle": "none", "marker": "x", "color": BLACK}),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=4)
        note = (
            f"{parts.name_sizes(landscapes)}Bare actions, without fluctuations of the attention: the "
            "transitions of figures 3 and 4 lie at larger P. c: the same curves near uniform attention. "
            f"{parts.SIZES}"
        )
        panels.finish(figure, plotting, note, legend_rows=1)
    return figure
