"""Figure 4: small starts are slow, equal heads learn one pattern, equal groups leave two stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.measures.group_mass import acquisition_steps
from onset.papers.sparse.figures import captions, panels
from onset.papers.sparse.selection import list_runs, measure_excess, order_runs, take_mass, take_run
from onset.plotting.panels import letter_panel
from onset.plotting.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, look

if TYPE_CHECKING:
    from onset.job.context import Job

MORE = {
    "scale": "; by the scale u of the start (V = 0, but for Xavier, which the paper labels 1)",
    "importance": "; by m",
    "full_variants": "; each leaves one part out (ours)",
    "minimal_variants": " (ours)",
}
"""What the footnote adds to the setting of a panel's first run, by role."""
LEFT_OUT = {"scale": ("start",), "minimal_variants": ("heads",)}
VARIANTS = {
    "default": ("unchanged", "#1A1A1A"),
    "no_norm": ("no norm", VERMILLION),
    "no_residual": ("no residual", BLUE),
    "no_feed_forward": ("no MLP", GREEN),
    "merged": ("merged $K^\\top Q$", PURPLE),
    "heads5": ("5 heads", ORANGE),
    "no_decay": ("no weight decay", SKY),
}
"""Names and colours of the variants of section 2.4 and appendix F.3."""


def draw_excess(axes: Axes, runs: xr.Dataset, seed: int, names: Mapping[str, tuple[str, str]]) -> None:
    """Excess loss of runs, each named and coloured, with a ring where a group was acquired."""
    curves = {}
    for label, (name, colour) in names.items():
        run = take_run(runs, label)
        excess = curves[label] = measure_excess(run)
        panels.draw_seeds(axes, excess, seed, colour, name)
        steps = acquisition_steps(take_mass(run)).sel(seed=seed).values
        steps = steps[np.isfinite(steps)]
        height = np.interp(steps, excess["step"].values, excess.sel(seed=seed).values)
        axes.plot(
            steps,
            height,
            "o",
            markersize=3.2,
            markerfacecolor="white",
            markeredgecolor=colour,
            markeredgewidth=0.9,
            zorder=3.5,
            label="_acquired",
        )
    longest = max(names, key=lambda label: int(runs.sel(run=label).steps))
    panels.frame_log(axes, curves.values())
    panels.frame_steps(axes, take_run(runs, longest))
    axes.set_ylabel(panels.EXCESS_LABEL)
    panels.legend_above(axes, [panels.handle(*names[label]) for label in names])


def name_scales(runs: xr.Dataset) -> dict[str, tuple[str, str]]:
    """Runs by the scale of their start, Xavier first, u = 0 last."""
    labels = order_runs(runs, "init_scale")[::-1]
    names = {}
    for label, colour in zip(labels, panels.ordered_colours(len(labels)), strict=True):
        scale = float(runs.init_scale.sel(run=label))
        name = "Xavier" if np.isnan(scale) else captions.format_scale(scale)
        names[label] = (name, colour)
    return names


def name_importances(runs: xr.Dataset) -> dict[str, tuple[str, str]]:
    """Runs by the ratio of importance m, smallest first."""
    labels = order_runs(runs, "m")
    colours = panels.ordered_colours(len(labels))
    return {
        label: (f"m = {float(runs.m.sel(run=label)):g}", colour)
        for label, colour in zip(labels, colours, strict=True)
    }


def name_variants(runs: xr.Dataset) -> dict[str, tuple[str, str]]:
    """Runs that leave out a part of the model."""
    return {label: VARIANTS.get(label, (label, panels.LOSS)) for label in list_runs(runs)}


def draw(job: Job) -> Figure:
    """Excess loss against steps: scales of the start (a), importance m (b), variants of the models (c, d).

    Inputs by role: `scale` (scale_runs), `importance` (m_runs), `full_variants`, `minimal_variants`.
    Panels c and d are our addition.   Source: arXiv 2602.19143, figure 4, section 2.4 and appendix F.3.
    """
    plotting, own, inputs = job.sections["plotting"], job.own, job.inputs
    parts = (
        ("scale", name_scales),
        ("importance", name_importances),
        ("full_variants", name_variants),
        ("minimal_variants", name_variants),
    )
    with look(plotting):
        figure = panels.open_figure(own)
        texts = []
        for axes, letter, (role, name) in zip(figure.subplots(2, 2).flat, "abcd", parts, strict=True):
            names = name(inputs[role])
            draw_excess(axes, inputs[role], own.seed, names)
            letter_panel(axes, letter, left=-3.0)
            example = take_run(inputs[role], next(iter(names)))
            texts.append(f"{letter}: {captions.describe_run(example, *LEFT_OUT.get(role, ()))}{MORE[role]}.")
        chains = {
            role: captions.describe_chain(take_run(inputs[role], list_runs(inputs[role])[0])) for role in MORE
        }
        note = (
            f"{' '.join(texts)} {chains['scale']} (a, d; b but for m); c: "
            f"{chains['full_variants'].removeprefix('Chain: ')}. Rings: a head gives half of its attention "
            f"to one more group. {captions.describe_seed(example, own.seed)}"
        )
        return panels.finish(figure, job, note)
