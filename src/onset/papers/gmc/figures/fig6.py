"""Figure 6: one layer never solves the task, two and more do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr
from matplotlib.figure import Figure

from onset.papers.gmc.figures import panels, sweeps
from onset.papers.gmc.selection import NAMES, SCORES, count_layers, is_whole, take_levels
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onset.job.context import Job


def list_depths(inputs: Mapping[str, xr.Dataset]) -> dict[str, sweeps.Setting]:
    """The settings by role, shallow to deep."""
    runs = {role: found for role, found in inputs.items() if role != "floors"}
    depths = {role: count_layers(found) for role, found in runs.items()}
    colours = panels.depth_colours(list(depths.values()), depths["base"])
    levels = take_levels(inputs["floors"], "base")
    ordered = sorted(runs, key=depths.__getitem__)
    return {
        role: sweeps.Setting(runs[role], levels, colours[depths[role]], f"{depths[role]}") for role in ordered
    }


def describe_short(settings: Mapping[str, sweeps.Setting]) -> str:
    """Which runs end early, in one sentence; nothing where none does."""
    base = settings["base"].runs
    short = {
        one.label: int(one.runs["step"][-1]) for one in settings.values() if not is_whole(one.runs, base)
    }
    if not short:
        return ""
    ends = sorted(set(short.values()))
    length = " to ".join(f"{end}" for end in dict.fromkeys((ends[0], ends[-1])))
    return f" Stopped after {length}\xa0steps at this scale: {', '.join(short)}\xa0layers."


def draw(job: Job) -> Figure:
    """Test loss and scores of the best head against steps for every depth.

    Inputs by role: `base` and `depth<n>` (runs), `floors`.   Source: arXiv 2602.07562, figure 6.
    """
    plotting, settings = job.sections["plotting"], list_depths(job.inputs)
    base = settings["base"]
    with look(plotting):
        figure = panels.open_figure(job.own)
        grid = figure.subplots(2, 2, sharex=True)
        last = sweeps.last_step(settings)
        loss = grid[0, 0]
        panels.mark_levels(loss, base.levels)
        for one in settings.values():
            panels.draw_seeds(loss, one.runs.test_loss, one.colour, one.label)
        highest = max(float(one.runs.test_loss.max()) for one in settings.values())
        panels.frame_log_loss(loss, float(base.levels.noise_floor), highest)
        loss.set_ylabel(panels.LOSS_LABEL)
        for axes, name in zip(grid.flat[1:], SCORES, strict=True):
            sweeps.draw_score(axes, settings, name, control=name == "IH_Repeat")
            axes.set_ylabel(NAMES[name])
        for number, axes in enumerate(grid.flat):
            letter_panel(axes, "abcd"[number], left=-3.6)
            panels.frame_steps(axes, last, label=number > 1)
        handles = [
            panels.handle(f"{one.label}\xa0layer" + "s" * (one.label != "1"), one.colour)
            for one in settings.values()
        ]
        handles += [panels.handle(text, **style) for text, style in panels.LEVELS.values()]
        handles.append(panels.handle("IH-Repeat without repetition", panels.MARKER, **panels.CONTROL))
        figure.legend(handles=handles, loc="upper center", ncols=5, borderaxespad=0.3)
        counts = ", ".join(f"{one.runs.sizes['seed']}" for one in settings.values())
        note = (
            f"{panels.describe_task(base.levels)}; base runs: {panels.describe_runs(base.runs)}; others "
            f"differ in the number of layers alone. Seeds by depth: {counts}; their mean is thick. Scores: "
            f"best head of all layers.{describe_short(settings)}"
        )
        return panels.finish(figure, job, note, legend_rows=2)
