"""Figure 7: losses of Adam on softmax attention end in one cluster, whose loss jumps with P."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.papers.copyhead.figures import panels, parts
from onset.plotting.panels import letter_panel
from onset.plotting.style import COPYING, THEORY, TRANSITION, WINDOW, axis_label, look

if TYPE_CHECKING:
    from onset.job.context import Job


def draw_runs(axes: Axes, adam: xr.Dataset, at: tuple[int, ...]) -> None:
    """Test loss of every seed along training, a colour for each drawn P (panel a)."""
    for colour, P in zip(parts.ordered_colours(len(at)), at, strict=True):
        loss = adam.test_loss.sel(P=P).transpose("epoch", "seed")
        axes.plot(adam.epoch.values, loss.values, color=colour, linewidth=0.6, alpha=0.8, label="_seeds")
        axes.plot([], [], color=colour, linewidth=1.5, label=f"P = {P}")
    axes.set(xlabel="epoch", ylabel="test loss", ylim=(0, None))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.3, handlelength=1.2)
    letter_panel(axes, "a", left=-3.4)


def draw_ends(axes: Axes, theory: xr.Dataset, adam: xr.Dataset) -> None:
    """Final test loss of every seed against P, over both branches of the MAP theory (panel b)."""
    map_ = theory.sel(theory="map")
    upper, lower = float(map_.P_upper), float(map_.P_lower)
    if np.isfinite([lower, upper]).all():
        axes.axvspan(lower, upper, color=WINDOW, linewidth=0, zorder=0, label="both minima")
    for branch in map_.branch.values:
        panels.draw_line(axes, map_.test_loss.sel(branch=branch), "map")
    panels.mark_transition(axes, float(map_.P_c), "transition")
    final = adam.test_loss.isel(epoch=-1, drop=True)
    panels.draw_seeds(axes, final, xr.zeros_like(final, dtype=bool), panels.adam_points(COPYING), "Adam")
    panels.draw_members(
        axes, final, xr.ones_like(final, dtype=bool), {**panels.adam_points(COPYING), "markersize": 3.0}
    )
    axes.set(xlabel=axis_label(adam.P.attrs, "P"), ylabel="final test loss", ylim=(0, None))
    axes.margins(x=0.03)
    letter_panel(axes, "b", left=-3.4)


def draw(job: Job) -> Figure:
    """Test loss of every seed along Adam (left) and at its end against P with the MAP theory (right).

    Inputs by role: `theory` (softmax_theory), `adam` (softmax_adam).  Raises KeyError where a P of `at` was
    not trained.   Source: arXiv 2606.12058, figure 7; the theory is our reconstruction.
    """
    plotting = job.sections["plotting"]
    theory, adam = job.inputs["theory"], job.inputs["adam"]
    with look(plotting):
        figure = parts.open_plain(job.own)
        left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.0])
        draw_runs(left, adam, job.own.at)
        draw_ends(right, theory, adam)
        handles = [
            panels.point_handle("Adam, mean of seeds", panels.adam_points(COPYING)),
            parts.line_handle("MAP theory, both branches", **THEORY["map"]),
            parts.line_handle("$P_c$ of the MAP theory", **TRANSITION),
            parts.line_handle("both minima exist", color=WINDOW, linewidth=6),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=4)
        note = (
            f"{parts.name_sizes(adam)}Test loss per position, 1 for a network that outputs 0. "
            f"{parts.describe_seeds(adam)}, cosine to 0, from the prior; a: every seed; b: small circles are "
            "seeds. Between P_c and the end of the grey window the uniform minimum has the higher action; "
            f"Adam starts beside it and stays. {parts.SIZES}"
        )
        panels.finish(figure, plotting, note, legend_rows=2)
    return figure
