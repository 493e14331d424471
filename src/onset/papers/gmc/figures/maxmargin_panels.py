"""What figures 10 to 13 share: curves of all seeds, lines of the theory, axes of iterations, the footnote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from onset.papers.gmc.figures.panels import finish as close
from onset.papers.gmc.figures.panels import open_figure
from onset.papers.gmc.maxmargin.selection import choose_seed, list_failing, list_valid
from onset.plotting.panels import letter_panel
from onset.plotting.style import BLUE, VERMILLION, tint
from onset.store.attributes import parameters_of

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.gmc import MaxMarginFigure

THICK: dict[str, Any] = {"linewidth": 1.5, "zorder": 3}
THEORY_LINE: dict[str, Any] = {
    "color": "#1A1A1A",
    "linestyle": (0, (4.0, 1.6)),
    "linewidth": 1.0,
    "zorder": 4,
}
"""A law of the theory, whose constant is fitted to the thick curve's end where it is open."""
LIMIT_LINE: dict[str, Any] = {
    "color": "#555555",
    "linestyle": (0, (1.0, 1.4)),
    "linewidth": 1.1,
    "zorder": 3.5,
}
"""A bound, or a deviation from a limit that the data alone predict."""
FIRST, SECOND = BLUE, VERMILLION
LOSSES = {"half": "Σ|r|²/2", "full": "Σ|r|²"}
ITERATION = r"iteration $\tau$"


def open_panels(own: MaxMarginFigure, count: int) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels side by side, with letters."""
    figure = open_figure(own)
    panels = list(figure.subplots(1, count, squeeze=False)[0])
    for axes, letter in zip(panels, "abcd", strict=False):
        letter_panel(axes, letter, left=-3.6)
    return figure, panels


def draw_seeds(axes: Axes, curves: xr.DataArray, seed: int, colour: str, label: str, **line: Any) -> None:
    """Curves (seed, x) of all seeds thin, that of `seed` thick; x is the second dimension's coordinate.

    On a logarithmic axis values that are not positive are left out.
    """
    (dim,) = set(curves.dims) - {"seed"}
    x = curves[dim].values
    for one in curves["seed"].values:
        y = curves.sel(seed=one).values
        if axes.get_yscale() == "log":
            y = np.where(y > 0, y, np.nan)
        chosen = int(one) == seed
        style = {"color": colour, **THICK} if chosen else {"color": tint(colour, 0.4), "linewidth": 0.6}
        axes.plot(x, y, label=label if chosen else "_seed", **(style | line))


def draw_power(axes: Axes, x: np.ndarray, y: np.ndarray, power: float, label: str) -> None:
    """A line of slope `power` on logarithmic axes through the last point of a curve, over its last part.

    Nothing is drawn where the last value is not positive.
    """
    if not y[-1] > 0:
        return
    part = x[x >= x[-1] ** 0.45]
    axes.plot(part, y[-1] * (part / x[-1]) ** power, label=label, **THEORY_LINE)


def frame_iterations(axes: Axes, last: float, label: str = ITERATION) -> None:
    """A logarithmic axis of iterations from 1 to the last, with a label at every decade."""
    axes.set_xscale("log")
    axes.set_xlim(1, last)
    axes.xaxis.set_major_locator(LogLocator(numticks=12))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(label)


def frame_values(axes: Axes) -> None:
    """A logarithmic y axis with few labels: powers of ten, or multiples of them where it spans under two."""
    low, high = axes.get_ylim()
    if high / low < 100:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.yaxis.set_major_locator(LogLocator(numticks=6))
    axes.yaxis.set_minor_formatter(NullFormatter())


def law_handle(label: str) -> Line2D:
    """Entry of a legend for a law of the theory."""
    return Line2D([], [], label=label, **THEORY_LINE)


def describe_problem(descent: xr.Dataset) -> str:
    """Sizes, token scale, start and step of the runs in one sentence, with what is our choice."""
    given = parameters_of(descent)
    sizes = {"d": descent.sizes["row"], "T": descent.sizes["token"] + 1, "n": descent.sizes["sample"]}
    parts = [f"{name}\xa0=\xa0{size}" for name, size in sizes.items()]
    if "task" in given:
        parts.append(f"tokens of norm about\xa0{given['task']['sigma_token']:g}")
    told = f"{', '.join(parts)}, from W\xa0=\xa00 (our choice)"
    if "own" in given:
        told += f"; learning rate\xa0{given['own']['learning_rate']:g} on {LOSSES[given['own']['loss']]}"
    return f"{told}."


def describe_seeds(theory: xr.Dataset, seed: int, wanted: int | None) -> str:
    """Which seed is thick and why, and on how many the assumptions about the data hold."""
    valid, count = list_valid(theory), theory.sizes["seed"]
    failing = list_failing(theory, seed)
    if wanted is not None:
        reason = "chosen" + (f", {', '.join(failing)} fail" if failing else ", A1–A4 hold")
    elif failing:
        reason = f"the first, {', '.join(failing)} fail: A1–A4 hold on no seed"
    else:
        reason = "the first on whose data A1–A4 hold"
    return f"Thick: seed\xa0{seed}, {reason}; thin: the others. A1–A4 hold on {len(valid)} of {count} seeds."


def finish(figure: Figure, job: Job, extra: str) -> Figure:
    """Write the footnote and give the panels the room above it."""
    theory, wanted = job.inputs["theory"], job.own.seed
    told = describe_seeds(theory, choose_seed(theory, wanted), wanted)
    return close(figure, job, f"{describe_problem(job.inputs['descent'])} {told} {extra}")
