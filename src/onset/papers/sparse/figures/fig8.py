"""Figure 8: attention and value matrices of each head of the minimal model, as in the regression flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.measures.group_mass import find_owned_group, is_one_to_one
from onset.papers.sparse.figures import captions, panels
from onset.papers.sparse.selection import stage_ends, take_mass, take_run
from onset.plotting.panels import letter_panel
from onset.plotting.style import HEADS, MARKER, look

if TYPE_CHECKING:
    from onset.job.context import Job

LEAST_MASS = 2e-3


def order_heads(run: xr.Dataset, seed: int) -> list[int]:
    """Heads of one seed by the group that they end on; as stored where groups are shared or left."""
    mass = take_mass(run).sel(seed=seed)
    owned = find_owned_group(mass).values
    return [int(head) for head in (np.argsort(owned) if bool(is_one_to_one(mass)) else range(len(owned)))]


def draw_head(axes: Axes, curves: xr.DataArray, heads: dict[int, int], seed: int) -> None:
    """What one head has of every group (seed, step, head, group), and the matching heads of other seeds."""
    for number in range(curves.sizes["group"]):
        colour = panels.GROUPS[number % len(panels.GROUPS)]
        matched = xr.concat(
            [curves.sel(seed=other).isel(head=head, group=number) for other, head in heads.items()],
            "seed",
            coords="minimal",
            compat="override",
        )
        panels.draw_seeds(axes, matched, seed, colour, f"{number + 1}")


def frame(axes: Axes, run: xr.Dataset, seed: int) -> None:
    """A logarithmic axis of steps from the first record after the start, with the ends of stages."""
    steps = run["step"].values
    panels.mark_stages(axes, stage_ends(run, seed))
    axes.set_xscale("log")
    axes.set_xlim(float(steps[steps > 0][0]), float(steps[-1]))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")


def draw(job: Job) -> Figure:
    """Attention mass on each group (top) and alignment of the value matrix with each A_k (bottom), by head.

    Input by role: `runs` (dynamics_runs).  Heads stand in the order of the groups that they end on; thin
    lines are the heads of other seeds that end on the same.   Raises KeyError without run or seed.
    Source: arXiv 2602.19143, figure 8 and appendix D.2.
    """
    plotting, own = job.sections["plotting"], job.own
    run = take_run(job.inputs["runs"], own.run)
    ordered = {int(seed): order_heads(run, int(seed)) for seed in run.seed.values}
    mass, alignment = take_mass(run), run.value_alignment.astype(np.float64)
    owned = find_owned_group(mass).sel(seed=own.seed)
    with look(plotting):
        figure = panels.open_figure(own)
        grid = np.asarray(figure.subplots(2, mass.sizes["head"], sharex="col", sharey="row"))
        for column, head in enumerate(ordered[own.seed]):
            top, bottom = grid[:, column]
            heads = {seed: places[column] for seed, places in ordered.items()}
            draw_head(top, mass.clip(min=LEAST_MASS), heads, own.seed)
            draw_head(bottom, alignment, heads, own.seed)
            for axes in (top, bottom):
                frame(axes, run, own.seed)
            bottom.axhline(0, color=MARKER, linewidth=0.6, zorder=1, label="_zero")
            group = int(owned.isel(head=head)) + 1
            top.set_title(f"head {head + 1}, ends on I({group})", color=HEADS[head % len(HEADS)], pad=3)
            bottom.set_xlabel(panels.STEP_LABEL)
            letter_panel(top, "abcdefgh"[column], left=-1.5)
            letter_panel(bottom, "abcdefgh"[column + grid.shape[1]], left=-1.5)
        grid[0, 0].set_yscale("log")
        grid[0, 0].set_ylim(LEAST_MASS, 1.3)
        grid[0, 0].set_ylabel("attention on $I(k)$")
        grid[1, 0].set_ylabel("$\\langle V_h, A^\\star_k\\rangle\\,/\\,||A^\\star_k||^2$")
        handles = [
            *(
                panels.handle(f"$I({k + 1})$, $A^\\star_{k + 1}$", panels.GROUPS[k % len(panels.GROUPS)])
                for k in range(mass.sizes["group"])
            ),
            panels.stage_handle(),
        ]
        figure.legend(handles=handles, loc="upper center", ncols=len(handles), borderaxespad=0.3)
        note = (
            f"{captions.describe_chain(run)}; {captions.describe_run(run)}. "
            f"{captions.describe_seed(run, own.seed)} Masses below {LEAST_MASS:g} are drawn there. "
            f"{captions.STAGES}"
        )
        return panels.finish(figure, job, note, legend_rows=1)
