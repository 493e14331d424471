"""Figure 12: the same as figure 11 from another start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onset.papers.linattn.figures.rank_runs import draw_ranks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from onset.job.context import Job


def draw(job: Job) -> Figure:
    """Loss and |v_i| of ranks 2 to 4 of another seed, with the exact flow where it was integrated.

    Inputs by role: `runs` (fig11_runs), `theory`, `flow` (fig11_flow).   Source: arXiv 2501.16265, figure 12.
    """
    return draw_ranks(
        job,
        "Settings as in figure 3. What the paper changes between figures 11 and 12 is not known to us; "
        "that it is the start is our choice.",
    )
