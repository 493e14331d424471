"""Figure 13: repeated eigenvalues, one panel for each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.figures.rank_runs import order_ranks
from onset.papers.linattn.selection import take_run, take_theory
from onset.plotting.panels import letter_panel
from onset.plotting.style import look

if TYPE_CHECKING:
    from onset.job.context import Job


def draw(job: Job) -> Figure:
    """Loss of every seed against steps with the plateaus of Eq. 19, a panel for each run.

    Inputs by role: `runs` (fig13_runs), `theory`.   Source: arXiv 2501.16265, figure 13.
    """
    plotting, runs = job.sections["plotting"], job.inputs["runs"]
    labels = order_ranks(runs)
    with look(plotting):
        figure = panels.open_figure(job.own)
        row = figure.subplots(1, len(labels), sharey=True, squeeze=False)[0]
        for number, (axes, label) in enumerate(zip(row, labels, strict=True)):
            run = take_run(runs, label)
            expected, rank = take_theory(job.inputs["theory"], run), int(run.rank_of)
            colour = panels.RANKS.get(rank, panels.MODELS["separate"])
            panels.draw_losses(
                axes, run.loss, colour, f"R = {rank}", average="none", color=colour, linewidth=0.8
            )
            axes.set_ylim(0, 1.06 * float(expected.plateau_loss[0]))
            panels.mark_plateaus(axes, expected.plateau_loss.values, panels.small(plotting))
            panels.frame_steps(axes, [run.loss])
            panels.label_decades(axes, narrow=True)
            axes.set_title(f"R = {rank}", loc="left", pad=4)
            axes.set_xlabel("gradient steps")
            letter_panel(axes, "abcdefghijkl"[number], left=-1.4)
        row[0].set_ylabel(panels.LOSS_LABEL)
        note = (
            f"Every seed; dashed: plateaus of Eq. 19, m at the right. {panels.describe_run(run, 'rank')}; "
            f"{panels.describe_task(expected)}. Eigenvalues as in the paper; other settings as in figure 3."
        )
        panels.finish(figure, plotting, f"{note} {panels.describe_scale(job.scale)}".strip())
    return figure
