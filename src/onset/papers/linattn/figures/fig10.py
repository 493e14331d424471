"""Figure 10: the times just after each drop, and the map and heads of one run at those times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.figures.matrices import draw_matrix
from onset.papers.linattn.maps import LEARNED, drop_epochs, regression_map
from onset.papers.linattn.selection import measure_contributions, take_run, take_theory
from onset.plotting.panels import letter_panel
from onset.plotting.style import HEADS, MARKER, look

if TYPE_CHECKING:
    from onset.job.context import Job


def mark_times(axes: Axes, times: np.ndarray, names: bool, size: float) -> None:
    """A vertical line at each t_d, named above; NaN are left out."""
    for d, time in enumerate(times):
        if not np.isfinite(time):
            continue
        axes.axvline(time, color=MARKER, linewidth=0.7, linestyle=(0, (1.5, 1.5)), zorder=1, label="_t")
        if names:
            place: dict[str, Any] = {
                "xycoords": ("data", "axes fraction"),
                "xytext": (0, 2),
                "textcoords": "offset points",
            }
            axes.annotate(f"$t_{{{d + 1}}}$", (time, 1.0), ha="center", va="bottom", fontsize=size, **place)


def draw_loss(axes: Axes, run: xr.Dataset, expected: xr.Dataset, times: np.ndarray, size: float) -> None:
    """Loss of the run with the plateaus of Eq. 19 and the times t_d (panel a)."""
    panels.draw_losses(axes, run.loss, panels.MODELS["separate"], "loss", average="none", color="#1A1A1A")
    axes.set_ylim(0, 1.06 * float(expected.plateau_loss[0]))
    panels.mark_plateaus(axes, expected.plateau_loss.values, size)
    mark_times(axes, times, True, size)
    axes.set_ylabel(panels.LOSS_LABEL)


def draw_values(
    axes: Axes, run: xr.Dataset, flow: xr.Dataset, expected: xr.Dataset, times: np.ndarray
) -> None:
    """|v_i| of every head, with the scalar equation laid over where a direction is learned (panel b).

    Each curve of Eq. 21 is shifted in time so that it is at v*/2 when A_dd of the run is at an eighth of its
    optimum, which is the same for a head that carries one direction.
    """
    for head in run["head"].values:
        colour = HEADS[head % len(HEADS)]
        axes.plot(run.epoch.values, abs(run.v.sel(head=head)).values, color=colour, label=f"head {head + 1}")
    per_epoch = float(run.time_per_epoch)
    for d in range(run.sizes["direction"]):
        if np.isfinite(times[d]):
            diagonal, level = run.A_diagonal.isel(direction=d).values, float(expected.late_map[d]) / 8
            k = int(np.argmax(diagonal >= level))
            half = np.interp(level, diagonal[k - 1 : k + 1], run.epoch.values[k - 1 : k + 1]) if k else 0.0
            at = half + flow.ode_time.isel(direction=d).values / per_epoch
            shown = at > 0
            value = flow.ode_value.isel(direction=d).values
            axes.plot(at[shown], value[shown], label="Eq. 21" if d == 0 else "_ode", **panels.THEORY_LINE)
    mark_times(axes, times, False, 0)
    axes.set(ylabel="$|v_i|$", xlabel="gradient steps", ylim=(0, 1.15 * float(expected.value.max())))


def draw_maps(
    part: SubFigure, run: xr.Dataset, expected: xr.Dataset, times: np.ndarray, size: float
) -> np.ndarray:
    """At each t_d: A of the run, the map of Eq. 22, and what each head adds to A's diagonal (panel c)."""
    D, H = run.sizes["direction"], run.sizes["head"]
    grid = np.asarray(part.subplots(3, D, squeeze=False, height_ratios=[D, D, H]))
    largest = float(expected.late_map.max())
    contributions = measure_contributions(run.expand_dims("seed")).isel(seed=0)
    for d in range(D):
        column = grid[:, d]
        if not np.isfinite(times[d]):
            for axes in column:
                axes.set_axis_off()
            column[0].annotate(
                "not learned", (0.5, 0.5), xycoords="axes fraction", ha="center", fontsize=size
            )
            continue
        late = np.flatnonzero(run.snapshot_epoch.values >= times[d])
        k = int(late[0]) if len(late) else -1
        title = f"$t_{{{d + 1}}}$: step {int(run.snapshot_epoch[k])}"
        draw_matrix(column[0], run.A.isel(snapshot=k).values, title, largest)
        draw_matrix(column[1], regression_map(expected, d + 1).values, "", largest)
        draw_matrix(column[2], contributions.isel(snapshot=k).values, "", largest)
        column[2].set_xlabel("direction", labelpad=2, fontsize=size)
    for axes, label in zip(grid[:, 0], ("A, run", "A, Eq. 22", "each head"), strict=True):
        axes.set_ylabel(label, labelpad=3)
    return grid


def draw(job: Job) -> Figure:
    """Loss with t_1..t_D marked, values of the heads under Eq. 21, and maps and heads at those times.

    Inputs by role: `runs` (fig3_runs), `theory`, `flow` (fig3_flow); the first run of `runs` is drawn.
    Raises KeyError where the seed was not trained.  Source: arXiv 2501.16265, figure 10.
    """
    plotting, runs = job.sections["plotting"], job.inputs["runs"]
    run = take_run(runs, str(runs.run.values[0]))
    expected = take_theory(job.inputs["theory"], run)
    times = drop_epochs(run, expected).sel(seed=job.own.seed).values
    one, size = run.sel(seed=job.own.seed), panels.small(plotting)
    with look(plotting):
        figure = panels.open_figure(job.own)
        parts = figure.subfigures(1, 2, width_ratios=[1.0, 1.15])
        left, right = np.asarray(parts)
        upper, lower = left.subplots(2, 1, sharex=True)
        draw_loss(upper, one, expected, times, size)
        draw_values(lower, one, job.inputs["flow"], expected, times)
        panels.frame_steps(upper, [one.loss])
        lower.legend(loc="upper left", handlelength=1.2, borderaxespad=0.1)
        maps = draw_maps(right, one, expected, times, size)
        upper.set_title("loss", loc="left", pad=4)
        lower.set_title("values of the heads", loc="left", pad=4)
        for axes, letter, left in ((upper, "a", -2.6), (lower, "b", -2.6), (maps[0, 0], "c", -1.6)):
            letter_panel(axes, letter, left)
        note = (
            f"One run, seed\xa0{job.own.seed}: {panels.describe_run(run, 'seeds')}; "
            f"{panels.describe_task(expected)}. "
            f"t_d, just after the d-th drop: A_dd comes to {LEARNED:g} of its optimum, where 99 % "
            "of its part of the loss has gone (the rule is ours). Eq. 21 is laid over at v*/2. Heads: v_i "
            "k_id q_id, "
            "what head i (row) adds to A_dd (column). Settings as in figure 3; which seed is our choice."
        )
        panels.finish(figure, plotting, f"{note} {panels.describe_scale(job.scale)}".strip())
    return figure
