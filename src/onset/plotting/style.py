"""One look for every figure: type, sizes, line styles, and one colour for each meaning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.colors import to_rgb

if TYPE_CHECKING:
    from onset.params.plotting import Plotting

# Okabe and Ito's palette (Color Universal Design, 2008), told apart under the common colour deficiencies.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"

POOLING = BLUE
COPYING = VERMILLION
MARKER = "#666666"
"""Marks on the P axis that belong to no curve: an onset, a transition."""
TRANSITION: dict[str, Any] = {"color": MARKER, "linestyle": "solid", "linewidth": 0.8, "zorder": 1}
"""A transition's place on the axis of the swept parameter."""
WINDOW = "#EDEDED"
"""Where two phases coexist."""
HEADS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
"""Head k has one colour in every paper."""

THEORY: dict[str, dict[str, Any]] = {
    "bare": {"color": "#8A8A8A", "linestyle": (0, (4.5, 2.0)), "linewidth": 1.1, "zorder": 2.1},
    "map": {"color": "#555555", "linestyle": (0, (1.0, 1.4)), "linewidth": 1.1, "zorder": 2.2},
    "dressed": {"color": "#1A1A1A", "linestyle": "solid", "linewidth": 1.2, "zorder": 2.3},
    "finite": {"color": "#1A1A1A", "linestyle": "solid", "linewidth": 0.5, "zorder": 2.0},
    "metastable": {
        "color": "#1A1A1A",
        "linestyle": (0, (6.0, 1.5, 1.0, 1.5)),
        "linewidth": 0.6,
        "zorder": 2.0,
    },
}
"""Lines of the theory: leading order, at the maximum of the posterior, with fluctuations, its means at
finite size, and its metastable states."""

MAPS = "Blues"
"""Colour map of attention: white is no weight."""


def tint(colour: str, share: float) -> tuple[float, float, float]:
    """The colour mixed with white; `share` is how much of the colour is left."""
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(colour))
    return red, green, blue


@contextmanager
def look(plotting: Plotting) -> Iterator[None]:
    """The settings under which a figure is built and written; what was set before is restored at the end."""
    size = plotting.font_size
    settings: dict[Any, Any] = {
        "font.family": ["DejaVu Sans"],
        "mathtext.fontset": "dejavusans",
        "font.size": size,
        "axes.titlesize": size,
        "axes.labelsize": size,
        "xtick.labelsize": 0.9 * size,
        "ytick.labelsize": 0.9 * size,
        "legend.fontsize": 0.85 * size,
        "figure.dpi": plotting.dpi,
        "savefig.dpi": plotting.dpi,
        "pdf.fonttype": 42,
        "pdf.compression": 6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.7,
        "xtick.major.width": 0.7,
        "ytick.major.width": 0.7,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "lines.markersize": 4.0,
        "legend.frameon": False,
        "legend.handlelength": 2.2,
        "legend.columnspacing": 1.2,
        "legend.labelspacing": 0.3,
        "image.interpolation": "nearest",
        "axes.unicode_minus": True,
    }
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        yield


def axis_label(attributes: Any, symbol: str) -> str:
    """Label of an axis from a variable's `long_name` and `units`, with its symbol in front."""
    units = attributes.get("units", "1")
    name = attributes.get("long_name", "")
    text = f"{symbol}, {name}" if name else symbol
    return text if units == "1" else f"{text} ({units})"
