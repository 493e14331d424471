"""Figure 12: the weights h of the residual settle, and their deviations over tau are summable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from onset.papers.gmc.figures import maxmargin_panels as shared
from onset.papers.gmc.maxmargin.selection import choose_seed
from onset.plotting.style import look
from onset.store.attributes import parameters_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from onset.job.context import Job

HANDLES = (
    Line2D([], [], color=shared.FIRST, linewidth=1.5, label=r"largest over $i,t$"),
    Line2D([], [], color=shared.SECOND, linewidth=1.5, label=r"mean over $i,t$"),
    Line2D([], [], label="largest, from the limit by theory", **shared.LIMIT_LINE),
)


def draw_deviation(axes: Axes, descent: xr.Dataset, seed: int) -> None:
    """Largest and mean deviation of h from its late mean, and the largest from the limit by theory."""
    axes.set_yscale("log")
    shared.draw_seeds(axes, descent.h_deviation_max, seed, shared.FIRST, "largest")
    shared.draw_seeds(axes, descent.h_deviation_mean, seed, shared.SECOND, "mean")
    x = descent.iteration.values
    axes.plot(x, descent.limit_deviation_max.sel(seed=seed), label="limit", **shared.LIMIT_LINE)
    shared.frame_iterations(axes, x[-1])
    axes.set_ylim(bottom=0.3 * float(descent.h_deviation_mean.sel(iteration=slice(x[-1] // 2)).min()))
    shared.frame_values(axes)
    axes.set_ylabel(r"relative deviation of $h$")


def draw_sums(axes: Axes, descent: xr.Dataset, seed: int) -> None:
    """Partial sums of the three deviations over tau."""
    shared.draw_seeds(axes, descent.h_deviation_sum, seed, shared.FIRST, "largest")
    shared.draw_seeds(axes, descent.h_deviation_mean_sum, seed, shared.SECOND, "mean")
    x = descent.iteration.values
    axes.plot(x, descent.limit_deviation_sum.sel(seed=seed), label="limit", **shared.LIMIT_LINE)
    shared.frame_iterations(axes, x[-1])
    axes.set_ylim(0, None)
    axes.set_ylabel(r"partial sums, deviation$/\tau$")


def draw(job: Job) -> Figure:
    """Deviations of h from its limit (left) and their partial sums over tau (right).

    Inputs by role: `descent`, `theory`.  The deviation from the limit that the data predict is our addition.
    Source: arXiv 2602.07562, figure 12 (assumption A7).
    """
    descent = job.inputs["descent"]
    seed = choose_seed(job.inputs["theory"], job.own.seed)
    tail = parameters_of(descent).get("own", {}).get("tail")
    with look(job.sections["plotting"]):
        figure, (left, right) = shared.open_panels(job.own, 2)
        draw_deviation(left, descent, seed)
        draw_sums(right, descent, seed)
        left.legend(handles=HANDLES, loc="lower left")
        share = "last iterations" if tail is None else f"last {100 * tail:g} % of iterations"
        note = (
            f"Deviation: |h − h∞| over the sum of |h∞|. h∞: mean over the {share}, where the deviation "
            "vanishes by construction; dotted: from the limit that the data alone predict (our addition)."
        )
        return shared.finish(figure, job, note)
