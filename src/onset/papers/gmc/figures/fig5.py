"""Figure 5: harder matches, longer contexts, wider tokens and GPT-2 drop later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from onset.papers.gmc.figures import panels, sweeps
from onset.papers.gmc.selection import NAMES, SCORES, read_own, take_levels
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onset.job.context import Job

SWEEPS = {
    "match": ("close", "base", "loose"),
    "context": ("base", "long"),
    "width of tokens": ("base", "wide"),
    "architecture": ("base", "gpt2"),
}
"""Roles of the runs that each column compares."""


def name_setting(column: str, runs: xr.Dataset, levels: xr.Dataset) -> str:
    """What distinguishes the runs in a column."""
    c = float(levels["c"])
    return {
        "match": f"c = {c:g}" if np.isfinite(c) else f"corr. {float(levels['correlation']):.2g}",
        "context": f"T = {int(levels['T'])}",
        "width of tokens": f"d = {int(levels['d_in'])}",
        "architecture": panels.ARCHITECTURES.get(read_own(runs).get("architecture", ""), "transformer"),
    }[column]


def list_settings(column: str, inputs: Mapping[str, xr.Dataset]) -> dict[str, sweeps.Setting]:
    """The settings of a column by role."""
    found = {}
    for role in SWEEPS[column]:
        runs, levels = inputs[role], take_levels(inputs["floors"], role)
        label = name_setting(column, runs, levels)
        found[role] = sweeps.Setting(runs, levels, panels.RUN_COLOURS[role], label)
    return found


def draw(job: Job) -> Figure:
    """Remaining loss and scores of the best head against steps, a column for each sweep.

    Inputs by role: `base`, `gpt2`, `close`, `loose`, `long`, `wide` (runs), `floors`.
    Source: arXiv 2602.07562, figure 5; the sweep of depth is figure 6.
    """
    plotting, inputs = job.sections["plotting"], job.inputs
    with look(plotting):
        figure = panels.open_figure(job.own)
        grid = figure.subplots(4, len(SWEEPS), sharex=True, sharey="row")
        columns = {column: list_settings(column, inputs) for column in SWEEPS}
        last = max(sweeps.last_step(settings) for settings in columns.values())
        for number, settings in enumerate(columns.values()):
            sweeps.draw_remainder(grid[0, number], settings)
            for row, name in enumerate(SCORES, start=1):
                sweeps.draw_score(grid[row, number], settings, name, control=name == "IH_Repeat")
            letter_panel(grid[0, number], "abcd"[number], left=-2.6 if number == 0 else -1.2)
            grid[0, number].legend(
                loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, borderpad=0.1, handlelength=1.2
            )
            panels.frame_steps(grid[-1, number], last, narrow=True)
        grid[0, 0].set_ylabel("remaining\nloss")
        for row, name in enumerate(SCORES, start=1):
            grid[row, 0].set_ylabel(NAMES[name])
        figure.align_ylabels(grid[:, 0])
        base = columns["match"]["base"]
        counts = sorted({inputs[role].sizes["seed"] for role in panels.RUN_COLOURS})
        note = (
            f"Black in all columns: {panels.describe_task(base.levels)}, {panels.describe_runs(base.runs)}. "
            f"Other settings differ in what their column says; {describe_counts(counts)} each, their mean "
            "thick. Remaining loss: test MSE above the Bayes floor of its task, 1 at the uniform average; "
            "dots: emergence steps. Scores: best head; dotted: IH-Repeat without repetition. Depth: figure 6."
        )
        return panels.finish(figure, job, note)


def describe_counts(counts: list[int]) -> str:
    """`2 seeds`, or `1 to 4 seeds`."""
    word = "or" if counts[-1] - counts[0] == 1 else "to"
    ends = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} {word} {counts[-1]}"
    return f"{ends}\xa0seed" + ("s" if counts[-1] > 1 else "")
