"""Figure 8: both models where the input has many directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import list_runs, take_run, take_theory
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job


def arrange_runs(runs: xr.Dataset, theory: xr.Dataset) -> dict[str, list[str]]:
    """Labels of the runs of each model that is there, in order of the dimension of their task."""
    order = {label: int(theory.dimension.sel(task=runs.task.sel(run=label))) for label in runs.run.values}
    found = {
        model: sorted(list_runs(runs, model=model), key=order.__getitem__) for model in panels.MODEL_NAMES
    }
    return {model: labels for model, labels in found.items() if labels}


def draw_run(axes: Axes, run: xr.Dataset, expected: xr.Dataset, size: float) -> None:
    """Loss of every seed, and the plateaus of Eq. 19 that they reach, with the floor.

    The merged model has one drop: no plateaus are drawn between its two ends.
    """
    model = str(run.model.values)
    colour, name = panels.MODELS[model], panels.MODEL_NAMES[model]
    panels.draw_losses(axes, run.loss, colour, name, average="none", color=colour, linewidth=0.9)
    levels, count = expected.plateau_loss.values, int(expected.dimension)
    reached = levels > float(run.loss.min()) if model == "separate" else np.arange(count + 1) == 0
    levels = np.where(reached | (np.arange(count + 1) == count), levels, np.nan)
    axes.set_ylim(0, 1.06 * levels[0])
    panels.mark_plateaus(axes, levels, size, apart=0.075)
    panels.frame_steps(axes, [run.loss])
    axes.set_title(f"{panels.MODEL_NAMES[model]}, D = {int(expected.dimension)}", loc="left", pad=4)


def draw(job: Job) -> Figure:
    """Loss against steps, a panel for each model and dimension, with the plateau losses of Eq. 19.

    Inputs by role: `runs` (fig8_runs), `theory`.  Source: arXiv 2501.16265, figure 8.
    """
    plotting, theory = job.sections["plotting"], job.inputs["theory"]
    runs = arrange_runs(job.inputs["runs"], theory)
    widest = max(map(len, runs.values()))
    with look(plotting):
        figure = panels.open_figure(job.own)
        rows = (len(runs), widest) if widest > 1 else (1, len(runs))
        grid = figure.subplots(*rows, squeeze=False)
        order = [(model, k) for model, labels in runs.items() for k in range(widest)]
        described: dict[str, str] = {}
        heads: dict[str, dict[int, None]] = {}
        for number, ((model, k), axes) in enumerate(zip(order, grid.flat, strict=True)):
            if k >= len(runs[model]):
                axes.set_visible(False)
                continue
            run = take_run(job.inputs["runs"], runs[model][k])
            expected = take_theory(theory, run)
            draw_run(axes, run, expected, panels.small(plotting))
            described.setdefault(model, panels.describe_run(run, "heads", "rank", "samples", "model"))
            heads.setdefault(model, {})[int(run.heads)] = None
            letter_panel(axes, "abcdefghijkl"[number], left=-3.0)
            if k == 0 or widest == 1:
                axes.set_ylabel("population loss")
            if model == list(runs)[-1] or widest == 1:
                axes.set_xlabel("gradient steps")
        settings = "; ".join(
            f"{panels.MODEL_NAMES[model]}: H\xa0=\xa0{', '.join(map(str, heads[model]))}, {described[model]}"
            for model in runs
        )
        first = take_theory(theory, take_run(job.inputs["runs"], next(iter(runs.values()))[0]))
        note = (
            "Curves: each seed, population gradient. Dashed: losses with the m largest directions learned "
            "(Eq. 19), as far as they are reached, and the floor m = D; m at the right where there is room. "
            f"λ_d\xa0∝\xa01/d, trace 1, N\xa0=\xa0{int(first.context)} "
            f"as in the paper; the dimensions and all settings of training are our choice: {settings}."
        )
        panels.finish(figure, plotting, f"{note} {panels.describe_scale(job.scale)}".strip())
    return figure
