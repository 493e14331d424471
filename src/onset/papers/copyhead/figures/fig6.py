"""Figure 6: losses of Adam on linear attention end in two clusters, those of the two minima of the theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from onset.papers.copyhead.figures import panels, parts
from onset.papers.copyhead.selection import signed_final
from onset.plotting.style import BLUE, THEORY, VERMILLION, look

if TYPE_CHECKING:
    from onset.job.context import Job

COLUMNS = 3
CLUSTERS = {True: (BLUE, "signs of $c_1$, $c_G$ equal"), False: (VERMILLION, "signs opposite")}
MINIMA = {"global": THEORY["map"], "metastable": {**THEORY["map"], "linestyle": (0, (4.0, 1.5, 1.0, 1.5))}}


def draw_losses(axes: Axes, adam: xr.Dataset, theory: xr.Dataset, free: xr.DataArray, P: float) -> None:
    """Test loss of each seed along training at P, by cluster, over the losses of the theory's minima."""
    loss = adam.test_loss.sel(P=P).transpose("seed", "epoch")
    for member, curve in zip(free.sel(P=P).values, loss.values, strict=True):
        colour, label = CLUSTERS[bool(member)]
        axes.plot(adam.epoch.values, curve, color=colour, linewidth=0.6, alpha=0.7, label=label, zorder=2.5)
    for state, line in MINIMA.items():
        expected = float(theory.test_loss.sel(theory="map", state=state, P=P))
        if np.isfinite(expected):
            axes.axhline(expected, label=f"{state} minimum", **{**line, "zorder": 3})
    above = int((~free.sel(P=P)).sum())
    axes.set_title(f"P = {P:g}: {above} of {free.sizes['seed']} opposite", loc="left", pad=3)


def frame_losses(axes: Axes, low: float) -> None:
    """A logarithmic axis of losses from below `low` to above 1, labelled at 1, 2 and 5 of a decade."""
    axes.set_yscale("log")
    axes.set_ylim(0.75 * low, 1.35)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_locator(LogLocator(subs=()))


def draw(job: Job) -> Figure:
    """Test loss of every seed along Adam at each P, by the signs of its order parameters at the end.

    Inputs by role: `theory` (cluster_theory), `adam` (cluster_adam).
    Source: arXiv 2606.12058, figure 6; that the clusters are these two minima is our reconstruction.
    """
    plotting = job.sections["plotting"]
    theory, adam = job.inputs["theory"], job.inputs["adam"]
    free = signed_final(adam).free
    every = adam.P.values
    with look(plotting):
        figure = parts.open_plain(job.own)
        columns = min(COLUMNS, len(every))
        grid = figure.subplots(-(-len(every) // columns), columns, squeeze=False, sharex=True, sharey=True)
        for axes, P in zip(grid.flat, every, strict=False):
            draw_losses(axes, adam, theory, free, float(P))
        for axes in grid.flat[len(every) :]:
            axes.set_visible(False)
        frame_losses(grid[0, 0], float(adam.test_loss.isel(epoch=-1).min()))
        for axes in grid[:, 0]:
            axes.set_ylabel("test loss")
        for axes in grid[-1]:
            axes.set_xlabel("epoch")
        handles = [
            *(parts.line_handle(label, color=colour, linewidth=1.2) for colour, label in CLUSTERS.values()),
            parts.line_handle("MAP theory, global minimum", **MINIMA["global"]),
            parts.line_handle("MAP theory, second minimum", **MINIMA["metastable"]),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=4)
        first = float(theory.metastable_from.sel(theory="map"))
        exists = f"The second minimum exists from P = {first:.0f}. " if np.isfinite(first) else ""
        note = (
            f"{parts.name_sizes(adam)}Test loss per position, 1 for a network that outputs 0. "
            f"{parts.describe_seeds(adam)}, cosine to 0. {exists}{parts.SIZES}"
        )
        panels.finish(figure, plotting, note, legend_rows=1)
    return figure
