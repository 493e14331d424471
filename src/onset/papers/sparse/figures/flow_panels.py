"""What figures 6 and 7 share: attention and values of every head against the time of the flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

from onset.papers.sparse.figures.panels import STAGE, handle, mark_stages
from onset.plotting.panels import letter_panel
from onset.plotting.style import HEADS

if TYPE_CHECKING:
    from onset.job.context import Job

TIME_LABEL = "time $t$"
LOWEST = 2e-4
"""Attention below which nothing is drawn."""
NOISES = {
    "uniform": "uniform noise on [0,\xa0{epsilon:g}]",
    "gaussian": "Gaussian noise of standard deviation\xa0{epsilon:g}",
}


def take_drawn(flow: xr.Dataset, job: Job) -> xr.Dataset:
    """The drawn run and seed without time 0, which a logarithmic axis has no place for.

    Raises KeyError where the run or seed is not there.
    """
    one = flow.sel(run=job.own.run, seed=job.own.seed)
    return one.isel(time=slice(1, None))


def take_attention(flow: xr.Dataset) -> xr.DataArray:
    """Attention on the features' positions, (..., head, feature), from that on all positions."""
    on = flow["s"].isel(position=slice(flow.sizes["feature"]))
    return on.rename(position="feature").assign_coords(feature=flow["feature"])


def open_panels(figure: Figure, grid: np.ndarray, features: int) -> None:
    """Titles, labels and letters of a grid (2, features): attention above, values below."""
    for column, (upper, lower) in enumerate(grid.T):
        upper.set_title(f"position $p_{{{column + 1}}}$", pad=4)
        lower.set_title(f"along $V^\\star_{{{column + 1}}}$", pad=4)
        lower.set_xlabel(TIME_LABEL)
    grid[0, 0].set_ylabel("attention $s_k(p_j)$")
    grid[1, 0].set_ylabel(r"value $\langle V_k, V^\star_j\rangle$")
    for axes, letter in zip(grid.ravel(), "abcdefghijkl", strict=False):
        letter_panel(axes, letter, left=-3.0 if axes in grid[:, 0] else -0.6)
    figure.align_ylabels(grid[:, 0])


def draw_heads(grid: np.ndarray, attention: xr.DataArray, values: xr.DataArray, **line: Any) -> None:
    """Curves of every head in the grid, from attention and values (time, head, feature)."""
    x = attention["time"].values
    for row, quantity in zip(grid, (attention, values), strict=True):
        for j, axes in enumerate(row):
            for k, curve in enumerate(quantity.isel(feature=j).transpose("head", "time").values):
                shown = np.where(curve > 0, curve, np.nan) if quantity is attention else curve
                axes.plot(x, shown, **{"color": HEADS[k % len(HEADS)], "label": f"head {k + 1}"} | line)


def frame_grid(grid: np.ndarray, times: np.ndarray, values: xr.DataArray, begins: np.ndarray) -> None:
    """Axes of the grid: time as a logarithm, attention too, values linear; a line where each stage begins."""
    for axes in grid.ravel():
        frame_times(axes, times)
        mark_stages(axes, begins[np.isfinite(begins)])
    for axes in grid[0]:
        axes.set_yscale("log")
        axes.set_ylim(LOWEST, 1.6)
        frame_decades(axes)
    span = float(values.max()) - float(values.min())
    for axes in grid[1]:
        axes.set_ylim(float(values.min()) - 0.06 * span, float(values.max()) + 0.06 * span)
        axes.axhline(0.0, color="#BBBBBB", linewidth=0.6, zorder=1)
    for axes in grid[:, 1:].ravel():
        axes.tick_params(labelleft=False)
    for axes in grid[0]:
        axes.tick_params(labelbottom=False)


def frame_times(axes: Axes, times: np.ndarray) -> None:
    """A logarithmic axis of times, labelled at decades."""
    axes.set_xscale("log")
    axes.set_xlim(times[0], times[-1])
    exponents = np.arange(np.ceil(np.log10(times[0]) - 1e-9), np.floor(np.log10(times[-1]) + 1e-9) + 1)
    axes.xaxis.set_major_locator(FixedLocator(list(10.0**exponents)))
    axes.xaxis.set_minor_locator(NullLocator())


def frame_decades(axes: Axes) -> None:
    """A logarithmic y axis labelled at decades."""
    axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())


def list_heads(count: int) -> list[Line2D]:
    """Entries of a legend for the heads."""
    return [handle(f"head {k + 1}", HEADS[k % len(HEADS)]) for k in range(count)]


def begin_handle() -> Line2D:
    """Entry of a legend for the beginning of a stage."""
    return Line2D([], [], label="a stage begins", **STAGE)


def describe_flow(flow: xr.Dataset) -> str:
    """Sizes, strengths and start of a drawn run (see `take_drawn`), and which it is."""
    strengths = ", ".join(f"{m:.3g}" for m in flow["strength"].values)
    noise = NOISES[str(flow["noise"].values)].format(epsilon=float(flow["epsilon"]))
    return (
        f"h\xa0=\xa0{flow.sizes['head']} heads, T\xa0=\xa0{flow.sizes['position']} positions, strengths "
        f"m_j\xa0=\xa0{strengths}; from V\xa0=\xa00 and s\xa0=\xa01/T with {noise}, rows normalised (seed\xa0"
        f"{int(flow['seed'])}, our choice)"
    )
