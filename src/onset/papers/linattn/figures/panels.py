"""What the figures of training curves share: losses of many seeds, plateaus, time axes, footnotes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from onset.plotting.panels import add_footnote
from onset.plotting.style import BLUE, GREEN, HEADS, ORANGE, PURPLE, SKY, VERMILLION, tint

if TYPE_CHECKING:
    from onset.params.linattn import Figure as FigureSection
    from onset.params.plotting import Plotting

MODELS = {"merged": BLUE, "separate": VERMILLION, "mlp": ORANGE}
"""A model keeps its colour in every figure."""
MODEL_NAMES = {"merged": "ATTN_M", "separate": "ATTN_S", "mlp": "MLP"}
RANKS = {1: VERMILLION, 2: PURPLE, 3: SKY, 4: GREEN, 8: BLUE}

PLATEAU: dict[str, Any] = {"color": "#8A8A8A", "linestyle": (0, (4.5, 2.0)), "linewidth": 0.8, "zorder": 1.5}
"""A plateau's loss by theory."""
THEORY_LINE: dict[str, Any] = {
    "color": "#1A1A1A",
    "linestyle": (0, (4.0, 1.6)),
    "linewidth": 1.1,
    "zorder": 4,
}
"""A time course by closed form."""
FLOW_LINE: dict[str, Any] = {
    "color": "#1A1A1A",
    "linestyle": (0, (1.0, 1.4)),
    "linewidth": 1.2,
    "zorder": 4.1,
}
"""A time course by integrating the flow."""
LOSS_LABEL = "training loss"
TIME_LABEL = "time, $t/\\tau$"
SMALLEST = 6.5
"""Least size of type, in points."""


def direction_colours(count: int) -> list[str]:
    """A colour for each direction, the largest eigenvalue first; those of heads while there are enough."""
    if count <= len(HEADS):
        return list(HEADS[:count])
    return [to_hex(colormaps["viridis"](x)) for x in np.linspace(0.0, 0.92, count)]


def ordered_colours(count: int, low: float = 0.0, high: float = 0.88) -> list[str]:
    """Colours for the values of an ordered setting, smallest first."""
    return [to_hex(colormaps["viridis"](x)) for x in np.linspace(low, high, max(count, 1))]


def small(plotting: Plotting) -> float:
    """Size of the smallest type of a figure."""
    return max(SMALLEST, 0.82 * plotting.font_size)


def draw_losses(
    axes: Axes,
    loss: xr.DataArray,
    colour: str,
    label: str,
    average: str = "median",
    x: xr.DataArray | None = None,
    **line: Any,
) -> None:
    """Every seed's curve thin, and thick over them what `average` names.

    "median" or "mean" of the seeds at each step, for curves that fall together; "typical", the one seed that
    `find_typical` finds, for staircases, whose steps a median would smear; "none".
    loss is (seed, epoch) or (epoch,); x is (epoch,), the epochs where it is not given.
    """
    at = (loss.epoch if x is None else x).values
    seeds = loss if "seed" in loss.dims else loss.expand_dims("seed")
    thin: dict[str, Any] = {"color": tint(colour, 0.5), "linewidth": 0.6, "zorder": 2.5} | (
        line if average == "none" else {}
    )
    for number, curve in enumerate(seeds.transpose("seed", "epoch").values):
        first = number == 0 and average == "none"
        axes.plot(at, curve, label=label if first else "_seed", **thin)
    if average != "none":
        thick: dict[str, Any] = {"color": colour, "linewidth": 1.4, "zorder": 3.0} | line
        middle = {
            "median": lambda: seeds.median("seed"),
            "mean": lambda: seeds.mean("seed"),
            "typical": lambda: seeds.isel(seed=find_typical(seeds)),
        }[average]()
        axes.plot(at, middle.values, label=label, **thick)


