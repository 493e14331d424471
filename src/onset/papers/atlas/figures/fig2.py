"""Times of emergence by three definitions, with bootstrap intervals over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from onset.papers.atlas.figures.names import COLOURS, label_rows
from onset.plotting.style import MARKER, look

if TYPE_CHECKING:
    from onset.job.context import Job

MARKS = {
    "crossing": ("o", "crossing of the level"),
    "steepest": ("^", "steepest change"),
    "change_point": ("s", "change point"),
}


def draw(job: Job) -> Figure:
    """A row for each order parameter, three marks with intervals in it."""
    found = job.inputs["emergence"]
    with look(job.sections["plotting"]):
        figure = Figure(figsize=(job.own.width, job.own.height))
        axes = figure.subplots()
        figure.subplots_adjust(left=0.4, right=0.98, bottom=0.13, top=0.93)
        rows = np.arange(found.sizes["order"])
        for k, (name, (mark, title)) in enumerate(MARKS.items()):
            median, low, high = (
                found["relative_time_interval"].sel(definition=name).transpose("end", "order").values
            )
            for row, paper in zip(rows, found["paper"].values, strict=True):
                at = row + 0.22 * (k - 1)
                axes.plot([low[row], high[row]], [at, at], color=COLOURS[str(paper)], linewidth=1.0)
                axes.plot(median[row], at, mark, color=COLOURS[str(paper)], markersize=3.5)
            axes.plot([], [], mark, color=MARKER, markersize=3.5, label=title)
        axes.set_xscale("log")
        axes.axvline(1, color=MARKER, linewidth=0.6, zorder=1)
        axes.set_yticks(rows, label_rows(found))
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("time of emergence / half of the loss drop")
        figure.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.6, 1.0))
    return figure
