"""What figures 1, 2 and 5 to 8 share: colours of ordered values, small axes, notes on runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from onset.papers.copyhead.selection import name_parameters
from onset.plotting.style import BLUE, GREEN, PURPLE, VERMILLION
from onset.store.attributes import parameters_of

if TYPE_CHECKING:
    from onset.params.copyhead import LossFigure, PlainFigure, StagesFigure

ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
WIDTHS = (VERMILLION, BLUE, GREEN, PURPLE)
"""Colours of widths d_k, the smallest first."""
SIZES = (
    "Sizes, grids and seeds are our choice, as the paper's are not public; the theory is our reconstruction."
)


def open_plain(own: PlainFigure | StagesFigure | LossFigure) -> Figure:
    """An empty figure of the size that its section gives."""
    return Figure(figsize=(own.width, own.height), layout="constrained")


def ordered_colours(count: int, high: float = 0.86) -> list[str]:
    """Colours for the values of an ordered setting, smallest first; told apart also in grey."""
    return [to_hex(colormaps["viridis"](x)) for x in np.linspace(0.0, high, max(count, 1))]


def colour_widths(*widths: Iterable[float]) -> dict[float, str]:
    """A colour for each finite width among those given, the same in all panels of a figure."""
    every = sorted({float(d) for some in widths for d in some if np.isfinite(d)})
    return {d: WIDTHS[number % len(WIDTHS)] for number, d in enumerate(every)}


def draw_interrupted(axes: Axes, x: Any, y: Any, label: str, **line: Any) -> None:
    """A line that has gaps where y is not a number; nothing where y never is one."""
    if np.isfinite(np.asarray(y, dtype=np.float64)).any():
        axes.plot(x, y, label=label, **line)


def line_handle(label: str, **line: Any) -> Line2D:
    """Entry of a legend for a line."""
    return Line2D([], [], label=label, **line)


def name_sizes(dataset: xr.Dataset) -> str:
    """Sizes and priors of a result as a sentence; empty where it does not carry them."""
    named = name_parameters(dataset)
    return f"{named}. " if named else ""


def describe_chains(sgld: xr.Dataset) -> str:
    """`SGLD: 8 chains of 10000 steps of size 0.02`, as far as the result tells."""
    own = parameters_of(sgld).get("own", {})
    text = f"SGLD: {sgld.sizes['chain']} chains"
    if "step" in sgld.dims:
        text += f" of {int(sgld.step[-1])} steps"
    return text + (f" of size {own['step_size']:g}" if own.get("step_size") else "")


def describe_seeds(adam: xr.Dataset) -> str:
    """`Adam: 16 seeds, 2000 epochs`."""
    own = parameters_of(adam).get("own", {})
    rate = f", learning rate {own['learning_rate']:g}" if own.get("learning_rate") else ""
    return f"Adam: {adam.sizes['seed']} seeds, {int(adam.epoch[-1])} epochs{rate}"


def legend_rows(handles: Sequence[Any], columns: int) -> int:
    """Rows that a legend of so many columns takes."""
    return -(-len(handles) // columns)
