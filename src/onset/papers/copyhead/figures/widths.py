"""Panels of finite widths of queries and keys: theory, SGLD and two kinds of Adam."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from onset.papers.copyhead.figures import panels, parts
from onset.papers.copyhead.phases import TRAPPED_BELOW
from onset.papers.copyhead.selection import final_order, list_runs, select_run
from onset.plotting.style import MARKER, THEORY, axis_label

Inputs = Mapping[str, xr.Dataset]

DECAYS = {"matched": ("o", "Adam on Q, K, matched decay"), "anchored": ("^", "Adam on Q, K, anchored decay")}
PANELS = (
    ("linear", "pooling", "linear_c1", "pooling, $|c_1|$"),
    ("linear", "copy", "linear_cG", "copying, $c_G$"),
    ("softmax", "copy", "softmax_aG", "copying, $a_G$"),
)
"""Attention kind, quantity, name in the theory and label of each panel."""


def width_colours(inputs: Inputs) -> dict[float, str]:
    """A colour for each width."""
    return parts.colour_widths(
        inputs["qk_theory"].d_k.values, inputs["qk_sgld"].d_k.values, inputs["qk_adam"].d_k.values
    )


def adam_look(decay: str, colour: str) -> dict[str, Any]:
    """Keywords of points by Adam: circles for matched decay, triangles for anchored."""
    return {**panels.adam_points(colour), "marker": DECAYS[decay][0], "markersize": 5.0}


def draw_theory_widths(
    axes: Axes, theory: xr.Dataset, name: str, colours: dict[float, str], drawn: set[float]
) -> None:
    """The dressed curve of each width, and the maximum of the posterior of those that Adam trains."""
    for d_k in theory.d_k.values:
        for form in ("dressed", "map") if float(d_k) in drawn else ("dressed",):
            curve = theory[name].sel(theory=form, d_k=d_k)
            branches = (
                [curve.sel(branch=b) for b in curve.branch.values] if "branch" in curve.dims else [curve]
            )
            for branch in branches:
                line = {**THEORY[form], "color": colours[float(d_k)]}
                parts.draw_interrupted(axes, branch.P.values, branch.values, f"{form}, {d_k:g}", **line)


def draw_width_panel(axes: Axes, inputs: Inputs, kind: str, quantity: str, name: str) -> None:
    """One order parameter of one attention kind at every finite width."""
    colours = width_colours(inputs)
    qk, adam = inputs["qk_sgld"], inputs["qk_adam"]
    trained = list_runs(adam, attention_kind=kind) if "attention_kind" in adam.coords else []
    draw_theory_widths(
        axes, inputs["qk_theory"], name, colours, {float(adam.d_k.sel(run=r)) for r in trained}
    )
    for label in list_runs(qk, attention=kind):
        run = select_run(qk, label, "mean")
        d_k = float(run.d_k)
        look = panels.sgld_points(colours.get(d_k, MARKER))
        mean, error = (run[each].sel(quantity=quantity) for each in ("mean", "error"))
        axes.errorbar(
            run.P.values,
            mean.values,
            yerr=2 * error.fillna(0).values,
            label=f"SGLD, {d_k:g}",
            elinewidth=0.7,
            ecolor=look["markeredgecolor"],
            zorder=4,
            **look,
        )
    for label in trained:
        run = select_run(adam, label, "copy")
        final, decay = final_order(run), str(run.decay.values)
        look = adam_look(decay, colours.get(float(run.d_k), MARKER))
        kept = final["copy"] < TRAPPED_BELOW if kind == "linear" else None
        panels.draw_seeds(axes, final[quantity], kept, look, f"Adam, {decay}")
        every = xr.ones_like(final[quantity], dtype=bool)
        panels.draw_members(axes, final[quantity], every, {**look, "markersize": 3.0})


def draw_widths(row: np.ndarray, inputs: Inputs) -> None:
    """|c1|, cG sign(c1) and aG against P at finite d_k, in three panels."""
    for axes, (kind, quantity, name, label) in zip(row, PANELS, strict=True):
        draw_width_panel(axes, inputs, kind, quantity, name)
        axes.set(xlabel=axis_label(inputs["qk_sgld"].P.attrs, "P"), ylim=(-0.04, None))
        axes.set_ylabel(label, labelpad=2)
        axes.set_title(kind, loc="right", pad=3)


def width_handles(inputs: Inputs) -> list[Artist]:
    """Entries of the legend of the lower row: widths by colour, decays by marker, nuclear norm dotted."""
    found: list[Artist] = [
        parts.line_handle(f"d–f: $d_k$ = {d:g}", color=colour, linewidth=2.0)
        for d, colour in width_colours(inputs).items()
    ]
    found += [panels.point_handle(label, adam_look(decay, MARKER)) for decay, (_, label) in DECAYS.items()]
    found.append(parts.line_handle("MAP, nuclear norm", **THEORY["map"]))
    return found
