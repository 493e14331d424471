"""Figure 2: a rank-one head with separate key and query is a convolution on the cubic feature."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from onset.papers.linattn.convolution import respond
from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import list_runs, take_run
from onset.plotting.panels import letter_panel
from onset.plotting.style import BLUE, GREEN, ORANGE, VERMILLION, look, tint

if TYPE_CHECKING:
    from onset.job.context import Job

SIZE = 3
"""Dimension D of the schematic, as in the paper."""
KEY, QUERY, VALUE, FEATURE = BLUE, GREEN, VERMILLION, ORANGE
BLOCK = 4.0
"""Horizontal distance between the blocks of the feature, in cells."""


def draw_cell(axes: Axes, x: float, y: float, text: str, colour: str, size: float) -> None:
    """A unit cell with its lower left corner at (x, y)."""
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=tint(colour, 0.25), edgecolor=colour, linewidth=0.8))
    axes.text(x + 0.5, y + 0.46, text, ha="center", va="center", fontsize=size)


def draw_arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    """A thin arrow in data coordinates."""
    look_of: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 6, "linewidth": 0.8, "color": colour}
    axes.add_patch(FancyArrowPatch(start, end, shrinkA=0, shrinkB=1, **look_of))


def draw_schematic(axes: Axes, size: float) -> None:
    """Feature, kernel k_i with stride D, query q_i, value v_i, for D = 3 (panel a)."""
    D = SIZE
    centres = [BLOCK * j + D / 2 for j in range(D)]
    for j, centre in enumerate(centres):
        for i in range(D):
            draw_cell(axes, BLOCK * j + i, 0, rf"$\beta_{i + 1}x_{j + 1}$", FEATURE, size)
        # The kernel lies on each block in turn.
        for i in range(D):
            draw_cell(axes, BLOCK * j + i, 1.7, rf"$k_{{i{i + 1}}}$", KEY, size)
        box = FancyBboxPatch(
            (BLOCK * j - 0.12, -0.12),
            D + 0.24,
            2.94,
            boxstyle="round,pad=0,rounding_size=0.15",
            facecolor="none",
            edgecolor=tint(KEY, 0.6),
            linestyle=(0, (2, 1.5)),
            linewidth=0.7,
        )
        axes.add_patch(box)
        draw_arrow(axes, (centre, 2.85), (centre, 4.0), KEY)
        draw_cell(axes, centre - 0.5, 4.0, "", QUERY, size)
        axes.text(centre + 0.7, 4.5, rf"$(k_i\cdot\beta)\,x_{j + 1}$", ha="left", va="center", fontsize=size)
        draw_arrow(axes, (centre, 5.0), (centres[1], 6.55), QUERY)
        share = 0.5
        axes.text(
            centre + share * (centres[1] - centre) + (j - 1) * 0.35 + (0.25 if j == 1 else 0.0),
            5.0 + share * 1.55 + (0.0 if j == 1 else 0.3),
            rf"$q_{{i{j + 1}}}$",
            ha="right" if j == 0 else "left",
            va="center",
            fontsize=size,
            color=QUERY,
        )
    for left, right in pairwise(centres):
        axes.annotate(
            "",
            (right - 1.7, 1.2 + 1.0),
            (left + 1.7, 1.2 + 1.0),
            arrowprops={"arrowstyle": "->", "lw": 0.7, "color": KEY, "shrinkA": 0, "shrinkB": 0},
        )
    draw_cell(axes, centres[1] - 0.5, 6.55, "", QUERY, size)
    axes.text(
        centres[1] + 0.7, 7.05, r"$(k_i\cdot\beta)(q_i\cdot x_q)$", ha="left", va="center", fontsize=size
    )
    draw_arrow(axes, (centres[1], 7.55), (centres[1], 8.75), VALUE)
    axes.text(centres[1] - 0.25, 8.1, "$v_i$", ha="right", va="center", fontsize=size, color=VALUE)
    draw_cell(axes, centres[1] - 0.5, 8.75, "", VALUE, size)
    axes.text(
        centres[1] + 0.7, 9.25, r"$\hat y_q$, summed over heads $i$", ha="left", va="center", fontsize=size
    )
    for height, text in (
        (0.5, r"cubic feature $z=\mathrm{vec}(\beta x_q^{\top})$"),
        (2.2, "key: kernel of length $D$,\nstride $D$"),
        (5.8, "query: weights\nof the outputs"),
        (8.1, "value"),
    ):
        axes.text(-0.5, height, text, ha="right", va="center", fontsize=size)
    axes.set(xlim=(-6.0, BLOCK * (D - 1) + D + 0.3), ylim=(-0.4, 10.0))
    axes.set_axis_off()


def draw_identity(axes: Axes, runs: xr.Dataset) -> str:
    """A of trained attention against the network's answers to unit features (panel b); the runs' settings."""
    label = list_runs(runs, model="separate", rank_of=1)[0]
    run = take_run(runs, label)
    epochs = xr.DataArray(run.snapshot_epoch.values, dims="snapshot")
    v = run.v.sel(epoch=epochs).transpose("seed", "snapshot", "head").values.astype(np.float64)
    k, q = (
        run[name].isel(rank=0).transpose("seed", "snapshot", "head", "direction").values.astype(np.float64)
        for name in ("keys", "queries")
    )
    A = run.A.transpose("seed", "snapshot", "direction", "column").values
    every = max(1, v.shape[1] // 10)
    chosen = [(s, t) for s in range(v.shape[0]) for t in range(0, v.shape[1], every)]
    answers = np.array([respond(v[at], k[at], q[at]) for at in chosen])
    stored = np.array([A[at] for at in chosen])
    ends = [min(stored.min(), 0.0) - 0.3, stored.max() + 0.3]
    axes.plot(ends, ends, color="#1A1A1A", linewidth=0.6, zorder=1, label="identity")
    diagonal = np.broadcast_to(np.eye(A.shape[-1], dtype=bool), stored.shape)
    for where, colour, text in ((~diagonal, "#8A8A8A", "off the diagonal"), (diagonal, VALUE, "diagonal")):
        axes.plot(
            stored[where], answers[where], "o", markersize=2.5, color=colour, label=text, markeredgewidth=0
        )
    axes.set(
        xlabel="entries of $A$ in attention",
        ylabel="network's answer to a unit feature",
        xlim=ends,
        ylim=ends,
    )
    axes.set_box_aspect(1)
    axes.legend(loc="upper left", handletextpad=0.2, borderaxespad=0.1)
    return f"{panels.describe_run(run)}; {len(chosen)} records of all heads' weights"


def draw(job: Job) -> Figure:
    """A head as a three-layer linear network on z for D = 3, and the identity on trained weights.

    Inputs by role: `runs` (fig3_runs).   Source: arXiv 2501.16265, figure 2.
    """
    plotting = job.sections["plotting"]
    with look(plotting):
        figure = panels.open_figure(job.own)
        left, right = figure.subplots(1, 2, width_ratios=[2.1, 1.0])
        draw_schematic(left, panels.small(plotting))
        settings = draw_identity(right, job.inputs["runs"])
        letter_panel(left, "a", left=0.3)
        letter_panel(right, "b", left=-3.6)
        note = (
            r"a: β = (1/N) Σ yₙxₙ; drawn for D = 3. b: with a feature that is 1 in one place the "
            f"network answers with an entry of A = Σ vᵢ kᵢ qᵢᵀ. {settings}. "
            f"{panels.describe_scale(job.scale)}"
        )
        panels.finish(figure, plotting, note, legend_rows=0.7)
    return figure
