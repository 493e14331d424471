"""Figure 8: attention of every head on a repeated sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D

from onset.errors import OnsetError
from onset.papers.gmc.figures import panels
from onset.papers.gmc.selection import NAMES, take_levels
from onset.plotting.panels import add_colour_bar, attention_scale, draw_attention, label_maps, letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job

GAP = 0.3
"""Room between the layers, in widths of a map."""
BAND: dict[str, Any] = {"linewidth": 0.6, "zorder": 3}


def take_maps(runs: xr.Dataset, seed: int, step: int) -> xr.DataArray:
    """Attention (layer, head, query, key) of one run at a step.   Raises OnsetError where none was kept."""
    kept = runs["map_step"].values.tolist() if "map_step" in runs.coords else []
    if step not in kept:
        raise OnsetError(f"no attention maps of step {step}; kept are {', '.join(map(str, kept)) or 'none'}")
    return runs.attention.sel(seed=seed, map_step=step)


def mark_band(axes: Axes, offset: int, first: int, last: int, colour: str) -> None:
    """Two thin lines that enclose the cells (q, q - offset) of queries `first` to `last`."""
    axes.autoscale(False)
    q = np.array([first, last])
    for side in (-0.5, 0.5):
        # Through the corners of the cells that point away from the diagonal.
        axes.plot(q - offset + side, q - side, color=colour, label="_band", **BAND)


def draw_layer(grid: np.ndarray, maps: xr.DataArray, scale: PowerNorm, score: str) -> AxesImage:
    """All heads of one layer, with the subdiagonal that a score reads marked."""
    length = maps.sizes["query"]
    K = length // 2
    offset, first = (1, 1) if score == "PTH" else (K - 1, K)
    for axes in grid.flat[maps.sizes["head"] :]:
        axes.set_visible(False)
    for head, axes in enumerate(grid.flat[: maps.sizes["head"]]):
        image = draw_attention(axes, maps.isel(head=head), scale, f"head {head}")
        mark_band(axes, offset, first, length - 1, panels.SCORE_COLOURS[score])
    return image


def name_group(axes: Axes, letter: str, text: str) -> None:
    """A letter and a text above the first map of a group."""
    letter_panel(axes, letter, left=-1.9, up=1.5)
    size = float(axes.title.get_fontsize())
    axes.annotate(
        text,
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 1.5 * size),
        textcoords="offset points",
        fontsize=size,
        va="bottom",
        annotation_clip=False,
    ).set_in_layout(False)


def draw(job: Job) -> Figure:
    """Attention maps of all heads of the first and the last layer on one repeated sequence.

    Marked are the cells that PTH reads in the first layer and IH-Repeat in the last.
    Inputs by role: `runs` (base_runs), `floors`.   Source: arXiv 2602.07562, figure 8.
    """
    plotting, own = job.sections["plotting"], job.own
    runs, levels = job.inputs["runs"], take_levels(job.inputs["floors"], "base")
    maps = take_maps(runs, own.seed, own.step)
    layers, heads = maps.sizes["layer"], maps.sizes["head"]
    drawn = {0: "PTH"} | ({layers - 1: "IH_Repeat"} if layers > 1 else {})
    columns = heads if heads <= 3 else int(np.ceil(np.sqrt(heads)))
    rows = -(-heads // columns)
    scale = attention_scale([maps])
    with look(plotting):
        figure = panels.open_figure(own)
        # An empty column keeps the layers apart, so that all maps are of one size.
        widths = [1.0] * columns + ([GAP] + [1.0] * columns) * (len(drawn) - 1)
        grid = figure.subplots(rows, len(widths), squeeze=False, width_ratios=widths)
        for number, (layer, score) in enumerate(drawn.items()):
            begin = number * (columns + 1)
            part = grid[:, begin : begin + columns]
            image = draw_layer(part, maps.isel(layer=layer), scale, score)
            label_maps(part)
            name_group(part[0, 0], "ab"[number], f"layer {layer}")
            for axes in grid[:, begin - 1] if number else ():
                axes.set_visible(False)
        add_colour_bar(figure, image, scale, grid, "attention")
        handles = [
            Line2D([], [], color=panels.SCORE_COLOURS[score], linewidth=1.0, label=f"read by {NAMES[score]}")
            for score in drawn.values()
        ]
        figure.legend(handles=handles, loc="upper center", ncols=len(handles), borderaxespad=0.3)
        K = maps.sizes["query"] // 2
        note = (
            f"{panels.describe_task(levels)}; {panels.describe_runs(runs)}, drawn: seed\xa0{own.seed}, "
            f"step\xa0{own.step}. Sequence: {K} tokens, twice. Enclosed: the first subdiagonal, and the "
            f"subdiagonal {K - 1} of the second copy: from a token to the successor of its first occurrence. "
            "Colours: square root of the weight."
        )
        return panels.finish(figure, job, note, legend_rows=2)
