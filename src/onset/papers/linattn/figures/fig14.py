"""Figure 14: in-context and in-weight learning compete for the same drop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import take_task
from onset.plotting.panels import letter_panel
from onset.plotting.style import BLUE, VERMILLION, look, tint
from onset.store.attributes import parameters_of

if TYPE_CHECKING:
    from onset.job.context import Job

TASK = "white_task"
LOSSES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "loss": ("training", "#444444", {"linestyle": (0, (2.4, 1.2)), "zorder": 3.2}),
    "loss_in_context": ("in-context test", BLUE, {"zorder": 3.0}),
    "loss_in_weight": ("in-weight test", VERMILLION, {"zorder": 2.9}),
}
"""Variables of the result, in order of the legend: name, colour, line."""


def known_ends(theory: xr.Dataset, share: float) -> dict[str, float]:
    """Losses after the drop that are known in closed form: at shares 0 and 1 alone."""
    if share == 0:
        return {
            "loss_in_weight": float(theory.in_weight_floor),
            "loss_in_context": float(theory.in_weight_in_context_loss),
        }
    if share == 1:
        return {
            "loss_in_context": float(theory.plateau_loss[-1]),
            "loss_in_weight": float(theory.in_context_in_weight_loss),
        }
    return {}


def draw_share(axes: Axes, runs: xr.Dataset, share: float, seed: int, theory: xr.Dataset) -> None:
    """The three losses at one share: the chosen seed in full colour, the others faint; known ends dashed."""
    chosen = runs.sel(share=share)
    steps = runs.epoch.values
    for name, (label, colour, line) in LOSSES.items():
        for other in runs.seed.values:
            if other != seed:
                axes.plot(
                    steps, chosen[name].sel(seed=other).values, color=tint(colour, 0.4), lw=0.6, label="_seed"
                )
        axes.plot(steps, chosen[name].sel(seed=seed).values, color=colour, linewidth=1.4, label=label, **line)
    for name, level in known_ends(theory, share).items():
        axes.axhline(level, label="_known", **(panels.PLATEAU | {"color": LOSSES[name][1]}))
    axes.set_title(f"p = {share:g}", loc="left", pad=4)
    highest = max(float(chosen[name].max()) for name in LOSSES)
    axes.set(xlim=(0, int(steps[-1])), ylim=(0, 1.08 * highest))


def draw(job: Job) -> Figure:
    """Training and both test losses against steps, a panel for each share p of in-context sequences.

    Inputs by role: `runs` (fig14_runs), `theory`.  Raises KeyError where the seed was not trained.
    Source: arXiv 2501.16265, figure 14.
    """
    plotting, runs = job.sections["plotting"], job.inputs["runs"]
    theory = take_task(job.inputs["theory"], TASK)
    shares = [float(share) for share in runs.share.values]
    columns = min(3, len(shares))
    rows = -(-len(shares) // columns)
    own = parameters_of(runs).get("own", {})
    with look(plotting):
        figure = panels.open_figure(job.own)
        grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
        for axes in grid.flat[len(shares) :]:
            axes.set_visible(False)
        for number, (axes, share) in enumerate(zip(grid.flat, shares, strict=False)):
            draw_share(axes, runs, share, job.own.seed, theory)
            letter_panel(axes, "abcdefghijklmnop"[number % 16], left=-2.6)
            if number + columns >= len(shares):
                axes.set_xlabel("gradient steps")
                axes.tick_params(labelbottom=True)
        for axes in grid[:, 0]:
            axes.set_ylabel("loss")
        handles = [panels.handle(label, colour, **line) for label, colour, line in LOSSES.values()]
        figure.legend(
            handles=[*handles, panels.plateau_handle("theory, p = 0 and 1")], loc="upper center", ncol=4
        )
        settings = ""
        if own:
            start = panels.format_number(own["init_std"])
            rate = f"learning\xa0rate\xa0{own['learning_rate']:g}"
            settings = f"ATTN_M, H\xa0=\xa0{own['heads']}, {rate}, initial\xa0sd\xa0{start}. "
        note = (
            "p: share of training sequences with a w of their own, the others have one fixed w, "
            "|w|²\xa0=\xa0D; at p\xa0=\xa00 context labels are pure noise, at other p they are w·x. "
            f"Full colour: seed {job.own.seed}; faint: the others. {panels.describe_task(theory)}; {settings}"
            "Task and settings as published; data and start are our own draws."
        )
        panels.finish(figure, plotting, f"{note} {panels.describe_scale(job.scale)}".strip(), legend_rows=1)
    return figure
