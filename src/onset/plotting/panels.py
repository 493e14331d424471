"""Reusable parts of figures: panel letters, attention maps, a footnote, a legend above."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage

from onset.plotting.style import MAPS

if TYPE_CHECKING:
    import xarray as xr


def letter_panel(axes: Axes, letter: str, left: float, up: float = 0.3) -> None:
    """Write a panel's letter in bold above its upper left corner.

    `left` and `up` shift it from the corner, in units of the title's font size.
    """
    size = axes.title.get_fontsize()
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
    axes.set_title(title, pad=3, loc="left", fontsize=axes.xaxis.label.get_fontsize() * 0.9)
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


def add_colour_bar(figure: Figure | SubFigure, image: AxesImage, grid: np.ndarray, label: str) -> None:
    """One colour bar to the right of a grid of maps, with round ticks that keep apart under the root."""
    bar = figure.colorbar(image, ax=list(grid.flat), label=label, fraction=0.05, pad=0.03, aspect=25)
    largest, ticks = float(image.norm.vmax), [0.0]
    for tick in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0):
        if tick <= largest and np.sqrt(tick / largest) - np.sqrt(ticks[-1] / largest) > 0.1:
            ticks.append(tick)
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.minorticks_off()
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(width=0.5, length=2)


def add_footnote(figure: Figure, text: str, size: float) -> float:
    """Write a note at the foot of a figure; return the height it takes, as a share of the figure.

    The text is broken at the figure's width; a line break in it is kept.
    """
    width, height = figure.get_size_inches()
    # 0.5 em is DejaVu Sans's average advance in running text, 0.535 leaves room for capitals and digits.
    columns = int((width - 0.2) * 72 / (0.535 * size))
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, columns)]
    figure.text(
        0.1 / width,
        0.05 / height,
        "\n".join(lines),
        fontsize=size,
        color="#444444",
        va="bottom",
        linespacing=1.25,
    )
    return (len(lines) * 1.25 * size * 1.2 / 72 + 0.08) / height
