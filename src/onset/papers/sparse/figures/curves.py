"""Figures 10, 12, 13, 14, 15, 17 and 20: loss of one run, and its distance to the prefix predictors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from onset.papers.sparse.figures import captions, panels
from onset.papers.sparse.selection import take_run
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job


def draw(job: Job) -> Figure:
    """Excess loss (a) and KL to f_{A_1:i} (b) of one run against steps, all seeds, one of them thick.

    Input by role: `runs`.  Raises KeyError where run or seed is not there.
    Source: arXiv 2602.19143, figures 10, 12, 13, 14, 15, 17 and 20; of 15 and 20 it has panel b alone.
    """
    plotting, own = job.sections["plotting"], job.own
    run = take_run(job.inputs["runs"], own.run)
    with look(plotting):
        figure = panels.open_figure(own)
        left, right = figure.subplots(1, 2)
        panels.draw_loss_panel(left, run, own.seed)
        panels.draw_prefix_panel(right, run, own.seed)
        for axes, letter in ((left, "a"), (right, "b")):
            letter_panel(axes, letter, left=-3.0)
        handles = [
            panels.handle("excess loss", panels.LOSS),
            *panels.list_prefixes(run),
            panels.stage_handle(),
        ]
        figure.legend(handles=handles, loc="upper center", ncols=len(handles), borderaxespad=0.3)
        note = (
            f"{captions.describe_chain(run)}; {captions.describe_run(run)}. "
            f"{captions.describe_seed(run, own.seed)} a: validation loss less that of the chain itself. "
            f"b: {captions.DIVERGENCE} {captions.STAGES}"
        )
        return panels.finish(figure, job, note, legend_rows=1)
