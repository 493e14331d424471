"""Figure 1: the query finds its match, the target is the match's successor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from onset.papers.gmc.bayes import match_posterior
from onset.papers.gmc.figures import panels
from onset.papers.gmc.selection import read_section
from onset.papers.gmc.task import build_task
from onset.plotting.panels import letter_panel
from onset.plotting.style import BLUE, MARKER, VERMILLION, look

if TYPE_CHECKING:
    from onset.job.context import Job

MATCH, COPY = BLUE, VERMILLION
"""What finds the match, and what moves the successor: the colours of IH-MC and PTH, which serve them."""
HALF = 0.28  # half of a strip's width
TOP, FOOT = 1.0, 0.0  # edges of the strips
GAP = 1.4  # from the query to the target
LABELS, NAMES = -0.06, -0.28  # tops of the two rows of text under the strips


def choose_sample(test: xr.Dataset) -> int:
    """The first test sequence whose match has a token before it and two after its successor, or the first."""
    T = test.sizes["position"] - 1
    match = test["match"].values
    inside = np.flatnonzero((match >= 1) & (match <= T - 4))
    return int(inside[0]) if len(inside) else 0


def predict_exactly(test: xr.Dataset) -> np.ndarray:
    """Targets without noise, W_V e_{t0+1}: (sample, output), float64."""
    tokens = test["tokens"].values.astype(np.float64)
    successor = tokens[np.arange(len(tokens)), test["match"].values + 1]
    return successor @ test["value_map"].values.T


def weigh_candidates(test: xr.Dataset, sample: int) -> np.ndarray:
    """Posterior weights (T-1,) of one sequence's candidates."""
    tokens = test["tokens"].values[sample : sample + 1]
    given = read_section(test, "task")
    task = build_task(tokens.shape[1] - 1, test["C"].values, float(given.get("sigma_token", 1.0)))
    return match_posterior(tokens, task)[0]


def draw_strip(axes: Axes, x: float, values: np.ndarray, largest: float) -> None:
    """A vector as a strip of cells around x, first entry on top; colours are symmetric about 0."""
    axes.imshow(
        values[:, None],
        cmap="PuOr",
        vmin=-largest,
        vmax=largest,
        extent=(x - HALF, x + HALF, FOOT, TOP),
        aspect="auto",
        zorder=2,
    )
    axes.add_patch(Rectangle((x - HALF, FOOT), 2 * HALF, TOP - FOOT, fill=False, linewidth=0.6, zorder=3))


def draw_arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, bend: float, **line: Any
) -> None:
    """A bent arrow in data coordinates."""
    style: dict[str, Any] = {"linewidth": 1.2, "mutation_scale": 7, "arrowstyle": "-|>"} | line
    arc = f"arc3,rad={bend}"
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            connectionstyle=arc,
            color=colour,
            shrinkA=0,
            shrinkB=0,
            zorder=4,
            clip_on=False,
            **style,
        )
    )


def draw_sequence(axes: Axes, test: xr.Dataset, sample: int, size: float) -> None:
    """One test sequence with its match, successor and target, and the posterior over matches (panel a)."""
    tokens = test["tokens"].values[sample].astype(np.float64)
    T, match = len(tokens) - 1, int(test["match"][sample])
    target = test["targets"].values[sample].astype(np.float64)
    places = [*range(T), T + 0.4]
    query, end = places[T], places[T] + GAP
    largest = float(np.abs(tokens).max())
    for place, token in zip(places, tokens, strict=True):
        draw_strip(axes, place, token, largest)
    draw_strip(axes, end, target, float(np.abs(target).max()))
    for t, place in enumerate(places[:T]):
        name = {match: "$t_0$", match + 1: "$t_0+1$"}.get(t, "")
        colour = {match: MATCH, match + 1: COPY}.get(t, "black")
        label(axes, place, LABELS, f"$e_{{{t}}}$", size, colour)
        label(axes, place, NAMES, name, size, colour)
    for place, symbol, name in ((query, "$e$", "query"), (end, "$v$", "target")):
        label(axes, place, LABELS, symbol, size, "black")
        label(axes, place, NAMES, name, size, "black")
    above, below = TOP + 0.05, NAMES - 0.2
    far, near = query - places[match], end - places[match + 1]
    draw_arrow(axes, (query, above), (places[match] + 0.08, above), MATCH, 0.9 / far)
    label(
        axes,
        places[match] + 0.55 * far,
        above + 0.5,
        "match: correlated with the query",
        size,
        MATCH,
        "bottom",
    )
    draw_arrow(axes, (places[match] - 0.08, above), (places[match + 1], above), MARKER, -0.7)
    label(axes, places[match] - 0.1, above + 0.24, "next", size, MARKER, "bottom", "right")
    draw_arrow(axes, (places[match + 1], below), (end, below), COPY, 0.9 / near)
    label(axes, places[match + 1] + 0.5 * near, below - 0.5, "copy: $W_V$ and noise", size, COPY)
    axes.set(xlim=(-0.6, end + 0.6), ylim=(below - 0.75, above + 0.75))
    axes.set_axis_off()


