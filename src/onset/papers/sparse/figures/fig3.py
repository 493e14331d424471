"""Figure 3: the full model is near the predictors of few groups first, and near models of short context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.papers.sparse.figures import captions, panels
from onset.papers.sparse.selection import nearest_reference, stage_ends, take_KL, take_run
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job

STRIP = (-0.035, 0.0)
"""Where the strip of the nearest reference lies, as shares of the panel's height."""


def draw_reference_panel(axes: Axes, run: xr.Dataset, seed: int) -> None:
    """KL to the models of restricted context, all seeds, with the drawn seed's nearest one below."""
    KL = take_KL(run, "context")
    panels.draw_divergences(axes, KL, seed, "context")
    panels.frame_nats(axes, KL.sel(seed=seed))
    panels.frame_steps(axes, run)
    mark_nearest(axes, nearest_reference(KL.sel(seed=seed), "context"))


def mark_nearest(axes: Axes, nearest: xr.DataArray) -> None:
    """A strip under the axis in the colour of the nearest reference (step,) at each record."""
    steps = nearest["step"].values
    begin = 0
    for end in range(1, len(steps) + 1):
        if end == len(steps) or nearest.values[end] != nearest.values[begin]:
            number = int(nearest.values[begin])
            if number >= 0:
                axes.axvspan(
                    steps[begin],
                    steps[min(end, len(steps) - 1)],
                    *STRIP,
                    facecolor=panels.GROUPS[number % len(panels.GROUPS)],
                    linewidth=0,
                    clip_on=False,
                    label="_nearest",
                )
            begin = end
    axes.tick_params(axis="x", pad=5)


def list_references(run: xr.Dataset) -> list:
    """Entries of the legend for the models of restricted context."""
    contexts = take_KL(run, "context").context.values
    return [
        panels.handle(f"{int(c)}-gram", panels.GROUPS[number % len(panels.GROUPS)])
        for number, c in enumerate(contexts)
    ]


def draw(job: Job) -> Figure:
    """KL to f_{A_1:i} (a) and to models that see the last c tokens alone (b), against steps.

    Inputs by role: `runs` (full_runs).   Raises KeyError where run or seed is not there.
    Source: arXiv 2602.19143, figure 3.
    """
    plotting, own = job.sections["plotting"], job.own
    run = take_run(job.inputs["runs"], own.run)
    with look(plotting):
        figure = panels.open_figure(own)
        left, right = figure.subplots(1, 2)
        panels.draw_prefix_panel(left, run, own.seed)
        draw_reference_panel(right, run, own.seed)
        panels.mark_stages(right, stage_ends(run, own.seed))
        for axes, letter in ((left, "a"), (right, "b")):
            letter_panel(axes, letter, left=-3.0)
        panels.legend_above(left, [*panels.list_prefixes(run), panels.stage_handle()])
        panels.legend_above(right, list_references(run))
        note = (
            f"{captions.describe_chain(run)}; {captions.describe_run(run)}. "
            f"{captions.describe_seed(run, own.seed)} {captions.DIVERGENCE} {captions.STAGES} "
            "b: references are the same model with attention to the last c tokens alone, trained from other "
            "starts on other batches (authors: on windows of c tokens); strip: the nearest one."
        )
        return panels.finish(figure, job, note)
