"""What figures of order parameters against P share: theory lines, points, layout and footnote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from onset.papers.copyhead.selection import mean_and_sd, name_parameters
from onset.plotting.panels import add_footnote
from onset.plotting.style import THEORY, TRANSITION, tint
from onset.store.attributes import parameters_of

if TYPE_CHECKING:
    import xarray as xr

    from onset.params.copyhead import OrderParameterFigure
    from onset.params.plotting import Plotting

THEORY_LABELS = {
    "bare": "bare theory",
    "map": "MAP theory",
    "dressed": "dressed theory",
    "finite": "dressed, mean at finite L",
    "metastable": "dressed, metastable",
}


def draw_theory(axes: Axes, curve: xr.DataArray) -> None:
    """Draw a curve (theory, P), or (theory, branch, P), in the line style of each theory.

    Branches that do not exist (NaN) leave gaps; all branches of a theory carry its label.
    """
    for name in ("bare", "map", "dressed"):
        chosen = curve.sel(theory=name)
        for branch in (
            [chosen.sel(branch=b) for b in curve.branch.values] if "branch" in curve.dims else [chosen]
        ):
            draw_line(axes, branch, name)


def draw_line(axes: Axes, curve: xr.DataArray, name: str) -> None:
    """Draw a curve (P,) in the line style, and under the label, of a named line of the theory."""
    axes.plot(curve.P.values, curve.values, label=THEORY_LABELS[name], **THEORY[name])


def sgld_points(colour: str, filled: bool = True) -> dict[str, Any]:
    """Keywords of points by SGLD: diamonds."""
    return _points(colour, "D", 3.4, filled)


def adam_points(colour: str) -> dict[str, Any]:
    """Keywords of points by Adam: circles, open and larger, to show the diamonds that they lie on."""
    return _points(colour, "o", 5.6, False)


def _points(colour: str, marker: str, size: float, filled: bool) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": marker,
        "markersize": size,
        "markerfacecolor": colour if filled else "none",
        "markeredgecolor": colour,
        "markeredgewidth": 0.8,
    }


def draw_chains(
    axes: Axes,
    means: xr.DataArray,
    left_out: xr.DataArray | None,
    look: dict[str, Any],
    label: str,
    whole_range: bool = False,
) -> None:
    """Diamonds at the mean over chains with bars of one standard deviation between them; means is (chain, P).

    With `whole_range` bars reach from the least to the largest chain: a deviation says little where chains
    sit in two phases.  Chains that are `left_out` (chain, P) enter neither and are drawn faintly, one by one.
    """
    mean, sd = mean_and_sd(means, None if left_out is None else ~left_out)
    bar = sd.fillna(0).values
    if whole_range:
        bar = np.stack([(mean - means.min("chain")).values, (means.max("chain") - mean).values]).clip(0)
    bars = {"ecolor": look["markeredgecolor"], "elinewidth": 0.7, "capsize": 1.5, "capthick": 0.7}
    axes.errorbar(mean.P.values, mean.values, yerr=bar, label=label, zorder=4, **bars, **look)
    if left_out is not None:
        draw_members(axes, means, left_out, look)


def draw_seeds(
    axes: Axes, final: xr.DataArray, left_out: xr.DataArray | None, look: dict[str, Any], label: str
) -> None:
    """Circles at the mean over seeds (seed, P); seeds that are `left_out` do not enter, and are faint."""
    mean, _ = mean_and_sd(final, None if left_out is None else ~left_out)
    axes.plot(mean.P.values, mean.values, label=label, zorder=3.5, **look)
    if left_out is not None:
        draw_members(axes, final, left_out, look)


def draw_members(axes: Axes, values: xr.DataArray, chosen: xr.DataArray, look: dict[str, Any]) -> None:
    """Each chosen member of (chain or seed, P), faintly; nothing where none is chosen."""
    member, at = np.nonzero(chosen.transpose(..., "P").values)
    if len(at):
        values = values.transpose(..., "P")
        pale = tint(look["markeredgecolor"], 0.45)
        face = "none" if look["markerfacecolor"] == "none" else pale
        faint = {**look, "markerfacecolor": face, "markeredgecolor": pale, "markeredgewidth": 0.6}
        axes.plot(values.P.values[at], values.values[member, at], label="_members", zorder=2.5, **faint)


def mark_transition(axes: Axes, P: float, label: str) -> None:
    """A vertical line at P; none where P is not a number, because there is no transition."""
    if np.isfinite(P):
        axes.axvline(P, label=label, **TRANSITION)


def point_handle(label: str, look: dict[str, Any]) -> Line2D:
    """Entry of a legend for points."""
    return Line2D([], [], label=label, **look)


def theory_handles(*names: str) -> list[Line2D]:
    """Entries of a legend for named lines of the theory."""
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
    "The paper's own parameters are not public; these, and the theory with fluctuations, are a "
    "reconstruction."
)


def open_figure(own: OrderParameterFigure) -> tuple[Figure, SubFigure, SubFigure]:
    """An empty figure with its left part for curves and its right part for attention maps."""
    figure = Figure(figsize=(own.width, own.height), layout="constrained")
    left, right = np.asarray(figure.subfigures(1, 2, width_ratios=[1.25, 1.0], wspace=0.04))
    return figure, left, right


def finish(figure: Figure, plotting: Plotting, note: str, legend_rows: int) -> None:
    """Write the footnote and give the panels the room between it and the legend at the top."""
    foot = add_footnote(figure, note, max(6.5, 0.82 * plotting.font_size))
    head = (legend_rows * 1.35 * 0.85 * plotting.font_size + 8) / 72 / figure.get_figheight()
    layout = figure.get_layout_engine()
    assert isinstance(layout, ConstrainedLayoutEngine)
    layout.set(rect=(0.0, foot, 1.0, 1.0 - foot - head), w_pad=0.03, h_pad=0.03, wspace=0.03, hspace=0.07)
