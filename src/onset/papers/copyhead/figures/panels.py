"""What figures of order parameters against P share: theory lines, points with error bars, layout, footnote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from onset.papers.copyhead.selection import mean_and_sd, name_parameters, parameters_of
from onset.plotting.panels import add_footnote
from onset.plotting.style import MARKER, THEORY, TRANSITION, tint

if TYPE_CHECKING:
    import xarray as xr

    from onset.params.plotting import Plotting

THEORY_LABELS = {
    "bare": "bare theory",
    "map": "MAP theory",
    "dressed": "dressed theory",
    "finite": "dressed, mean at finite L",
    "metastable": "dressed, metastable",
}
P_LABEL = "P, training sequences"


def draw_theory(axes: Axes, curve: xr.DataArray, order: tuple[str, ...] = ("bare", "map", "dressed")) -> None:
    """Draw a curve (theory, P), or (theory, branch, P), in the line style of each theory.

    The lines carry the theory's label once; branches that do not exist (NaN) leave gaps.
    """
    for name in order:
        chosen = curve.sel(theory=name)
        branches = [chosen] if "branch" not in curve.dims else [chosen.sel(branch=b) for b in curve.branch.values]
        for number, branch in enumerate(branches):
            label = THEORY_LABELS[name] if number == 0 else f"_{THEORY_LABELS[name]}"
            axes.plot(branch.P.values, branch.values, label=label, **THEORY[name])


def point_style(colour: str, marker: str, filled: bool) -> dict[str, Any]:
    """Keywords of points: diamonds for SGLD, circles for Adam; open points show what they lie on."""
    return {
        "linestyle": "none",
        "marker": marker,
        "markersize": {"D": 3.4, "o": 5.6}[marker],
        "markerfacecolor": colour if filled else "none",
        "markeredgecolor": colour,
        "markeredgewidth": 0.8,
    }


def draw_chains(
    axes: Axes, means: xr.DataArray, free: xr.DataArray | None, colour: str, label: str, filled: bool = True
) -> None:
    """Diamonds at the mean over chains with bars of one standard deviation between them; means is (chain, P).

    Chains that are not `free` are left out of both and drawn faintly, one by one.
    """
    mean, sd = mean_and_sd(means, free)
    axes.errorbar(
        mean.P.values, mean.values, yerr=sd.fillna(0).values, ecolor=colour, elinewidth=0.7, capsize=1.5, capthick=0.7,
        label=label, zorder=4, **point_style(colour, "D", filled),
    )
    if free is not None:
        draw_left_out(axes, means, free, colour, "D")


def draw_seeds(axes: Axes, final: xr.DataArray, free: xr.DataArray | None, colour: str, label: str) -> None:
    """Open circles at the mean over seeds (seed, P); seeds that are not `free` are left out and drawn faintly."""
    mean, _ = mean_and_sd(final, free)
    axes.plot(mean.P.values, mean.values, label=label, zorder=3.5, **point_style(colour, "o", False))
    if free is not None:
        draw_left_out(axes, final, free, colour, "o")


def draw_left_out(axes: Axes, values: xr.DataArray, free: xr.DataArray, colour: str, marker: str) -> None:
    """Each member that is not free, faintly; nothing where all are."""
    member, at = np.nonzero(~free.transpose(..., "P").values)
    if len(at):
        faint = values.transpose(..., "P")
        style = point_style(tint(colour, 0.4), marker, False) | {"markeredgewidth": 0.6}  # type: ignore[arg-type]
        axes.plot(faint.P.values[at], faint.values[member, at], label="_left out", zorder=2.5, **style)


def mark_transition(axes: Axes, P: float, label: str, height: float) -> None:
    """A vertical line at P with its label beside it, at a height given as a share of the panel."""
    if np.isfinite(P):
        axes.axvline(P, label=f"_{label}", **TRANSITION)
        axes.annotate(
            label, xy=(P, height), xycoords=("data", "axes fraction"), xytext=(-3, 0), textcoords="offset points",
            ha="right", va="center", fontsize="small", color=MARKER,
        )


def sgld_handle(label: str, colour: str, filled: bool = True) -> Line2D:
    """Entry of a legend for diamonds."""
    return Line2D([], [], label=label, **point_style(colour, "D", filled))


def adam_handle(label: str, colour: str) -> Line2D:
    """Entry of a legend for circles."""
    return Line2D([], [], label=label, **point_style(colour, "o", False))


def theory_handles(*more: str) -> list[Line2D]:
    """Entries of a legend for the theory's lines; `more` names lines beyond the three theories."""
    names = ("bare", "map", "dressed", *more)
    return [Line2D([], [], label=THEORY_LABELS[name], **THEORY[name]) for name in names]


def describe_runs(theory: xr.Dataset, sgld: xr.Dataset, adam: xr.Dataset) -> str:
    """One sentence on sizes, priors, chains, steps and seeds, as far as the results carry them."""
    step_size = parameters_of(sgld).get("own", {}).get("step_size")
    sampled = f"SGLD: {sgld.sizes['chain']} chains of {int(sgld.step[-1])} steps"
    sampled += f" of size {step_size:g}" if step_size else ""
    trained = f"Adam: {adam.sizes['seed']} seeds, {int(adam.epoch[-1])} epochs"
    sizes = name_parameters(theory) or f"L\xa0=\xa0{sgld.sizes['query']}"
    return f"{sizes}. {sampled}. {trained}."


STANDING = (
    "The paper's sizes and parameters are not public; these, and the theory with fluctuations, are a reconstruction."
)


def finish(figure: Figure, plotting: Plotting, note: str, legend_rows: float) -> None:
    """Write the footnote and give the panels the room between it and the legend at the top."""
    size = max(6.5, 0.82 * plotting.font_size)
    foot = add_footnote(figure, note, size)
    head = (legend_rows * 1.35 * 0.85 * plotting.font_size + 4) / 72 / figure.get_figheight() if legend_rows else 0.0
    layout = figure.get_layout_engine()
    layout.set(rect=(0.0, foot, 1.0, 1.0 - foot - head), w_pad=0.03, h_pad=0.03, wspace=0.03, hspace=0.07)
