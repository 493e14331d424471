"""Figure 6: larger starts shorten the plateaus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import list_runs, take_run, take_theory
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job


def draw_starts(axes: Axes, runs: list[xr.Dataset], theory: xr.Dataset, size: float) -> None:
    """Losses of one model, a colour for each size of start, over the losses of its fixed points."""
    runs = sorted(runs, key=lambda run: float(run.init_std))
    for run, colour in zip(runs, panels.ordered_colours(len(runs)), strict=True):
        panels.draw_losses(axes, run.loss, colour, panels.format_number(float(run.init_std)), "typical")
    levels = theory.plateau_loss.values
    axes.set_ylim(0, 1.15 * levels[0])
    if str(runs[0].model.values) == "separate":
        panels.mark_plateaus(axes, levels, size, [f"{m}" for m in theory.plateau.values])
    else:
        panels.mark_plateaus(axes, levels[[0, -1]], size, ["$M_0$", "$M_*$"])
    panels.frame_steps(axes, [run.loss for run in runs])
    axes.set(xlabel="training step", title=panels.MODEL_NAMES[str(runs[0].model.values)])
    axes.legend(
        title="initial sd",
        title_fontsize=size,
        loc="upper right",
        bbox_to_anchor=(1.0, 0.86),
        handlelength=1.4,
        frameon=True,
        framealpha=1.0,
        edgecolor="none",
    )


def draw(job: Job) -> Figure:
    """Losses from starts of many sizes, ATTN_M (left) and ATTN_S (right).

    Inputs by role: `runs` (fig6_runs), `theory`.   Source: arXiv 2501.16265, figure 6.
    """
    plotting, runs = job.sections["plotting"], job.inputs["runs"]
    models = [model for model in ("merged", "separate") if list_runs(runs, model=model)]
    with look(plotting):
        figure = panels.open_figure(job.own)
        grid = figure.subplots(1, len(models), sharey=True, squeeze=False)[0]
        notes = []
        for axes, model, letter in zip(grid, models, "ab", strict=False):
            chosen = [take_run(runs, label) for label in list_runs(runs, model=model)]
            theory = take_theory(job.inputs["theory"], chosen[0])
            draw_starts(axes, chosen, theory, panels.small(plotting))
            letter_panel(axes, letter, left=-3.0 if axes is grid[0] else -1.2)
            notes.append(f"{letter}: {panels.describe_run(chosen[0], 'model', 'init_std')}")
        grid[0].set_ylabel(panels.LOSS_LABEL)
        note = (
            f"{panels.describe_task(theory)}. {'; '.join(notes)}. Initial sd: of all entries. Thin: seeds, "
            "thick: the one in the middle by mean loss on the log axis. Which model and which starts the "
            f"paper shows is not known: all settings here are our choice. {panels.describe_scale(job.scale)}"
        )
        panels.finish(figure, plotting, note)
    return figure