def label(
    axes: Axes, x: float, y: float, text: str, size: float, colour: str, va: str = "top", ha: str = "center"
) -> None:
    """A text in data coordinates."""
    axes.text(x, y, text, ha=ha, va=va, fontsize=size, color=colour)


def draw_weights(axes: Axes, weights: np.ndarray, match: int, limits: tuple[float, float]) -> None:
    """Posterior weight of each candidate under its token (panel b)."""
    colours = [MATCH if t == match else MARKER for t in range(len(weights))]
    axes.bar(range(len(weights)), weights, width=2 * HALF, color=colours)
    axes.set(xlim=limits, ylim=(0, 1.05), yticks=[0, 0.5, 1], xticks=range(len(weights)))
    axes.set_yticklabels(["0", "0.5", "1"])
    axes.set_xlabel("candidate $t$", x=(0.5 * len(weights) - limits[0]) / (limits[1] - limits[0]))
    axes.set_ylabel("posterior")
    axes.spines["bottom"].set_bounds(-0.5, len(weights) - 0.5)


def draw_identity(axes: Axes, test: xr.Dataset, noise: float) -> None:
    """Entries of targets against those of the successors' images, all test sequences of a curve (panel c)."""
    chosen = test["curve"].values
    exact = predict_exactly(test)[chosen].ravel()
    found = test["targets"].values[chosen].astype(np.float64).ravel()
    ends = np.array([-1.05, 1.05]) * np.abs(exact).max()
    axes.fill_between(
        ends,
        ends - 2 * noise,
        ends + 2 * noise,
        color="#E4E4E4",
        linewidth=0,
        zorder=1,
        label="$\\pm2\\sigma$",
    )
    axes.plot(ends, ends, color=MARKER, linewidth=0.6, zorder=2, label="_identity")
    axes.plot(
        exact,
        found,
        ".",
        color=COPY,
        markersize=1.6,
        markeredgewidth=0,
        zorder=3,
        label="_entries",
    )
    axes.set(xlim=ends, ylim=ends)
    axes.set_xlabel("entries of $W_V e_{t_0+1}$")
    axes.set_ylabel("entries of the target $v$")
    axes.set_box_aspect(1)
    axes.legend(loc="upper left", borderaxespad=0.1, handlelength=1.2)


def draw(job: Job) -> Figure:
    """A drawn test sequence with its match and its successor, the posterior, and the target's identity.

    Inputs by role: `test` (base_test).   Source: arXiv 2602.07562, figure 1; panels b and c are our addition.
    """
    plotting, test = job.sections["plotting"], job.inputs["test"]
    sample = choose_sample(test)
    match, T = int(test["match"][sample]), test.sizes["position"] - 1
    given = read_section(test, "task")
    noise = float(given.get("sigma_noise", 0.1))
    size = panels.small(plotting)
    with look(plotting):
        figure = panels.open_figure(job.own)
        grid = figure.add_gridspec(2, 2, width_ratios=[2.3, 1.0], height_ratios=[2.4, 1.0])
        sequence, weights = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
        identity = figure.add_subplot(grid[:, 1])
        draw_sequence(sequence, test, sample, size)
        draw_weights(weights, weigh_candidates(test, sample), match, sequence.get_xlim())
        draw_identity(identity, test, noise)
        for axes, letter, left in ((sequence, "a", -3.2), (weights, "b", -3.2), (identity, "c", -3.6)):
            letter_panel(axes, letter, left=left)
        d = test.sizes["feature"]
        c = given.get("c")
        closeness = f", c\xa0=\xa0{c:g}" if c is not None else ""
        note = (
            f"a: test sequence {sample}, {T} tokens of {d} entries{closeness}, colours by value. b: weight "
            "of each candidate given tokens and query; the last token has no successor, so it is none. "
            f"c: all entries of {int(test['curve'].sum())} test sequences; noise of standard "
            f"deviation σ\xa0=\xa0{noise:g}, so that no test MSE below {noise**2:g} can be expected."
        )
        return panels.finish(figure, job, note)
