"""Figure 8 (ours): phase diagram of softmax attention, hysteresis, and how the transition depends on L."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from onset.papers.copyhead.brackets import Bracket, find_ways, list_brackets
from onset.papers.copyhead.figures import panels, parts
from onset.papers.copyhead.selection import base_settings
from onset.plotting.panels import letter_panel
from onset.plotting.style import COPYING, POOLING, THEORY, TRANSITION, WINDOW, axis_label, look

if TYPE_CHECKING:
    from onset.job.context import Job

SYMBOLS = {"v": "logit variance, $v$", "g_OV": "read-out variance, $g_{OV}$"}
WAYS = {"up": ("^", "upwards from the prior"), "down": ("v", "downwards from copying")}
HEADER = ("L", "onset", "bare $P_c$", "$P_c$", "window", "jump", "barrier", "sampled")


def draw_plane(
    axes: Axes, phase: xr.Dataset, axis: str, brackets: list[Bracket], base: dict[str, float]
) -> None:
    """First-order point and spinodals against one variance, with the brackets sampled along it."""
    x = phase[axis].values
    dressed, bare = (phase.sel(theory=form) for form in ("dressed", "bare"))
    lower, upper = (dressed[f"{name}_{axis}"].values for name in ("P_lower", "P_upper"))
    axes.fill_between(x, lower, upper, color=WINDOW, linewidth=0, label="window")
    axes.plot(x, dressed[f"P_c_{axis}"].values, label="dressed", **THEORY["dressed"])
    axes.plot(x, bare[f"P_c_{axis}"].values, label="bare", **THEORY["bare"])
    for bracket in brackets:
        if bracket.axis == axis:
            draw_bracket(axes, bracket.settings[axis], bracket)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([float(value) for value in x]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    if axis in base:
        axes.axvline(base[axis], label="base", **{**TRANSITION, "linestyle": (0, (1.0, 2.0))})
    axes.set(xlabel=SYMBOLS[axis], ylim=(0, None))
    room = axes.get_xlim()
    axes.text(room[0] * 1.04, 0.06 * axes.get_ylim()[1], "uniform", color=POOLING, ha="left", va="bottom")
    axes.text(room[1] / 1.04, 0.94 * axes.get_ylim()[1], "copying", color=COPYING, ha="right", va="top")


def draw_bracket(axes: Axes, x: float, bracket: Bracket) -> None:
    """From where chains lose copying to where chains gain it."""
    axes.errorbar(
        [x],
        [bracket.middle],
        yerr=[[bracket.middle - bracket.lost], [bracket.gained - bracket.middle]],
        color=COPYING,
        marker="_",
        markersize=3,
        elinewidth=1.4,
        capsize=3,
        capthick=1.2,
        zorder=4,
        label="bracket",
    )


def draw_loops(axes: Axes, hysteresis: xr.Dataset) -> None:
    """Copying of chains carried up and down in P, softmax (a loop) and linear attention (none)."""
    for kind, colour in (("softmax", COPYING), ("linear", POOLING)):
        found = find_ways(hysteresis, kind)
        if found is None:
            continue
        mean, error = found
        for way, (marker, _) in WAYS.items():
            look: dict[str, Any] = {
                "color": colour,
                "marker": marker,
                "markersize": 4,
                "linewidth": 0.8,
                "elinewidth": 0.7,
            }
            face = colour if way == "up" else "white"
            axes.errorbar(
                mean.P.values,
                mean.sel(direction=way).values,
                yerr=error.sel(direction=way).fillna(0).values,
                markerfacecolor=face,
                markeredgewidth=0.8,
                label=f"{kind}, {way}",
                **look,
            )
    axes.set(xlabel=axis_label(hysteresis.P.attrs, "P"), ylabel="copying, $a_G$ or $c_G$", ylim=(-0.05, 1.0))


def list_rows(phase: xr.Dataset, brackets: list[Bracket]) -> list[tuple[str, ...]]:
    """Rows of the finite-size table: one for each L of the phase diagram, in the order of HEADER."""
    dressed, bare = (phase.sel(theory=form) for form in ("dressed", "bare"))
    sampled = {int(b.settings["L"]): b for b in brackets if b.axis in ("L", "base")}
    rows: list[tuple[str, ...]] = []
    for L in phase.L.values:
        at = {
            name: float(dressed[f"{name}_L"].sel(L=L))
            for name in ("onset", "P_c", "P_lower", "P_upper", "jump", "barrier")
        }
        bracket = sampled.get(int(L))
        window = f"{_say(at['P_lower'])}–{_say(at['P_upper'])}" if np.isfinite(at["P_lower"]) else "–"
        rows.append(
            (
                f"{int(L)}",
                _say(at["onset"]),
                _say(float(bare.P_c_L.sel(L=L))),
                _say(at["P_c"]),
                window,
                _say(at["jump"], 2),
                _say(at["barrier"]),
                f"{bracket.lost:g}–{bracket.gained:g}" if bracket else "–",
            )
        )
    return rows


def _say(value: float, digits: int = 1) -> str:
    return f"{value:.{digits}f}" if np.isfinite(value) else "–"


def draw_table(axes: Axes, rows: list[tuple[str, ...]], size: float) -> None:
    """Rows of text under a header, right-aligned, in an empty axes."""
    axes.set_axis_off()
    ends = (0.05, 0.18, 0.31, 0.42, 0.62, 0.72, 0.85, 1.0)
    step = min(0.13, 0.8 / (len(rows) + 1))
    for number, row in enumerate([HEADER, *rows]):
        y = 0.93 - step * number - (0.03 if number else 0.0)
        for x, text in zip(ends, row, strict=True):
            axes.text(x, y, text, ha="right", va="center", fontsize=size, transform=axes.transAxes)
    rule = 0.93 - 0.6 * step
    axes.plot(
        [0.0, 1.0], [rule, rule], color="#1A1A1A", linewidth=0.7, transform=axes.transAxes, clip_on=False
    )


def describe_loops(hysteresis: xr.Dataset) -> str:
    """Areas of the loops, and how many chains were trapped."""
    texts = [
        f"{hysteresis.attention.sel(run=run).values}: {float(hysteresis.loop_area.sel(run=run)):.2f}"
        for run in hysteresis.run.values
    ]
    trapped = int(hysteresis.trapped.any(("direction", "P")).sum())
    return f"Area of the loop: {', '.join(texts)}; {trapped} chains met the state with c₁c_G < 0."


def draw(job: Job) -> Figure:
    """Transition and spinodals against both variances, hysteresis loops, and the finite-size table.

    Inputs by role: `phase` (phase_theory), `sampled` (phase_sgld), `hysteresis`, `theory` (softmax_theory).
    Source: reconstruction throughout; the paper has no such figure.
    """
    plotting, inputs = job.sections["plotting"], job.inputs
    phase, hysteresis = inputs["phase"], inputs["hysteresis"]
    base = base_settings(inputs["theory"])
    brackets = list_brackets(inputs["sampled"], base)
    with look(plotting):
        figure = parts.open_plain(job.own)
        grid = figure.subplots(2, 2, width_ratios=[1.0, 1.2])
        for axes, axis in zip(grid[0], SYMBOLS, strict=True):
            draw_plane(axes, phase, axis, brackets, base)
        grid[0, 0].set_ylabel("P, training sequences")
        draw_loops(grid[1, 0], hysteresis)
        draw_table(grid[1, 1], list_rows(phase, brackets), max(6.5, 0.85 * plotting.font_size))
        for axes, letter in zip(grid.flat, "abcd", strict=True):
            letter_panel(axes, letter, left=-3.4 if letter in "ac" else -1.6)
        handles = [
            parts.line_handle("$P_c$, dressed", **THEORY["dressed"]),
            parts.line_handle("$P_c$, bare", **THEORY["bare"]),
            Patch(color=WINDOW, linewidth=0, label="both phases, dressed"),
            parts.line_handle("sampled bracket", color=COPYING, linewidth=1.4, marker="|", markersize=5),
            *(
                panels.point_handle(
                    f"{label}",
                    {
                        "linestyle": "none",
                        "marker": marker,
                        "markersize": 4,
                        "markerfacecolor": "#1A1A1A" if way == "up" else "white",
                        "markeredgecolor": "#1A1A1A",
                    },
                )
                for way, (marker, label) in WAYS.items()
            ),
            parts.line_handle("softmax, $a_G$", color=COPYING, linewidth=0.8),
            parts.line_handle("linear, $c_G$", color=POOLING, linewidth=0.8),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=4)
        sampled = inputs["sampled"]
        note = (
            f"{parts.name_sizes(inputs['theory'])}a, b: one variance varies, dotted at its value elsewhere; "
            "brackets: from where chains from copying lose it to where chains from the prior gain it "
            f"({sampled.sizes['chain']} chains of {int(sampled.steps.max())} steps). c: "
            f"{hysteresis.sizes['chain']} chains each way, {int(hysteresis.dwell.max())} steps of size "
            f"{float(hysteresis.step_size.max()):g} at each P, bars: standard errors. "
            f"{describe_loops(hysteresis)} d: dressed theory but where said, P in sequences; onset of linear "
            "attention; barrier at P_c in nats; sampled: bracket of P_c. Figure and sizes are ours."
        )
        panels.finish(figure, plotting, note, legend_rows=3)
    return figure
