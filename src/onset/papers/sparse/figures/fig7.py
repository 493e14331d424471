"""Figure 7: the simplified flows of each stage over the full one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from onset.papers.sparse.figures import flow_panels as shared
from onset.papers.sparse.figures.panels import finish, handle, open_figure
from onset.plotting.style import HEADS, look, tint

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job

FULL: dict[str, Any] = {"linewidth": 2.2, "zorder": 2.0, "solid_capstyle": "butt"}
SIMPLIFIED: dict[str, dict[str, Any]] = {
    "cooperative": {"linewidth": 1.1, "linestyle": (0, (3.2, 1.4)), "zorder": 3.0},
    "reduced": {"linewidth": 0.9, "linestyle": (0, (1.0, 1.2)), "zorder": 2.8},
}
PALE = 0.38
"""How much of a head's colour the full flow has."""


def draw_stage(grid: np.ndarray, stage: xr.Dataset, end: float) -> None:
    """The flows of one stage up to `end`: all heads of the cooperative, the free head of the reduced one.

    Attention that the simplified flow holds at 0 or 1 has no curve of its own at 0.
    """
    within = stage.sel(time=slice(float(stage["begin"]), end))
    for system, style in SIMPLIFIED.items():
        one = within.sel(system=system)
        heads = [int(stage["free_head"])] if system == "reduced" else one["head"].values
        for head in heads:
            line = {"color": HEADS[int(head) % len(HEADS)], "label": f"{system} {int(head) + 1}"} | style
            chosen = one.sel(head=[head])
            shared.draw_heads(grid, chosen["s"], chosen["V"], **line)


def draw(job: Job) -> Figure:
    """The panels of figure 6 with the cooperative and reduced flows of stages 2, 3, ... laid over.

    Each is drawn from where its stage begins to where the next one does.   Inputs by role: `flow`, `stages`
    (regression_flow, stage_flow); `ideal` is for the claims.   The reduced flow is our addition.
    Raises KeyError where the section names a run or seed that was not followed.
    Source: arXiv 2602.19143, figure 7 and appendix D.1.
    """
    flow = shared.take_drawn(job.inputs["flow"], job)
    stages = job.inputs["stages"].sel(run=job.own.run, seed=job.own.seed)
    begins, h = stages["begin"].values, flow.sizes["feature"]
    with look(job.sections["plotting"]):
        figure = open_figure(job.own)
        grid = figure.subplots(2, h, squeeze=False)
        shared.open_panels(figure, grid, h)
        for k, head in enumerate(flow["head"].values):
            one = flow.sel(head=[head])
            pale = {"color": tint(HEADS[k % len(HEADS)], PALE), "label": f"head {k + 1}"} | FULL
            shared.draw_heads(grid, shared.take_attention(one), one["V"], **pale)
        ends = [*begins[1:], float(flow["time"][-1])]
        for n, end in zip(stages["stage"].values, ends, strict=True):
            stage = stages.sel(stage=n)
            if np.isfinite(stage["begin"]):
                draw_stage(grid, stage, end if np.isfinite(end) else float(flow["time"][-1]))
        shared.frame_grid(grid, flow["time"].values, flow["V"], begins)
        kinds = [
            handle("full flow", "#ABABAB", **FULL),
            handle("cooperative", "#333333", **SIMPLIFIED["cooperative"]),
            handle("reduced, free head", "#333333", **SIMPLIFIED["reduced"]),
        ]
        figure.legend(
            handles=[*shared.list_heads(h), *kinds, shared.begin_handle()], loc="upper left", ncols=h + 4
        )
        times = " and ".join(f"{time:.0f}" for time in begins[np.isfinite(begins)])
        note = (
            f"{shared.describe_flow(flow)}. Simplified flows begin at t\xa0=\xa0{times}, where this run "
            "comes closest to a saddle (the paper's 25 and 300 depend on the start), with the free head's "
            "values and attention taken from the full flow and all other heads at rest under it (V*); "
            "nothing is fitted. Their other heads attend to one position each. Reduced: other heads at rest "
            "at all times (our addition)."
        )
        return finish(figure, job, note, legend_rows=1)
