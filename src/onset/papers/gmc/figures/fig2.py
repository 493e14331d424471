"""Figure 2: the loss drops when the heads form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from onset.papers.gmc.figures import panels
from onset.papers.gmc.selection import (
    NAMES,
    SCORES,
    count_repeated,
    emergence_steps,
    loss_progress,
    median_step,
    random_scores,
    score_ceilings,
    score_progress,
    take_best,
    take_levels,
)
from onset.plotting.panels import letter_panel
from onset.plotting.style import look, tint

if TYPE_CHECKING:
    from onset.job.context import Job

ZOOM = (0.4, 1.8)
"""Steps of panel c, as shares of the emergence step."""


def draw_loss(axes: Axes, runs: xr.Dataset, levels: xr.Dataset, emerged: float) -> None:
    """Test loss of every seed with the floors (panel a)."""
    panels.mark_levels(axes, levels)
    panels.mark_emergence(axes, emerged)
    panels.draw_seeds(axes, runs.test_loss, panels.LOSS, "_loss")
    panels.frame_log_loss(axes, float(levels.noise_floor), float(runs.test_loss.max()))
    panels.frame_steps(axes, float(runs["step"][-1]))
    axes.set_ylabel(panels.LOSS_LABEL)


def draw_scores(axes: Axes, runs: xr.Dataset, levels: xr.Dataset, emerged: float) -> None:
    """Best head's scores of every seed with both baselines and the control (panel b)."""
    T, K = int(levels["T"]), count_repeated(runs)
    exact, printed = random_scores(T, K), random_scores(T, K, printed=True)
    panels.mark_emergence(axes, emerged)
    for name in SCORES:
        colour = panels.SCORE_COLOURS[name]
        axes.axhline(exact[name], color=tint(colour, 0.8), label=f"_exact {name}", **panels.EXACT)
        axes.axhline(printed[name], color=tint(colour, 0.6), label=f"_printed {name}", **panels.PRINTED)
        panels.draw_seeds(axes, take_best(runs[name]), colour, name)
    control = take_best(runs.IH_Repeat_control)
    style = panels.CONTROL
    panels.draw_seeds(
        axes, control, panels.SCORE_COLOURS["IH_Repeat"], "IH_Repeat_control", faint=False, **style
    )
    panels.frame_scores(axes)
    panels.frame_steps(axes, float(runs["step"][-1]))
    axes.set_ylabel("score of the best head")


def draw_coincidence(axes: Axes, runs: xr.Dataset, levels: xr.Dataset, emerged: float) -> None:
    """Mean share of the way of loss and scores around the drop (panel c)."""
    panels.mark_emergence(axes, emerged)
    axes.axhline(0.5, **panels.EMERGENCE)
    shares = {"loss": loss_progress(runs.test_loss, levels), **score_progress(runs, levels)}
    for name, progress in shares.items():
        colour = panels.SCORE_COLOURS.get(name, panels.LOSS)
        # Records are shown, for they are what bounds how well a step is known.
        marker = {"marker": "o", "markersize": 1.8}
        panels.draw_seeds(axes, progress, colour, name, faint=False, **marker)
    last = float(runs["step"][-1])
    ends = [share * emerged for share in ZOOM] if np.isfinite(emerged) else [0.0, last]
    axes.set_xlim(ends[0], min(ends[1], last))
    axes.set_ylim(-0.15, 1.05)
    axes.set_xlabel(panels.STEP_LABEL)
    axes.set_ylabel("share of the way")


def list_handles() -> list[Line2D]:
    """Entries of the legend, in columns of three."""
    score = panels.SCORE_COLOURS
    return [
        panels.handle("test MSE", panels.LOSS),
        panels.handle(NAMES["PTH"], score["PTH"]),
        panels.handle(NAMES["IH_MC"], score["IH_MC"]),
        panels.handle(NAMES["IH_Repeat"], score["IH_Repeat"]),
        panels.handle("IH-Repeat without repetition", score["IH_Repeat"], **panels.CONTROL),
        panels.handle("emergence step", **panels.EMERGENCE),
        *(panels.handle(text, **style) for text, style in panels.LEVELS.values()),
        panels.handle("random attention", panels.MARKER, **panels.EXACT),
        panels.handle("the same, as printed", panels.MARKER, **panels.PRINTED),
    ]


def draw(job: Job) -> Figure:
    """Test loss and scores of the best head against steps, and both as shares of their way around the drop.

    Inputs by role: `runs` (base_runs), `floors`.  Panel c, the Bayes floor, the exact baselines and the
    control are our additions.   Source: arXiv 2602.07562, figure 2.
    """
    plotting, runs = job.sections["plotting"], job.inputs["runs"]
    levels = take_levels(job.inputs["floors"], "base")
    emerged = median_step(emergence_steps(runs, levels))
    with look(plotting):
        figure = panels.open_figure(job.own)
        parts = figure.subplots(1, 3)
        for axes, letter, drawing in zip(
            parts, "abc", (draw_loss, draw_scores, draw_coincidence), strict=True
        ):
            drawing(axes, runs, levels, emerged)
            letter_panel(axes, letter, left=-3.4)
        figure.legend(handles=list_handles(), loc="upper center", ncols=4, borderaxespad=0.3)
        ceiling = score_ceilings(levels)["IH_MC"]
        note = (
            f"{panels.describe_task(levels)}; {panels.describe_runs(runs)}: thin, their mean: thick. Scores: "
            "best head of all layers. Printed baselines leave out the position itself; random attention does "
            "not. c: share of the way from the uniform average to the Bayes floor, and from random attention "
            f"to 1 or, for IH-MC, to the mean posterior weight of the match, {ceiling:.3f}; mean over seeds. "
            + (
                f"Emergence step: loss half-way, {emerged:.0f} (median)."
                if np.isfinite(emerged)
                else "The median loss never is half-way."
            )
        )
        return panels.finish(figure, job, note, legend_rows=3)
