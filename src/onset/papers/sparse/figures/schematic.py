"""What figure 1 shows of the task and of the layer that solves it, drawn from a chain's groups and scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from onset.papers.sparse.figures.overlay import blend_heads
from onset.papers.sparse.figures.panels import GROUPS
from onset.plotting.style import MARKER, tint

LARGEST = 0.95  # side of the square of the most important matrix, in widths of a token
MIDDLE = 1.75  # height of the matrices' centres
SHOWN = 10  # positions of an ideal attention map


def ideal_attention(groups: Sequence[Sequence[int]], positions: int) -> np.ndarray:
    """Attention (head, position, position) in which head k reads the lags of I(k) alike, where they exist."""
    attention = np.zeros((len(groups), positions, positions))
    q = np.arange(positions)
    for head, group in enumerate(groups):
        for lag in group:
            rows = q[q >= lag - 1]
            attention[head, rows, rows - lag + 1] = 1 / len(group)
    return attention


def side_of(k: int, m: float) -> float:
    """Side of the square of A_k, k from 0: its area falls by m from one group to the next."""
    return LARGEST * float(m) ** (-k / 2)


def write(axes: Axes, x: float, y: float, text: str, size: float, **given: Any) -> None:
    """A text around a point, in data coordinates."""
    axes.text(x, y, text, fontsize=size, **({"ha": "center", "va": "center"} | given))


def connect(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, bend: float = 0.0
) -> None:
    """An arrow in data coordinates."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            connectionstyle=f"arc3,rad={bend}",
            arrowstyle="-|>",
            mutation_scale=5,
            linewidth=0.8,
            color=colour,
            shrinkA=0,
            shrinkB=0,
            zorder=2,
        )
    )


def draw_square(
    axes: Axes, x: float, y: float, side: float, colour: str, text: str = "", size: float = 7.0
) -> None:
    """A filled square around a point, its name inside."""
    face = tint(colour, 0.35)
    corner = (x - side / 2, y - side / 2)
    axes.add_patch(Rectangle(corner, side, side, facecolor=face, edgecolor=colour, linewidth=0.9, zorder=3))
    if text:
        write(axes, x, y, text, size, zorder=4)


def draw_sum(
    axes: Axes, x: float, sources: Sequence[tuple[float, float, str]], size: float, text: str
) -> None:
    """The sum at x, its softmax, and the next token below; sources are (x, half a side, colour)."""
    radius = 0.3
    for start, half, colour in sources:
        far = x - start
        # Arrows leave at the top so that none crosses a matrix to its right.
        above = (start, MIDDLE + half)
        connect(axes, above, (x - 0.7 * radius, MIDDLE + 0.75 * radius), colour, bend=-0.18 - 0.2 / far)
    axes.add_patch(Circle((x, MIDDLE), radius, facecolor="white", edgecolor=MARKER, linewidth=0.8, zorder=3))
    write(axes, x, MIDDLE - 0.02, "+", 1.2 * size, zorder=4)
    connect(axes, (x, MIDDLE - radius), (x, 0.45), MARKER)
    write(axes, x + 0.15, 0.5 * (MIDDLE - radius + 0.45), "softmax", size, ha="left")
    draw_square(axes, x, 0.0, 0.84, MARKER, text, size)


def draw_chain(axes: Axes, groups: Sequence[Sequence[int]], m: float, size: float) -> None:
    """Tokens by lag, coloured by group, the matrix of each group by its importance, and the next token."""
    window = max(lag for group in groups for lag in group)
    step = max(1, window // 7)  # a long window's tokens are narrower, so that all fit
    place = {lag: -lag / step for lag in range(1, window + 1)}
    end = 1.9
    for lag, x in place.items():
        owner = next((k for k, group in enumerate(groups) if lag in group), None)
        colour = MARKER if owner is None else GROUPS[owner % len(GROUPS)]
        name = f"$x_{{t-{lag}}}$" if step == 1 else ""
        draw_square(axes, x, 0.0, 0.84 / step, colour, name, size)
    sources = []
    for k, group in enumerate(groups):
        colour, side = GROUPS[k % len(GROUPS)], side_of(k, m)
        places = [place[lag] for lag in group]
        x, half = float(np.mean(places)), 0.42 / step
        axes.plot([min(places) - half, max(places) + half], [0.55, 0.55], color=colour, linewidth=1.2)
        connect(axes, (x, 0.55), (x, MIDDLE - side / 2), colour)
        draw_square(axes, x, MIDDLE, side, colour, f"$A^\\star_{k + 1}$", size)
        write(axes, x, -0.75, f"$I({k + 1})$", size, color=colour)
        sources.append((x, side / 2, colour))
    draw_sum(axes, end, sources, size, "$x_t$")
    frame(axes, place[window] - 0.6, end + 1.5)


def draw_layer(axes: Axes, groups: Sequence[Sequence[int]], m: float, size: float) -> None:
    """Ideal attention map of each head, the value matrix of each, and the next token."""
    attention = ideal_attention(groups, max(SHOWN, max(lag for group in groups for lag in group) + 2))
    width, gap = 1.55, 0.45
    sources = []
    for head in range(len(groups)):
        alone = np.where(np.arange(len(groups))[:, None, None] == head, attention, 0.0)
        x, side = head * (width + gap), side_of(head, m)
        picture = blend_heads(alone, float(attention[head].max()))
        box = (x - width / 2, x + width / 2, -0.95, -0.95 + width)
        axes.imshow(picture, extent=box, origin="upper", interpolation="nearest", zorder=2)
        axes.add_patch(
            Rectangle((box[0], box[2]), width, width, fill=False, linewidth=0.6, edgecolor=MARKER, zorder=3)
        )
        colour = GROUPS[head % len(GROUPS)]
        write(axes, x, box[2] - 0.08, f"head {head + 1}", size, va="top")
        connect(axes, (x, box[3]), (x, MIDDLE - side / 2), colour)
        draw_square(axes, x, MIDDLE, side, colour, f"$V_{head + 1}$", size)
        sources.append((x, side / 2, colour))
    end = (len(groups) - 1) * (width + gap) + width / 2 + 1.1
    draw_sum(axes, end, sources, size, "$x_t$")
    frame(axes, -width / 2 - 0.2, end + 1.5)


def frame(axes: Axes, left: float, right: float) -> None:
    """Limits with equal scales, no axes."""
    axes.set(xlim=(left, right), ylim=(-1.35, 3.1))
    axes.set_aspect("equal")
    axes.set_axis_off()