def find_typical(loss: xr.DataArray) -> int:
    """Position of the seed in the middle by its mean loss over the logarithm of steps (the lower of two)."""
    after = loss.isel(epoch=slice(1, None)).transpose("seed", "epoch")
    area = np.trapezoid(after.values, np.log(after.epoch.values), axis=1)
    return int(np.argsort(area)[(len(area) - 1) // 2])


def mark_plateaus(
    axes: Axes, levels: Iterable[float], size: float, names: Iterable[str] | None = None, apart: float = 0.035
) -> None:
    """A dashed grey line at each loss, named at the right edge (m = 0, 1, …); NaN levels are left out.

    Names nearer to the last written one than `apart`, as a share of the axis, are not written.
    """
    levels = np.asarray(list(levels), dtype=np.float64)
    names = [f"{m}" for m in range(len(levels))] if names is None else list(names)
    low, high = axes.get_ylim()
    written = np.inf
    for level, name in zip(levels, names, strict=True):
        if not np.isfinite(level):
            continue
        axes.axhline(level, label="_plateau", **PLATEAU)
        place = (level - low) / (high - low)
        if abs(written - place) >= apart:
            axes.annotate(
                name,
                (1.0, level),
                xycoords=("axes fraction", "data"),
                xytext=(2, 0),
                textcoords="offset points",
                va="center",
                ha="left",
                fontsize=size,
                color="#555555",
                annotation_clip=False,
            )
            written = place


def frame_steps(axes: Axes, losses: Iterable[xr.DataArray], share: float = 0.995) -> None:
    """A log axis of steps that starts somewhat before the first of the losses leaves its first plateau."""
    losses = list(losses)
    frame_times(axes, losses, [1.0] * len(losses), share)


def frame_times(
    axes: Axes, losses: Iterable[xr.DataArray], time_per_epoch: Iterable[float], share: float = 0.995
) -> None:
    """The same for an axis of times t/tau, from the time that a step of each run takes."""
    first, last, least = np.inf, 0.0, np.inf
    for loss, scale in zip(losses, time_per_epoch, strict=True):
        # The median over seeds: one early seed should not stretch the axis.
        curve = loss.median("seed") if "seed" in loss.dims else loss
        left = np.flatnonzero(curve.values < share * curve.values[0])
        times = scale * curve.epoch.values
        first = min(first, float(times[max(left[0], 1)]) if len(left) else np.inf)
        least, last = min(least, float(times[1])), max(last, float(times[-1]))
    axes.set_xscale("log")
    axes.set_xlim(max(0.4 * first, least) if np.isfinite(first) else 0.01 * last, last)
    label_decades(axes)


def label_decades(axes: Axes, narrow: bool = False) -> None:
    """Ticks of a log x axis: labels at 1, 2 and 5 of each decade where it spans less than two, else at 1.

    A narrow panel has labels at 1 alone.
    """
    low, high = axes.get_xlim()
    subs = (1.0, 2.0, 5.0) if high / low < 100 and not narrow else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}" if value < 1e4 else _thousands(value))
    axes.xaxis.set_minor_formatter(NullFormatter())


def choose_subs(low: float, high: float) -> tuple[float, ...]:
    """Multiples of the decades that carry labels."""
    span = high / low
    return (1.0, 2.0, 5.0) if span < 50 else (1.0, 3.0) if span < 300 else (1.0,)


def _thousands(value: float) -> str:
    return f"{value / 1000:g}k"


def add_time_axis(axes: Axes, time_per_epoch: float, label: str = TIME_LABEL) -> None:
    """A second axis on top with t/tau = 2 lr steps; steps are below."""

    def to_time(step: Any) -> Any:
        return np.asarray(step) * time_per_epoch

    def to_step(time: Any) -> Any:
        return np.asarray(time) / time_per_epoch

    top = axes.secondary_xaxis("top", functions=(to_time, to_step))
    top.set_xlabel(label, labelpad=3)
    if axes.get_xscale() == "log":
        low, high = (edge * time_per_epoch for edge in axes.get_xlim())
        top.xaxis.set_major_locator(LogLocator(subs=choose_subs(low, high)))
        top.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        top.xaxis.set_minor_formatter(NullFormatter())


def handle(label: str, colour: str | None = None, **line: Any) -> Line2D:
    """Entry of a legend for a line; its colour may be part of `line`."""
    given = {} if colour is None else {"color": colour}
    return Line2D([], [], label=label, **({"linewidth": 1.4} | given | line))


def plateau_handle(label: str) -> Line2D:
    """Entry of a legend for plateaus."""
    return Line2D([], [], label=label, **PLATEAU)


def describe_task(theory: xr.Dataset) -> str:
    """Dimension, context and eigenvalues of a task (see `take_task`), spaces that do not break."""
    values = [f"{value:.3g}" for value in theory.eigenvalue.values]
    if len(set(values)) == 1:
        values = [f"all {values[0]}"]
    elif len(values) > 8:
        values = [*values[:2], "…", values[-1]]
    return f"D\xa0=\xa0{int(theory.dimension)}, N\xa0=\xa0{int(theory.context)}, λ\xa0=\xa0" + ", ".join(
        values
    )


def describe_run(run: xr.Dataset, *leave_out: str) -> str:
    """Model, heads, rank, set, start and step of a run (see `take_run`) in one phrase.

    `leave_out` names what is said elsewhere: model, heads, rank, samples, init_std, learning_rate, steps
    or seeds.
    """
    samples = int(run.samples)
    parts = {
        "model": MODEL_NAMES[str(run.model.values)],
        "heads": f"H\xa0=\xa0{int(run.heads)}",
        "rank": f"R\xa0=\xa0{int(run.rank_of)}" if int(run.rank_of) else "",
        "samples": f"P\xa0=\xa0{samples}" if samples else "population gradient",
        "init_std": f"initial\xa0sd\xa0{format_number(float(run.init_std))}",
        "learning_rate": f"learning\xa0rate\xa0{format_number(float(run.learning_rate))}",
        "steps": f"{int(run.epoch[-1])}\xa0steps",
        "seeds": f"{run.sizes['seed']}\xa0seed{'s' * (run.sizes['seed'] > 1)}" if "seed" in run.dims else "",
    }
    return ", ".join(text for name, text in parts.items() if text and name not in leave_out)


def count_seeds(run: xr.Dataset) -> str:
    """`6 seeds`."""
    return f"{run.sizes['seed']}\xa0seed" + ("s" if run.sizes["seed"] > 1 else "")


def format_number(value: float) -> str:
    """Three digits; powers of ten as 5.57·10⁻⁶."""
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        mantissa, exponent = f"{value:.2e}".split("e")
        raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        mantissa = mantissa.rstrip("0").rstrip(".")
        return f"10{raised}" if mantissa == "1" else f"{mantissa}·10{raised}"
    return f"{value:.3g}"


def describe_scale(scale: str) -> str:
    """A warning where the settings are not those of the paper's scale; nothing where they are."""
    return "" if scale == "paper" else f"Scale {scale}: smaller than the paper's settings."


def open_figure(own: FigureSection) -> Figure:
    """An empty figure of the size that its section gives."""
    return Figure(figsize=(own.width, own.height), layout="constrained")


def finish(figure: Figure, plotting: Plotting, note: str, legend_rows: float = 0.0) -> None:
    """Write the footnote and give the panels the room between it and a legend of so many rows at the top."""
    foot = add_footnote(figure, note, small(plotting))
    head = (
        (legend_rows * 1.35 * 0.85 * plotting.font_size + 8) / 72 / figure.get_figheight()
        if legend_rows
        else 0
    )
    layout = figure.get_layout_engine()
    assert isinstance(layout, ConstrainedLayoutEngine)
    layout.set(rect=(0.0, foot, 1.0, 1.0 - foot - head), w_pad=0.04, h_pad=0.04, wspace=0.04, hspace=0.06)
