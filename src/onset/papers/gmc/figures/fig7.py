"""Figure 7: scores of every head before and after the drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FixedLocator

from onset.errors import OnsetError
from onset.papers.gmc.figures import panels
from onset.papers.gmc.selection import NAMES, count_repeated, random_scores, take_levels
from onset.plotting.panels import letter_panel
from onset.plotting.style import MAPS, look

if TYPE_CHECKING:
    from onset.job.context import Job

ROWS = ("PTH", "IH_MC", "IH_Repeat", "IH_Repeat_control")
WRITTEN = 12
"""Largest number of heads whose scores are written into their cells."""


def take_step(runs: xr.Dataset, step: int) -> xr.Dataset:
    """The records of an evaluated step.   Raises OnsetError where the step was not evaluated."""
    if step not in runs["step"].values:
        known = runs["step"].values
        raise OnsetError(
            f"step {step} was not evaluated; steps 0 to {known[-1]} were, every {known[1] - known[0]}"
        )
    return runs.sel(step=step)


def draw_heads(axes: Axes, scores: xr.DataArray, size: float) -> AxesImage:
    """Scores (layer, head) as colours from 0 to 1, with the numbers where there is room."""
    values = scores.transpose("layer", "head").values.astype(np.float64)
    image = axes.imshow(values, cmap=MAPS, vmin=0.0, vmax=1.0, aspect="auto")
    if values.shape[1] <= WRITTEN and len(values) <= 4:
        for (layer, head), value in np.ndenumerate(values):
            text = f"{value:.2f}".lstrip("0") if value < 0.995 else "1.0"
            colour = "white" if value > 0.6 else "black"
            axes.text(head, layer, text, ha="center", va="center", fontsize=size, color=colour)
    axes.xaxis.set_major_locator(FixedLocator(range(values.shape[1])))
    axes.yaxis.set_major_locator(FixedLocator(range(0, len(values), max(1, len(values) // 4))))
    axes.tick_params(length=0, pad=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    return image


def draw(job: Job) -> Figure:
    """PTH, IH-MC, IH-Repeat and its control of each head of one run, at a step before the drop and one after.

    Inputs by role: `runs` (base_runs), `floors`.  The control is our addition.
    Source: arXiv 2602.07562, figure 7.
    """
    plotting, own = job.sections["plotting"], job.own
    runs = job.inputs["runs"].sel(seed=own.seed)
    levels = take_levels(job.inputs["floors"], "base")
    random = random_scores(int(levels["T"]), count_repeated(job.inputs["runs"]))
    with look(plotting):
        figure = panels.open_figure(own)
        grid = figure.subplots(len(ROWS), 2, sharex=True, sharey=True)
        for column, (step, when) in enumerate(((own.before, "before"), (own.after, "after"))):
            records = take_step(runs, step)
            for row, name in enumerate(ROWS):
                image = draw_heads(grid[row, column], records[name], panels.small(plotting))
            loss = float(records.test_loss)
            grid[0, column].set_title(f"step {step}, {when} the drop: test MSE {loss:.2g}", pad=4)
            grid[-1, column].set_xlabel("head")
            letter_panel(grid[0, column], "ab"[column], left=-3.4 if column == 0 else -1.2)
        for row, name in enumerate(ROWS):
            grid[row, 0].set_ylabel(NAMES[name].split(", ")[-1] + "\nlayer")
        figure.align_ylabels(grid[:, 0])
        bar = figure.colorbar(image, ax=list(grid.flat), label="score", fraction=0.03, pad=0.02, aspect=30)
        bar.outline.set_linewidth(0.5)
        bar.ax.tick_params(width=0.5, length=2)
        note = (
            f"{panels.describe_task(levels)}; {panels.describe_runs(job.inputs['runs'])}, drawn: seed\xa0"
            f"{own.seed}. Random attention scores {random['PTH']:.3f} (PTH), {random['IH_MC']:.3f} (IH-MC), "
            f"{random['IH_Repeat']:.3f} (IH-Repeat). Control: the same statistic on sequences that do not "
            "repeat, which a head that looks back by a fixed number of positions raises as well."
        )
        return panels.finish(figure, job, note)
