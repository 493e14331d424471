"""Figure 10: gradient descent turns W_KQ into the max-margin direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from onset.papers.gmc.figures import maxmargin_panels as shared
from onset.papers.gmc.maxmargin.selection import choose_seed
from onset.plotting.style import look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from onset.job.context import Job


def draw_loss(axes: Axes, descent: xr.Dataset, seed: int) -> None:
    """The training loss, with a line of slope -1."""
    axes.set_yscale("log")
    shared.draw_seeds(axes, descent.loss, seed, shared.FIRST, "loss")
    x = descent.iteration.values
    shared.draw_power(axes, x, descent.loss.sel(seed=seed).values, -1, r"$\propto 1/\tau$")
    shared.frame_iterations(axes, x[-1])
    shared.frame_values(axes)
    axes.set_ylabel(r"training MSE, token units$^2$")
    axes.legend(loc="lower left", handles=[shared.law_handle(r"theory, $\propto 1/\tau$")])


def draw_cosine(axes: Axes, descent: xr.Dataset, seed: int) -> None:
    """The cosine with the hard-margin solution."""
    shared.draw_seeds(axes, descent.cosine, seed, shared.FIRST, "cosine")
    shared.frame_iterations(axes, descent.iteration.values[-1])
    axes.axhline(1.0, **shared.LIMIT_LINE)
    axes.set_ylim(min(0.8, float(descent.cosine.min()) - 0.02), 1.01)
    axes.set_ylabel(r"cos($W_{KQ}$, $\hat W$)")


def draw_norm(axes: Axes, descent: xr.Dataset, theory: xr.Dataset, seed: int) -> None:
    """The norm in units of the hard-margin solution's, with a line of slope ½ in log tau."""
    relative = descent.norm / theory.norm
    shared.draw_seeds(axes, relative, seed, shared.FIRST, "norm")
    x = descent.iteration.values
    part = x[x >= x[-1] ** 0.45]
    end = float(relative.sel(seed=seed).isel(iteration=-1))
    axes.plot(part, end + 0.5 * np.log(part / x[-1]), label="law", **shared.THEORY_LINE)
    shared.frame_iterations(axes, x[-1])
    axes.set_ylabel(r"$|W_{KQ}|\,/\,|\hat W|$")
    handle = shared.law_handle(r"theory, $\frac{1}{2}\,\log\tau$ + const.")
    axes.legend(loc="upper left", handles=[handle])


def draw(job: Job) -> Figure:
    """Training loss, cosine with the hard-margin solution and growth of the norm, against iterations.

    Inputs by role: `descent`, `theory` (maxmargin_descent, maxmargin_theory).  The norm's panel is our
    addition.   Source: arXiv 2602.07562, figure 10.
    """
    descent, theory = job.inputs["descent"], job.inputs["theory"]
    seed = choose_seed(theory, job.own.seed)
    with look(job.sections["plotting"]):
        figure, (left, middle, right) = shared.open_panels(job.own, 3)
        draw_loss(left, descent, seed)
        draw_cosine(middle, descent, seed)
        draw_norm(right, descent, theory, seed)
        return shared.finish(
            figure, job, "Constants of the theory's lines: fitted to the last point. c: our addition."
        )
