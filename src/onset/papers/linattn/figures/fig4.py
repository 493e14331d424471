"""Figure 4: the rank of key and query sets how many directions a drop learns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr
from matplotlib.figure import Figure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import list_runs, take_run, take_theory
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job


def first_of_each_rank(runs: xr.Dataset) -> list[xr.Dataset]:
    """The first run of every rank, lowest rank first; later runs of a rank serve the claims."""
    found: dict[int, str] = {}
    for label in list_runs(runs, model="separate"):
        found.setdefault(int(runs.rank_of.sel(run=label)), label)
    return [take_run(runs, found[rank]) for rank in sorted(found)]


def draw(job: Job) -> Figure:
    """Loss of ATTN_S for each rank, over the plateaus of Eq. 19, those at multiples of the rank marked.

    Inputs by role: `runs` (fig4_runs), `theory`.   Source: arXiv 2501.16265, figure 4.
    """
    plotting, ranks = job.sections["plotting"], first_of_each_rank(job.inputs["runs"])
    theory = take_theory(job.inputs["theory"], ranks[0])
    size = panels.small(plotting)
    with look(plotting):
        figure = panels.open_figure(job.own)
        grid = figure.subplots(1, len(ranks), sharey=True, squeeze=False)[0]
        for axes, run, letter in zip(grid, ranks, "abcdefgh", strict=False):
            R, levels = int(run.rank_of), theory.plateau_loss.values
            colour = panels.RANKS.get(R, panels.MODELS["separate"])
            panels.draw_losses(axes, run.loss, colour, f"rank {R}", average="typical")
            axes.set_ylim(0, 1.06 * levels[0])
            steps = [m for m in range(len(levels)) if m % R == 0]
            for m in set(range(len(levels))) - set(steps):
                axes.axhline(levels[m], label="_between", color="#E2E2E2", linewidth=0.6, zorder=1)
            panels.mark_plateaus(axes, levels[steps], size, [f"{m}" for m in steps], apart=0.065)
            panels.frame_steps(axes, [run.loss])
            axes.set(xlabel="training step", title=f"rank {R}")
            letter_panel(axes, letter, left=-1.2 if axes is not grid[0] else -3.0)
        grid[0].set_ylabel(panels.LOSS_LABEL)
        handles = [
            panels.handle("typical seed", "#444444"),
            panels.handle("other seeds", "#444444", linewidth=0.6, alpha=0.5),
            panels.plateau_handle("Eq. 19, $m$ a multiple of $R$"),
            panels.handle("Eq. 19, other $m$", "#D0D0D0", linewidth=0.8),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=4)
        note = (
            f"{panels.describe_task(theory)}. Every rank: {panels.describe_run(ranks[0], 'rank')}. Long "
            "plateaus lie where R divides m. Numbers at the right: m. Typical: in the middle by mean loss "
            "on the log axis. At paper scale the initial sd converts the published program's first "
            f"convention. {panels.describe_scale(job.scale)}"
        )
        panels.finish(figure, plotting, note, legend_rows=1)
    return figure
