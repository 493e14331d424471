"""Figure 1: the task, the layer that solves it, stages, and heads that compete, then cooperate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from onset.papers.sparse.figures import captions, maps, panels
from onset.papers.sparse.figures.overlay import draw_scale
from onset.papers.sparse.figures.schematic import draw_chain, draw_layer
from onset.papers.sparse.selection import read_chain, take_run
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job

EXAMPLE: dict[str, Any] = {"groups": [[1, 2], [3, 4], [5, 6]], "m": 1.7}
"""The chain that is drawn where a result does not record its own."""


def draw(job: Job) -> Figure:
    """Schematic of chain (a) and layer (b), KL to f_{A_1:i} (c), and maps at the section's `steps` (d).

    Inputs by role: `runs` (base_runs).   Raises OnsetError where maps of a step were not kept.
    Source: arXiv 2602.19143, figure 1.
    """
    plotting, own = job.sections["plotting"], job.own
    run = take_run(job.inputs["runs"], own.run)
    shown = maps.take_maps(run, own.seed, own.steps)
    chain = EXAMPLE | read_chain(run)
    largest, heads, size = float(shown.max()), shown.sizes["head"], panels.small(plotting)
    with look(plotting):
        figure = panels.open_figure(own)
        top, bottom = np.asarray(figure.subfigures(2, 1, height_ratios=[1.0, 1.15], hspace=0.02))
        task, layer = top.subplots(1, 2, width_ratios=[1.15, 1.0])
        draw_chain(task, chain["groups"], chain["m"], size)
        draw_layer(layer, chain["groups"], chain["m"], size)
        count = len(own.steps)
        parts = bottom.subplots(
            1, count + 2, width_ratios=[1.55] + [1.0] * count + [0.11 * (heads + 1)], squeeze=False
        )[0]
        panels.draw_prefix_panel(parts[0], run, own.seed)
        panels.legend_above(parts[0], panels.list_prefixes(run))
        maps.draw_row(list(parts[1:-1]), shown, largest, maps.list_lags(run))
        draw_scale(parts[-1], heads, largest)
        for axes, letter, left in (
            (task, "a", -1.0),
            (layer, "b", -1.0),
            (parts[0], "c", -2.8),
            (parts[1], "d", -2.2),
        ):
            letter_panel(axes, letter, left=left)
        note = (
            "a: squares A have areas as the norms. b: heads that each read one group, each with the "
            f"group's matrix as value. c, d: {captions.describe_run(run)}. {captions.describe_chain(run)}. "
            f"{captions.describe_seed(run, own.seed)} c: {captions.DIVERGENCE} {captions.STAGES} "
            f"d: {maps.NOTE}"
        )
        return panels.finish(figure, job, note)
