"""What the figures share: colours of groups, curves of all seeds, ends of stages, the footnote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from onset.papers.sparse.selection import measure_excess, stage_ends, take_KL
from onset.plotting.panels import add_footnote
from onset.plotting.style import MARKER, tint

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.plotting import Plotting
    from onset.params.sparse import Figure as FigureSection

GROUPS = ("#2D1160", "#A52C7A", "#E28AB5", "#B8A200", "#7A7A7A")
"""Group k of positions, and what is known with groups 1 to k, has one colour in every figure."""
LOSS = "#1A1A1A"
STAGE: dict[str, Any] = {"color": MARKER, "linestyle": (0, (2.5, 2.0)), "linewidth": 0.7, "zorder": 1.2}
"""End of a stage."""
SMALLEST = 6.5
"""Least size of type, in points."""
STEP_LABEL = "training step"
EXCESS_LABEL = "excess loss (nats)"
KL_LABEL = "KL divergence (nats)"


def small(plotting: Plotting) -> float:
    """Size of the smallest type of a figure."""
    return max(SMALLEST, 0.82 * plotting.font_size)


def ordered_colours(count: int, low: float = 0.0, high: float = 0.88) -> list[str]:
    """Colours for the values of an ordered setting, smallest first."""
    return [to_hex(colormaps["viridis"](x)) for x in np.linspace(low, high, max(count, 1))]


def draw_seeds(
    axes: Axes, curves: xr.DataArray, seed: int, colour: str, label: str, faint: bool = True, **line: Any
) -> None:
    """One seed of curves (seed, step) thick, and under it the others thin.   Raises KeyError without it."""
    x = curves["step"].values
    if faint:
        for curve in curves.drop_sel(seed=seed).transpose("seed", "step").values:
            axes.plot(x, curve, color=tint(colour, 0.45), linewidth=0.5, zorder=2.2, label="_seed")
    thick: dict[str, Any] = {"color": colour, "linewidth": 1.3, "zorder": 3.0} | line
    axes.plot(x, curves.sel(seed=seed).values, label=label, **thick)


def draw_divergences(axes: Axes, KL: xr.DataArray, seed: int, dim: str, faint: bool = True) -> None:
    """KL (seed, step, dim) to each reference along `dim`, the first being that of the fewest groups."""
    for number, name in enumerate(KL[dim].values):
        draw_seeds(axes, KL.isel({dim: number}), seed, GROUPS[number % len(GROUPS)], f"{name}", faint)
    axes.set_ylabel(KL_LABEL)


def draw_prefix_panel(axes: Axes, run: xr.Dataset, seed: int) -> None:
    """KL to f_{A_1:i} of all seeds against steps, with the ends of the drawn seed's stages."""
    draw_divergences(axes, take_KL(run), seed, "prefix")
    mark_stages(axes, stage_ends(run, seed))
    frame_nats(axes, take_KL(run).sel(seed=seed))
    frame_steps(axes, run)


def draw_loss_panel(axes: Axes, run: xr.Dataset, seed: int) -> None:
    """Validation loss of all seeds over the chain's own, against steps, with the ends of stages."""
    excess = measure_excess(run)
    draw_seeds(axes, excess, seed, LOSS, "_loss")
    mark_stages(axes, stage_ends(run, seed))
    frame_log(axes, [excess])
    frame_steps(axes, run)
    axes.set_ylabel(EXCESS_LABEL)


def mark_stages(axes: Axes, steps: Iterable[float]) -> None:
    """A line at each end of a stage."""
    for step in steps:
        axes.axvline(step, label="_stage", **STAGE)


def frame_steps(axes: Axes, run: xr.Dataset, label: bool = True) -> None:
    """The axis of steps from 0 to the run's last."""
    axes.set_xlim(0, float(run["step"][-1]))
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if label:
        axes.set_xlabel(STEP_LABEL)


def frame_nats(axes: Axes, values: xr.DataArray) -> None:
    """A linear axis from 0 to above the largest of the values."""
    axes.set_ylim(0, 1.05 * float(values.max()))


def frame_log(axes: Axes, curves: Iterable[xr.DataArray], least: float = 3e-3) -> None:
    """A logarithmic axis around positive curves, not below `least`, labelled at 1, 2 and 5 of a decade."""
    values = np.concatenate([curve.values.ravel() for curve in curves])
    low = max(float(values[values > 0].min(initial=np.inf)), least)
    axes.set_yscale("log")
    axes.set_ylim(0.75 * low, 1.3 * float(np.nanmax(values)))
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_locator(NullLocator())


def handle(label: str, colour: str | None = None, **line: Any) -> Line2D:
    """Entry of a legend for a line; its colour may be part of `line`."""
    given = {} if colour is None else {"color": colour}
    return Line2D([], [], label=label, **({"linewidth": 1.3} | given | line))


def name_prefix(i: int) -> str:
    """The predictor f_{A_1:i} that knows the first i groups, by its matrices."""
    return "$A^\\star_1$" if i == 1 else f"$A^\\star_{{1:{i}}}$"


def legend_above(axes: Axes, handles: Sequence[Line2D]) -> None:
    """A legend in one row above a panel, at its right end."""
    axes.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=len(handles),
        handlelength=1.4,
        columnspacing=0.9,
        handletextpad=0.5,
        borderaxespad=0.2,
    )


def list_prefixes(run: xr.Dataset) -> list[Line2D]:
    """Entries of the legend for the predictors f_{A_1:i}."""
    return [
        handle(name_prefix(number + 1), GROUPS[number % len(GROUPS)])
        for number in range(take_KL(run).sizes["prefix"])
    ]


def stage_handle() -> Line2D:
    """Entry of the legend for ends of stages."""
    return Line2D([], [], label="end of a stage", **STAGE)


def open_figure(own: FigureSection) -> Figure:
    """An empty figure of the size that its section gives."""
    return Figure(figsize=(own.width, own.height), layout="constrained")


def finish(figure: Figure, job: Job, note: str, legend_rows: int = 0, letters: bool = True) -> Figure:
    """Write the footnote; leave the panels the room between it and a legend of so many rows at the top."""
    plotting = job.sections["plotting"]
    head = (1.25 * legend_rows + 0.4 * (legend_rows > 0) + 1.2 * letters) * plotting.font_size
    foot = add_footnote(figure, f"{note} {describe_scale(job.scale)}".strip(), small(plotting))
    layout = figure.get_layout_engine()
    assert isinstance(layout, ConstrainedLayoutEngine)
    top = head / 72 / figure.get_figheight()
    layout.set(rect=(0.0, foot, 1.0, 1.0 - foot - top), w_pad=0.04, h_pad=0.04, wspace=0.04, hspace=0.06)
    return figure


def describe_scale(scale: str) -> str:
    """A warning where the settings are not those of the paper's scale; nothing where they are."""
    return "" if scale == "paper" else f"Scale {scale}: smaller than the paper's settings."
