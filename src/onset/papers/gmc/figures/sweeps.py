"""Loss and scores of several settings side by side: what figures 5 and 6 share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from onset.papers.gmc.figures import panels
from onset.papers.gmc.selection import emergence_steps, loss_progress, median_step, take_best


@dataclass(frozen=True)
class Setting:
    """Runs of one setting: their results, the levels of their task, and how they are drawn and named."""

    runs: xr.Dataset
    levels: xr.Dataset
    colour: str
    label: str

    @property
    def emerged(self) -> float:
        """Median emergence step; NaN where there is none."""
        return median_step(emergence_steps(self.runs, self.levels))


def draw_remainder(axes: Axes, settings: Mapping[str, Setting]) -> None:
    """What is left of the loss above the Bayes floor, in units of the uniform average's excess over it.

    So that tasks with other floors share an axis.  Emergence steps are marked where curves cross one half.
    """
    axes.axhline(1.0, label="_level", **panels.UNIFORM)
    axes.axhline(0.0, label="_level", **panels.BAYES)
    for one in settings.values():
        panels.draw_seeds(axes, 1 - loss_progress(one.runs.test_loss, one.levels), one.colour, one.label)
        if np.isfinite(one.emerged):
            axes.plot(one.emerged, 0.5, "o", color=one.colour, markersize=3.0, zorder=4, label="_emergence")
    axes.set_ylim(-0.05, 1.3)
    axes.set_yticks([0, 0.5, 1], labels=["0", "0.5", "1"])


def draw_score(axes: Axes, settings: Mapping[str, Setting], name: str, control: bool = False) -> None:
    """A score of the best head; for IH-Repeat, where asked for, dotted without repetition."""
    for one in settings.values():
        panels.draw_seeds(axes, take_best(one.runs[name]), one.colour, one.label)
        if control:
            best = take_best(one.runs.IH_Repeat_control)
            panels.draw_seeds(axes, best, one.colour, "_control", faint=False, **panels.CONTROL)
    panels.frame_scores(axes)


def last_step(settings: Mapping[str, Setting]) -> float:
    """The last step of the longest run."""
    return max(float(one.runs["step"][-1]) for one in settings.values())
