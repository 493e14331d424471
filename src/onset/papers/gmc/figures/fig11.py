"""Figure 11: the squared gradient is summable and falls as the square of the iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from onset.papers.gmc.figures import maxmargin_panels as shared
from onset.papers.gmc.maxmargin.selection import choose_seed
from onset.plotting.style import look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from onset.job.context import Job


def draw_sum(axes: Axes, descent: xr.Dataset, seed: int) -> None:
    """The cumulative sum over all iterations so far, as a share of its last value."""
    share = descent.gradient2_sum / descent.gradient2_sum.isel(iteration=-1)
    shared.draw_seeds(axes, share, seed, shared.FIRST, "sum")
    shared.frame_iterations(axes, descent.iteration.values[-1])
    axes.set_ylim(0, 1.05)
    axes.set_ylabel(r"cumulative $|\nabla L|^2$, share")


def draw_increments(axes: Axes, descent: xr.Dataset, seed: int) -> None:
    """What each doubling of the iteration adds to the sum, with a line of slope -1."""
    increments = descent.gradient2_increment
    axes.set_yscale("log")
    shared.draw_seeds(axes, increments, seed, shared.FIRST, "increment")
    x = increments.doubling.values
    shared.draw_power(axes, x, increments.sel(seed=seed).values, -1, "law")
    shared.frame_iterations(axes, 1.3 * x[-1])
    shared.frame_values(axes)
    axes.set_ylabel(r"$|\nabla L|^2$ per doubling of $\tau$")
    axes.legend(loc="lower left", handles=[shared.law_handle(r"theory, $\propto\tau^{-1}$")])


def draw_gradient(axes: Axes, descent: xr.Dataset, seed: int) -> None:
    """The squared gradient, with a line of slope -2."""
    axes.set_yscale("log")
    shared.draw_seeds(axes, descent.gradient2, seed, shared.FIRST, "gradient")
    x = descent.iteration.values
    shared.draw_power(axes, x, descent.gradient2.sel(seed=seed).values, -2, "law")
    shared.frame_iterations(axes, x[-1])
    shared.frame_values(axes)
    axes.set_ylabel(r"$|\nabla L(\tau)|^2$, token units$^8$")
    axes.legend(loc="lower left", handles=[shared.law_handle(r"theory, $\propto\tau^{-2}$")])


def draw(job: Job) -> Figure:
    """Cumulative squared gradient, its increments in the tail, and the squared gradient itself.

    Inputs by role: `descent`, `theory`.   Source: arXiv 2602.07562, figure 11 (assumption A6).
    """
    descent = job.inputs["descent"]
    seed = choose_seed(job.inputs["theory"], job.own.seed)
    with look(job.sections["plotting"]):
        figure, (left, middle, right) = shared.open_panels(job.own, 3)
        draw_sum(left, descent, seed)
        draw_increments(middle, descent, seed)
        draw_gradient(right, descent, seed)
        total = float(descent.gradient2_sum.sel(seed=seed).isel(iteration=-1))
        note = (
            f"Sums take in every iteration from 0 on; the thick curve's total is {total:.0f} token units⁸. "
            "b: sum over the doubling that ends at τ, same units."
        )
        return shared.finish(figure, job, note)
