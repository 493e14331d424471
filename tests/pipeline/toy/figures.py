"""Figures of the toy paper."""

from matplotlib.figure import Figure
from onset.papers.toy.tell import tell


def draw(job):
    """The walk."""
    tell(job)
    figure = Figure()
    axes = figure.subplots()
    axes.plot(job.inputs["fit"]["place"].T, color=job.own.colour)
    axes.axhline(float(job.inputs["line"]["end"]))
    return figure


def draw_line(job):
    """The line."""
    tell(job)
    figure = Figure()
    figure.subplots().axhline(float(job.inputs["line"]["end"]), color=job.own.colour)
    return figure
