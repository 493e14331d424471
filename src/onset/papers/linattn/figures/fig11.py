"""Figure 11: loss and values of the heads of one run of each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onset.papers.linattn.figures.rank_runs import draw_ranks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from onset.job.context import Job


def draw(job: Job) -> Figure:
    """Loss and |v_i| of ranks 2 to 4 with the exact flow.

    Inputs by role: `runs` (fig11_runs), `theory`, `flow` (fig11_flow).   Source: arXiv 2501.16265, figure 11.
    """
    return draw_ranks(job, "Settings as in figure 3; which seed is our choice.")
