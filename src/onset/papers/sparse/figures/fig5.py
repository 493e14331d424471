"""Figure 5: small datasets stop the stages early, near models of shorter context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.papers.sparse.figures import captions, panels
from onset.papers.sparse.figures.fig3 import list_references, mark_nearest
from onset.papers.sparse.selection import (
    best_steps,
    measure_excess,
    nearest_reference,
    order_by_size,
    take_KL,
    take_run,
)
from onset.plotting.panels import letter_panel
from onset.plotting.style import MARKER, look

if TYPE_CHECKING:
    from onset.job.context import Job

BEST: dict[str, Any] = {"color": MARKER, "linestyle": (0, (1.0, 1.2)), "linewidth": 1.0, "zorder": 1.3}
"""The step of the least validation loss."""


APART = 0.085
"""Least distance of two names, as a share of the panel's height."""


def name_size(run: xr.Dataset) -> str:
    """`N = 600`, or that each step has a fresh batch."""
    samples = int(run.samples)
    return f"N = {samples}" if samples else "fresh"


def name_curves(axes: Axes, curves: dict[str, xr.DataArray]) -> None:
    """The name of each curve at its right end, in its colour, on a logarithmic axis; names keep apart."""
    low, high = np.log(axes.get_ylim())
    ends = {name: (np.log(float(curve[-1])) - low) / (high - low) for name, curve in curves.items()}
    place = np.inf
    for name in sorted(ends, key=lambda name: -ends[name]):
        place = min(ends[name], place - APART)
        (line,) = (line for line in axes.lines if line.get_label() == name)
        axes.annotate(
            name,
            (1.0, place),
            xycoords="axes fraction",
            xytext=(2, 0),
            textcoords="offset points",
            va="center",
            color=line.get_color(),
            fontsize=0.82 * float(axes.xaxis.label.get_fontsize()),
            annotation_clip=False,
        )


def draw_best(axes: Axes, runs: xr.Dataset, seed: int) -> None:
    """The least excess loss so far of every run (panel a)."""
    labels = order_by_size(runs)
    curves = {}
    for label, colour in zip(labels, panels.ordered_colours(len(labels)), strict=True):
        run = take_run(runs, label)
        best = measure_excess(run).transpose("seed", "step")
        curves[label] = best.copy(data=np.minimum.accumulate(best.values, axis=1))
        panels.draw_seeds(axes, curves[label], seed, colour, name_size(run))
    panels.frame_log(axes, curves.values())
    panels.frame_steps(axes, take_run(runs, labels[-1]))
    axes.set_ylabel("least excess (nats)")
    name_curves(axes, {name_size(take_run(runs, label)): curves[label].sel(seed=seed) for label in labels})


def draw_size(axes: Axes, run: xr.Dataset, seed: int) -> None:
    """KL of one run to the models of restricted context, with its best step (panels b to d)."""
    KL = take_KL(run, "context")
    panels.draw_divergences(axes, KL, seed, "context")
    axes.axvline(float(best_steps(run).sel(seed=seed)), label="_best", **BEST)
    panels.frame_steps(axes, run)
    mark_nearest(axes, nearest_reference(KL.sel(seed=seed), "context"))
    axes.set_title(name_size(run), pad=3)


def draw(job: Job) -> Figure:
    """Least excess loss so far for each size of the dataset (a), KL to restricted models for some (b to d).

    Inputs by role: `runs` (size_runs).   Raises KeyError where a run or the seed is not there.
    Source: arXiv 2602.19143, figure 5.
    """
    plotting, own = job.sections["plotting"], job.own
    runs = job.inputs["runs"]
    shown = [take_run(runs, label) for label in own.runs]
    with look(plotting):
        figure = panels.open_figure(own)
        widths = [1.45] + [1.0] * len(shown)
        parts = np.asarray(figure.subplots(1, 1 + len(shown), width_ratios=widths))
        draw_best(parts[0], runs, own.seed)
        letter_panel(parts[0], "a", left=-3.0)
        top = max(float(take_KL(run, "context").sel(seed=own.seed).max()) for run in shown)
        for axes, letter, run in zip(parts[1:], "bcdefgh", shown, strict=False):
            draw_size(axes, run, own.seed)
            axes.set_ylim(0, 1.05 * top)
            letter_panel(axes, letter, left=-1.6)
            if axes is not parts[1]:
                axes.set_ylabel("")
                axes.tick_params(labelleft=False)
        handles = [*list_references(shown[0]), panels.handle("step of the least loss", **BEST)]
        figure.legend(handles=handles, loc="upper center", ncols=len(handles), borderaxespad=0.3)
        note = (
            f"{captions.describe_chain(shown[0])}; {captions.describe_run(shown[0], 'data')}. "
            f"{captions.describe_seed(shown[0], own.seed)} b, c, …: {captions.DIVERGENCE} "
            "References are the same model with attention to the last c tokens alone, trained on fresh "
            "sequences from other starts; strips: the nearest one."
        )
        return panels.finish(figure, job, note, legend_rows=1)
