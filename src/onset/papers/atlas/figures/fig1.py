"""Order parameters of all papers on one axis: the share of the loss drop explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from onset.papers.atlas.figures.names import PAPERS, median_over_seeds, rows_of
from onset.plotting.panels import letter_panel
from onset.plotting.style import HEADS, look, tint

if TYPE_CHECKING:
    from onset.job.context import Job


def draw(job: Job) -> Figure:
    """A panel for each paper: seeds thin, median thick."""
    found = job.inputs["emergence"]
    with look(job.sections["plotting"]):
        figure = Figure(figsize=(job.own.width, job.own.height))
        panels = figure.subplots(2, 2, sharex=True, sharey=True)
        figure.subplots_adjust(left=0.08, right=0.985, bottom=0.1, top=0.93, wspace=0.1, hspace=0.26)
        for letter, axes, (paper, title) in zip("abcd", panels.flat, PAPERS.items(), strict=True):
            axes.axline((0, 0), slope=1, color="#BBBBBB", linewidth=0.6, zorder=1)
            for k, i in enumerate(rows_of(found, paper)):
                order = found.isel(order=i)
                for curve in order["progress"].values:
                    axes.plot(found["share"], curve, color=tint(HEADS[k], 0.4), linewidth=0.5)
                middle = median_over_seeds(order["progress"].values)
                axes.plot(
                    found["share"], middle, color=HEADS[k], linewidth=1.5, label=str(order["order"].values)
                )
            axes.set_title(title)
            axes.set_xlim(0, 1)
            axes.set_ylim(-0.6, 1.55)
            axes.legend(loc="lower right" if paper == "copyhead" else "upper left")
            letter_panel(axes, letter, left=-2.0)
        figure.supxlabel(
            "share of the loss drop explained", y=0.012, fontsize=job.sections["plotting"].font_size
        )
        figure.supylabel(
            "share of the way from first to last value", x=0.008, fontsize=job.sections["plotting"].font_size
        )
    return figure
