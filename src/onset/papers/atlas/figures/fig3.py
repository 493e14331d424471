"""Sharpness: the 10-90 % width over the time of onset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from onset.papers.atlas.figures.names import COLOURS, label_rows
from onset.papers.atlas.kinds import BOUND
from onset.plotting.style import MARKER, look

if TYPE_CHECKING:
    from onset.job.context import Job


def draw(job: Job) -> Figure:
    """A row for each order parameter: seeds, median, interval, and what the records can resolve."""
    found = job.inputs["emergence"]
    with look(job.sections["plotting"]):
        figure = Figure(figsize=(job.own.width, job.own.height))
        axes = figure.subplots()
        figure.subplots_adjust(left=0.4, right=0.98, bottom=0.13, top=0.93)
        rows = np.arange(found.sizes["order"])
        for row, paper in zip(rows, found["paper"].values, strict=True):
            order, colour = found.isel(order=row), COLOURS[str(paper)]
            median, low, high = order["sharpness_interval"].values
            values = order["sharpness"].values
            axes.plot([low, high], [row, row], color=colour, linewidth=1.2)
            axes.plot(values, np.full(len(values), row + 0.25), ".", color=colour, markersize=2.5)
            axes.plot(median, row, "o", color=colour)
            resolution = order["resolution"].values
            if np.isfinite(resolution).any():
                axes.plot(np.nanmedian(resolution), row, "|", color=MARKER, markersize=8)
        axes.plot([], [], "|", color=MARKER, label="spacing of the records")
        axes.axvline(BOUND, color=MARKER, linewidth=0.6, zorder=1)
        axes.set_xscale("log")
        axes.set_yticks(rows, label_rows(found))
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("10–90 % width / time of onset (left of the line: abrupt)")
        figure.legend(loc="upper center", bbox_to_anchor=(0.6, 1.0))
    return figure
