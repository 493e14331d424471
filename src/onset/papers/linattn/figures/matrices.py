"""Small matrices drawn with their numbers."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

WRITTEN = 6
"""Largest matrix whose numbers are written into its cells."""


def draw_matrix(
    axes: Axes, values: np.ndarray, title: str = "", largest: float | None = None, size: float = 6.5
) -> None:
    """A matrix in colours symmetric about 0, its entries written where they are more than 2 % of `largest`.

    `largest` is the end of the colours; that of the matrix where it is not given.  `size` is of the type, in
    points.
    """
    values = np.asarray(values, dtype=np.float64)
    largest = float(np.nanmax(np.abs(values))) if largest is None else largest
    axes.imshow(values, cmap="RdBu_r", vmin=-1.2 * largest, vmax=1.2 * largest, aspect="equal")
    for (row, column), value in np.ndenumerate(values) if max(values.shape) <= WRITTEN else ():
        if abs(value) >= 0.02 * largest:
            text = f"{value:.2f}".replace("0.", ".") if largest < 2 else f"{value:.1f}"
            colour = "white" if abs(value) > 0.7 * largest else "black"
            axes.annotate(text, (column, row), ha="center", va="center", fontsize=size, color=colour)
    axes.set(xticks=[], yticks=[])
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    if title:
        axes.set_title(title, pad=3, fontsize=0.9 * float(axes.title.get_fontsize()))
