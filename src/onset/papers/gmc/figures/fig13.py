"""Figure 13: attention outside the support vanishes against that inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from onset.papers.gmc.figures import maxmargin_panels as shared
from onset.papers.gmc.maxmargin.selection import choose_seed, list_with_tail
from onset.plotting.style import look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from onset.job.context import Job


def draw_proxy(axes: Axes, proxy: xr.DataArray, seed: int) -> None:
    """The tail proxy of the seeds that have rivals outside the support."""
    axes.set_yscale("log")
    shared.draw_seeds(axes, proxy, seed, shared.FIRST, "proxy")
    shared.frame_iterations(axes, proxy.iteration.values[-1])
    shared.frame_values(axes)
    axes.set_ylabel(r"tail proxy $g(\tau)$")


def draw_sum(axes: Axes, sums: xr.DataArray, seed: int) -> None:
    """Partial sums of the tail proxy over tau."""
    shared.draw_seeds(axes, sums, seed, shared.FIRST, "sum")
    shared.frame_iterations(axes, sums.iteration.values[-1])
    axes.set_ylim(0, None)
    axes.set_ylabel(r"partial sums of $g(\tau)\,/\,\tau$")


def draw_misaligned(axes: Axes, share: xr.DataArray, seed: int) -> None:
    """The share of misaligned off-diagonal mass, below its bound ½."""
    shared.draw_seeds(axes, share, seed, shared.SECOND, "share")
    shared.frame_iterations(axes, share.iteration.values[-1])
    axes.axhline(0.5, **shared.LIMIT_LINE)
    axes.annotate(
        "bound of A8",
        (1, 0.5),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color="#555555",
    )
    axes.set_ylim(-0.02, max(0.6, 1.05 * float(np.nanmax(share.values, initial=0.0))))
    axes.set_ylabel("misaligned share")


def draw(job: Job) -> Figure:
    """Tail proxy g (a), partial sums of g/tau (b) and the share of misaligned off-diagonal mass (c).

    Inputs by role: `descent`, `theory`.  Panel c is a number in the paper's text.
    Source: arXiv 2602.07562, figure 13 (assumptions A8 and A9).
    """
    descent, theory = job.inputs["descent"], job.inputs["theory"]
    seed = choose_seed(theory, job.own.seed)
    told = list_with_tail(theory)
    with look(job.sections["plotting"]):
        figure, (left, middle, right) = shared.open_panels(job.own, 3)
        draw_proxy(left, descent.tail_proxy.sel(seed=told), seed)
        draw_sum(middle, descent.tail_proxy_sum.sel(seed=told), seed)
        draw_misaligned(right, descent.misaligned_share, seed)
        rest = theory.sizes["seed"] - len(told)
        among = "" if seed in told else f" (seed {seed} among them)"
        note = (
            f"a, b: on {rest} of {theory.sizes['seed']} seeds{among} every rival is a support vector and "
            "g\xa0=\xa00. "
            "c (a number in the paper's text): pairs of support vectors whose H and U have unlike signs."
        )
        return shared.finish(figure, job, note)
