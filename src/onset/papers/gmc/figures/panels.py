"""What figures 1 to 8 share: colours, curves of all seeds, levels, baselines, the footnote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter, NullLocator

from onset.papers.gmc.selection import read_own, read_section
from onset.plotting.panels import add_footnote
from onset.plotting.style import BLUE, GREEN, MARKER, ORANGE, PURPLE, SKY, VERMILLION, tint

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.gmc import Figure as FigureSection
    from onset.params.plotting import Plotting

LOSS = "#1A1A1A"
SCORE_COLOURS = {"PTH": VERMILLION, "IH_MC": BLUE, "IH_Repeat": GREEN}
"""A score keeps its colour in every figure."""
BASE = "#1A1A1A"
RUN_COLOURS = {
    "base": BASE,
    "close": ORANGE,
    "loose": "#882255",
    "long": SKY,
    "wide": "#44AA99",
    "gpt2": PURPLE,
}
"""So do runs of one setting."""
ARCHITECTURES = {"llama": "Llama", "gpt2": "GPT-2"}

BAYES: dict[str, Any] = {"color": "#555555", "linestyle": (0, (4.5, 1.8)), "linewidth": 0.9, "zorder": 1.5}
NOISE: dict[str, Any] = {"color": "#555555", "linestyle": (0, (1.0, 1.4)), "linewidth": 0.9, "zorder": 1.5}
UNIFORM: dict[str, Any] = {
    "color": "#8A8A8A",
    "linestyle": (0, (6.0, 1.5, 1.0, 1.5)),
    "linewidth": 0.9,
    "zorder": 1.5,
}
LEVELS = {
    "uniform_loss": ("uniform average", UNIFORM),
    "bayes_loss": ("Bayes floor", BAYES),
    "noise_floor": ("noise floor", NOISE),
}
"""Levels of the loss: what ignoring the query leaves, what can be reached, what the noise alone leaves."""
EXACT: dict[str, Any] = {"linestyle": (0, (4.5, 1.8)), "linewidth": 0.8, "zorder": 1.6}
PRINTED: dict[str, Any] = {"linestyle": (0, (6.0, 1.5, 1.0, 1.5)), "linewidth": 0.7, "zorder": 1.6}
CONTROL: dict[str, Any] = {"linestyle": (0, (1.0, 1.3)), "linewidth": 1.2, "zorder": 2.8}
EMERGENCE: dict[str, Any] = {"color": MARKER, "linewidth": 0.8, "zorder": 1.2}
"""The median step at which the loss is half-way down."""
SMALLEST = 6.5
"""Least size of type, in points."""
STEP_LABEL = "training step"
LOSS_LABEL = "test MSE"


def small(plotting: Plotting) -> float:
    """Size of the smallest type of a figure."""
    return max(SMALLEST, 0.82 * plotting.font_size)


def depth_colours(depths: list[int], base: int) -> dict[int, str]:
    """A colour for each depth, shallow to deep; that of the base runs is theirs in every figure."""
    others = [depth for depth in sorted(depths) if depth != base]
    shades = np.linspace(0.2, 0.88, max(len(others), 1))
    found = {depth: to_hex(colormaps["plasma"](x)) for depth, x in zip(others, shades, strict=False)}
    return {depth: BASE if depth == base else found[depth] for depth in sorted(depths)}


def draw_seeds(
    axes: Axes, curves: xr.DataArray, colour: str, label: str, faint: bool = True, **line: Any
) -> None:
    """The mean over seeds thick, and under it each seed of curves (seed, step) thin."""
    x = curves["step"].values
    ordered = curves.transpose("seed", "step").astype(np.float64)
    if faint and ordered.sizes["seed"] > 1:
        for curve in ordered.values:
            axes.plot(x, curve, color=tint(colour, 0.4), linewidth=0.5, zorder=2.2, label="_seed")
    thick: dict[str, Any] = {"color": colour, "linewidth": 1.3, "zorder": 3.0} | line
    axes.plot(x, ordered.mean("seed").values, label=label, **thick)


def mark_levels(axes: Axes, levels: xr.Dataset, names: tuple[str, ...] = tuple(LEVELS)) -> None:
    """A line at each of the named levels of the loss."""
    for name in names:
        text, style = LEVELS[name]
        axes.axhline(float(levels[name]), label=text, **style)


def mark_emergence(axes: Axes, step: float) -> None:
    """A line at a step, unless there is none."""
    if np.isfinite(step):
        axes.axvline(step, label="_emergence", **EMERGENCE)


def frame_steps(axes: Axes, last: float, label: bool = True, narrow: bool = False) -> None:
    """The axis of steps from 0 to the last; a narrow panel has no tick at its right end."""
    axes.set_xlim(0, last)
    if narrow:
        axes.xaxis.set_major_locator(MaxNLocator(4, prune="upper"))
    if label:
        axes.set_xlabel(STEP_LABEL)


def frame_log_loss(axes: Axes, lowest: float, highest: float) -> None:
    """A logarithmic axis of the loss that ends below `lowest` and above `highest`, labelled at 1, 2 and 5."""
    axes.set_yscale("log")
    axes.set_ylim(0.75 * lowest, 1.3 * highest)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_locator(NullLocator())


def frame_scores(axes: Axes) -> None:
    """The axis of a score, from 0 to 1."""
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.5, 1]))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def handle(label: str, colour: str | None = None, **line: Any) -> Line2D:
    """Entry of a legend for a line; its colour may be part of `line`."""
    given = {} if colour is None else {"color": colour}
    return Line2D([], [], label=label, **({"linewidth": 1.3} | given | line))


def describe_task(levels: xr.Dataset) -> str:
    """T, c and d_in of a task, with spaces that do not break."""
    c = float(levels["c"])
    match = (
        f"c\xa0=\xa0{c:g}" if np.isfinite(c) else f"mean correlation\xa0{float(levels['correlation']):.3g}"
    )
    return f"T\xa0=\xa0{int(levels['T'])}, {match}, d\xa0=\xa0{int(levels['d_in'])}"


def describe_runs(runs: xr.Dataset) -> str:
    """Architecture, sizes, optimiser and number of seeds of the runs, as far as the result says so."""
    own, backbone, optimiser = (
        read_own(runs),
        read_section(runs, "backbone"),
        read_section(runs, "optimiser"),
    )
    layers = runs.sizes["layer"]
    parts = [f"{ARCHITECTURES.get(own.get('architecture', ''), 'transformer')} of {layers}\xa0layers"]
    if backbone:
        parts.append(f"width\xa0{backbone['width']}, {backbone['heads']}\xa0heads, FFN\xa0{backbone['ffn']}")
    if optimiser:
        parts.append(f"AdamW, learning rate\xa0{optimiser['learning_rate']:g}, batch\xa0{optimiser['batch']}")
    return ", ".join([*parts, count_seeds(runs)])


def count_seeds(runs: xr.Dataset) -> str:
    """`4 seeds`."""
    count = runs.sizes["seed"]
    return f"{count}\xa0seed" + ("s" if count > 1 else "")


def describe_scale(scale: str) -> str:
    """A warning where the settings are not those of the paper's scale; nothing where they are."""
    return "" if scale == "paper" else f"Scale {scale}: smaller than the paper's settings."


def open_figure(own: FigureSection) -> Figure:
    """An empty figure of the size that its section gives."""
    return Figure(figsize=(own.width, own.height), layout="constrained")


def finish(figure: Figure, job: Job, note: str, legend_rows: int = 0) -> Figure:
    """Write the footnote; leave the panels the room between it and a legend of so many rows at the top.

    There is room for the panels' letters below the legend.
    """
    plotting = job.sections["plotting"]
    head = 1.2 * plotting.font_size + (1.25 * legend_rows + 0.3 * (legend_rows > 0)) * plotting.font_size
    foot = add_footnote(figure, f"{note} {describe_scale(job.scale)}".strip(), small(plotting))
    layout = figure.get_layout_engine()
    assert isinstance(layout, ConstrainedLayoutEngine)
    top = head / 72 / figure.get_figheight()
    layout.set(rect=(0.0, foot, 1.0, 1.0 - foot - top), w_pad=0.04, h_pad=0.04, wspace=0.04, hspace=0.06)
    return figure
