"""Figure 6: the regression flow learns one position at a time, first with all heads, then head by head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from onset.papers.sparse.figures import flow_panels as shared
from onset.papers.sparse.figures.panels import GROUPS, LOSS, finish, handle, mark_stages, open_figure
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from onset.job.context import Job

PLATEAU: dict[str, Any] = {"color": "#8A8A8A", "linestyle": (0, (1.0, 1.4)), "linewidth": 0.9, "zorder": 1.4}
LEAST = 2e-5
"""Loss below which nothing is drawn."""


def draw_loss(axes: Axes, flow: xr.Dataset) -> None:
    """The loss, its terms at the features' positions, and its plateaus before each feature is learned."""
    x = flow["time"].values
    for j, m in enumerate(flow["strength"].values):
        axes.plot(x, flow["loss_term"].isel(feature=j), color=GROUPS[j % len(GROUPS)], label=f"term {j + 1}")
        left = 0.5 * float(np.sum(flow["strength"].values[j:] ** 2))
        axes.axhline(left, label=f"plateau {j} of {m:g}", **PLATEAU)
    axes.plot(x, flow["loss"], color=LOSS, linewidth=1.5, zorder=3, label="loss")
    shared.frame_times(axes, x)
    axes.set_yscale("log")
    axes.set_ylim(LEAST, 1.6 * float(flow["loss"].max()))
    shared.frame_decades(axes)
    mark_stages(axes, flow["boundary"].values[np.isfinite(flow["boundary"].values)])
    axes.set_title("loss", pad=4)
    axes.set_xlabel(shared.TIME_LABEL)
    axes.set_ylabel(r"$\frac{1}{2}\|G-P\|^2$")


def draw(job: Job) -> Figure:
    """Attention and value of every head at every feature, and the loss with its parts, along one run.

    Inputs by role: `flow` (regression_flow); the others are for the claims.
    Raises KeyError where the section names a run or seed that was not followed.
    Source: arXiv 2602.19143, figure 6.
    """
    flow = shared.take_drawn(job.inputs["flow"], job)
    attention, h = shared.take_attention(flow), flow.sizes["feature"]
    with look(job.sections["plotting"]):
        figure = open_figure(job.own)
        columns = figure.add_gridspec(2, h + 1, width_ratios=[1.0] * h + [1.25])
        grid = np.array([[figure.add_subplot(columns[row, j]) for j in range(h)] for row in range(2)])
        shared.open_panels(figure, grid, h)
        shared.draw_heads(grid, attention, flow["V"], linewidth=1.2)
        shared.frame_grid(grid, flow["time"].values, flow["V"], flow["boundary"].values)
        loss = figure.add_subplot(columns[:, h])
        draw_loss(loss, flow)
        letter_panel(loss, "abcdefghijklm"[2 * h], left=-3.6)
        terms = [handle(f"term of feature {j + 1}", GROUPS[j % len(GROUPS)]) for j in range(h)]
        levels = [handle("loss", LOSS, linewidth=1.5), handle("plateaus", **PLATEAU)]
        ends = [*shared.list_heads(h), shared.begin_handle()]
        figure.legend(handles=ends, loc="upper left", ncols=(len(ends) + 1) // 2)
        figure.legend(handles=[*levels, *terms], loc="upper right", ncols=(len(terms) + 3) // 2)
        note = (
            f"{shared.describe_flow(flow)}. A stage begins at the closest approach to the saddle before it, "
            "the least −dL/dt between two half-times (our rule). Terms of the loss: (m_j\xa0−\xa0Σ_k V_kj "
            "s_k(p_j))²/2. Plateaus: Σ m_j²/2 over the features that are not yet learned. The other "
            f"{flow.sizes['position'] - h} positions are not drawn."
        )
        return finish(figure, job, note, legend_rows=2)
