"""Figure 3: separate rank-one key and query learn one direction at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import (
    fix_signs,
    learned_directions,
    list_runs,
    match_heads,
    plateau_snapshots,
    superpose_scalar,
    take_run,
    take_theory,
    take_winners,
)
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
WEIGHTS = "RdBu_r"
"""Colour map of signed weights: white is none."""
LOSS = "#333333"
"""Losses: colours are for heads here."""
SILENT = "#C4C4C4"
"""Heads that learn nothing."""


def draw_loss(axes: Axes, run: xr.Dataset, theory: xr.Dataset, seed: int, size: float) -> None:
    """Every seed's loss over the plateaus of Eq. 19 (panel a); the other panels' seed is drawn thick."""
    others = run.loss.drop_sel(seed=seed)
    panels.draw_losses(axes, others, LOSS, "ATTN_S", average="none")
    chosen = run.loss.sel(seed=seed)
    axes.plot(run.epoch, chosen, color=LOSS, linewidth=1.4, label=f"seed {seed}", zorder=3)
    panels.frame_steps(axes, [run.loss])
    axes.set_ylim(0, 1.05 * float(theory.plateau_loss[0]))
    panels.mark_plateaus(axes, theory.plateau_loss.values, size, [f"$m={m}$" for m in theory.plateau.values])
    axes.set(xlabel="training step", ylabel=panels.LOSS_LABEL)
    panels.add_time_axis(axes, float(run.time_per_epoch))
    letter_panel(axes, "a", left=-3.2, up=2.2)


def draw_values(axes: Axes, job: Job, run: xr.Dataset, theory: xr.Dataset, seed: int, size: float) -> None:
    """|v_i(t)| of one seed with the scalar equation laid over where a head reaches half of v* (panel b)."""
    flow, colours = job.inputs["flow"], panels.direction_colours(run.sizes["direction"])
    one = run.sel(seed=[seed])
    winners, heads = take_winners(one, theory).isel(seed=0), match_heads(one).isel(seed=0)
    won = {
        int(heads[d])
        for d in range(run.sizes["direction"])
        if bool(winners.isel(direction=d).notnull().any())
    }
    for head in set(run["head"].values) - won:
        axes.plot(run.epoch, abs(one.v.isel(seed=0).sel(head=head)), color=SILENT, linewidth=1.0, zorder=2)
    times = run.epoch.values * float(run.time_per_epoch)
    for d, colour in enumerate(colours):
        axes.plot(run.epoch, winners.isel(direction=d), color=colour, linewidth=1.4, zorder=3)
        time, value = (flow[name].isel(direction=d).values for name in ("ode_time", "ode_value"))
        shift = superpose_scalar(times, winners.isel(direction=d).values, time, value)
        if np.isfinite(shift):
            axes.plot((shift + time) / float(run.time_per_epoch), value, **panels.THEORY_LINE)
    panels.frame_steps(axes, [run.loss])
    axes.set_ylim(0, 1.12 * float(theory.value.max()))
    named = [f"v{str(d + 1).translate(SUBSCRIPTS)}*" for d in range(run.sizes["direction"])]
    panels.mark_plateaus(axes, theory.value.values, size, named, apart=0.045)
    axes.set(xlabel="training step", ylabel="value weights, $|v_i|$")
    panels.add_time_axis(axes, float(run.time_per_epoch))
    letter_panel(axes, "b", left=-3.2, up=2.2)


def draw_weights(part: SubFigure, run: xr.Dataset, theory: xr.Dataset, seed: int, size: float) -> None:
    """Value, key and query of every head amid each plateau (panel c)."""
    D, H = run.sizes["direction"], run.sizes["head"]
    snapshots = plateau_snapshots(run, theory, seed)
    signed = fix_signs(run.sel(seed=seed)).isel(rank=0)
    order = list_heads(run.sel(seed=[seed]), theory)
    tables = []
    for at in snapshots:
        now = signed.isel(snapshot=at, head=order)
        gap = np.full((H, 1), np.nan)
        columns = [now.v.values[:, None], gap, now["keys"].transpose("head", "direction").values]
        tables.append(
            np.concatenate([*columns, gap, now.queries.transpose("head", "direction").values, gap], 1)
        )
    largest = float(np.nanmax(np.abs(tables)))
    grid = part.subplots(1, len(tables), squeeze=False)[0]
    for m, (axes, table, at) in enumerate(zip(grid, tables, snapshots, strict=True)):
        image = axes.imshow(table, cmap=WEIGHTS, norm=Normalize(-largest, largest), aspect="auto")
        axes.set_title(f"$m={m}$, step {int(run.snapshot_epoch[at])}", pad=3, fontsize=size)
        axes.set_xticks([0, 2 + (D - 1) / 2, 3 + D + (D - 1) / 2], ["$v$", "key", "query"])
        axes.set_yticks(range(H), [f"{head + 1}" for head in order] if m == 0 else [""] * H)
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
    grid[0].set_ylabel("head")
    bar = part.colorbar(image, ax=list(grid), label="weight", fraction=0.03, pad=0.01, aspect=14)
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(width=0.5, length=2)
    letter_panel(grid[0], "c", left=-3.2)


def list_heads(one: xr.Dataset, theory: xr.Dataset) -> list[int]:
    """Heads of one seed in the order of what they learned, those that learned nothing last."""
    learned = learned_directions(one, theory).isel(seed=0).values
    winners = [int(h) for h, yes in zip(match_heads(one).isel(seed=0).values, learned, strict=True) if yes]
    return list(dict.fromkeys([*winners, *range(one.sizes["head"])]))


def draw(job: Job) -> Figure:
    """Losses over Eq. 19, value weights over Eq. 21, and all weights on each plateau, of one rank-one run.

    Inputs by role: `runs` (fig3_runs), `population`, `theory`, `flow` (fig3_flow), `sets`.
    Raises KeyError where `seed` was not trained.   Source: arXiv 2501.16265, figure 3, Eq. 19 and 21.
    """
    plotting, runs = job.sections["plotting"], job.inputs["runs"]
    size, seed = panels.small(plotting), job.own.seed
    run = take_run(runs, list_runs(runs, model="separate", rank_of=1)[0])
    theory = take_theory(job.inputs["theory"], run)
    with look(plotting):
        figure = panels.open_figure(job.own)
        top, bottom = np.asarray(figure.subfigures(2, 1, height_ratios=[1.75, 1.0], hspace=0.02))
        left, right = top.subplots(1, 2)
        draw_loss(left, run, theory, seed, size)
        draw_values(right, job, run, theory, seed, size)
        draw_weights(bottom, run, theory, seed, size)
        eigenvalues = theory.eigenvalue.values
        colours = panels.direction_colours(len(eigenvalues))
        handles = [
            panels.handle(f"seed {seed}", LOSS),
            panels.handle("other seeds", LOSS, linewidth=0.6, alpha=0.5),
            panels.plateau_handle("Eq. 19; $v^*$"),
            panels.handle("Eq. 21", **panels.THEORY_LINE),
            panels.handle("silent head", SILENT),
            *(
                panels.handle(f"head of $\\lambda_{d + 1}={value:.2g}$", colour)
                for d, (value, colour) in enumerate(zip(eigenvalues, colours, strict=True))
            ),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=5)
        note = (
            f"{panels.describe_task(theory)}. {panels.describe_run(run)}. b, c: seed {seed} (our choice; "
            "heads share directions that rise together); Eq. 21 is laid over each head where it is at half "
            "of v* (how the paper starts its curves is not known). c: amid each plateau, one column per "
            "direction, largest λ first; signs such that v and the largest entry of a key are positive. "
            "The initial sd converts the published program's first convention; under later ones the drops "
            f"come later. {panels.describe_scale(job.scale)}"
        )
        panels.finish(figure, plotting, note, legend_rows=2)
    return figure
