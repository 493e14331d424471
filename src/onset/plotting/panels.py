"""Reusable parts of figures: panel letters, attention maps, a footnote, a legend above."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.image import AxesImage
from matplotlib.textpath import text_to_path

from onset.plotting.style import MAPS

if TYPE_CHECKING:
    import xarray as xr

MARGIN = 7.0
"""Points between the foot of a figure and its edges."""


def letter_panel(axes: Axes, letter: str, left: float, up: float = 0.3) -> None:
    """Write a panel's letter in bold above its upper left corner.

    `left` and `up` shift it from the corner, in units of the title's font size.
    """
    size = float(axes.title.get_fontsize())
    axes.annotate(
        letter,
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(left * size, up * size),
        textcoords="offset points",
        fontsize=1.15 * size,
        fontweight="bold",
        va="bottom",
        ha="left",
        annotation_clip=False,
    ).set_in_layout(False)


def attention_scale(maps: list[xr.DataArray]) -> PowerNorm:
    """The colour scale shared by several maps: the square root of the weight, from 0 to the largest.

    The root keeps uniform attention, 1/L on every key, apart from none beside a copy entry near 1.
    Weights below 0 (noise around 0 in linear attention) are drawn as 0.
    """
    return PowerNorm(0.5, vmin=0.0, vmax=max(float(m.max()) for m in maps), clip=True)


def draw_attention(axes: Axes, attention: xr.DataArray, scale: PowerNorm, title: str) -> AxesImage:
    """Draw one attention matrix (query, key): queries downwards, keys to the right, both from 0."""
    image = axes.imshow(attention.transpose("query", "key").values, cmap=MAPS, norm=scale, origin="upper")
    ends = {"query": attention.sizes["query"] - 1, "key": attention.sizes["key"] - 1}
    axes.set_xticks([0, ends["key"]])
    axes.set_yticks([0, ends["query"]])
    axes.tick_params(length=1.5, pad=1.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    axes.set_title(title, pad=3, loc="left", fontsize=0.9 * float(axes.xaxis.label.get_fontsize()))
    axes.set_box_aspect(1)
    return image


def label_maps(grid: np.ndarray) -> None:
    """Label the axes of a grid of attention maps at its left and lower edges, and drop inner tick labels."""
    for (row, column), axes in np.ndenumerate(grid):
        if row == len(grid) - 1:
            axes.set_xlabel("key", labelpad=-3)
        else:
            axes.tick_params(labelbottom=False)
        if column == 0:
            axes.set_ylabel("query", labelpad=-5)
        else:
            axes.tick_params(labelleft=False)


def add_colour_bar(
    figure: Figure | SubFigure, image: AxesImage, scale: PowerNorm, grid: np.ndarray, label: str
) -> None:
    """One colour bar to the right of a grid of maps, with round ticks that keep apart under the root."""
    bar = figure.colorbar(image, ax=list(grid.flat), label=label, fraction=0.05, pad=0.03, aspect=25)
    largest, ticks = float(scale.inverse(1.0)), [0.0]
    for tick in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0):
        if tick <= largest and np.sqrt(tick / largest) - np.sqrt(ticks[-1] / largest) > 0.1:
            ticks.append(tick)
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.minorticks_off()
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(width=0.5, length=2)


def add_footnote(figure: Figure, text: str, size: float) -> float:
    """Write a note at the foot of a figure; return the height it takes, as a share of the figure.

    The text is broken into lines at spaces so that it fits the figure's width.
    """
    width, height = (72 * inches for inches in figure.get_size_inches())
    # Renderers round the advance of each glyph to pixels: lines come out up to 4 % wider than the font says.
    lines = break_lines(text, 0.96 * (width - 2 * MARGIN), size)
    figure.text(
        MARGIN / width,
        0.5 * MARGIN / height,
        "\n".join(lines),
        fontsize=size,
        color="#444444",
        va="bottom",
        linespacing=1.25,
    )
    return (len(lines) * 1.25 * size * 1.2 + MARGIN) / height


def break_lines(text: str, width: float, size: float) -> list[str]:
    """Break a text at spaces into lines no wider than `width` points; a longer word stays whole."""
    font = FontProperties(size=size)
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_to_path.get_text_width_height_descent(longer, font, ismath=False)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
