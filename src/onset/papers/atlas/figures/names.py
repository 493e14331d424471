"""What the figures of the atlas share: titles of the papers, rows of a paper, medians."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.plotting.style import BLUE, GREEN, PURPLE, VERMILLION

if TYPE_CHECKING:
    import xarray as xr

PAPERS = {
    "gmc": "Match and copy: head scores",
    "sparse": "Sparse attention: mass on groups",
    "linattn": "Linear attention: directions",
    "copyhead": "Copy head: order parameters over P",
}
COLOURS = {"gmc": BLUE, "sparse": GREEN, "linattn": PURPLE, "copyhead": VERMILLION}


def rows_of(found: xr.Dataset, paper: str) -> list[int]:
    """Positions of a paper's order parameters."""
    return [int(i) for i in np.flatnonzero(found["paper"].values == paper)]


def label_rows(found: xr.Dataset) -> list[str]:
    """Paper, order parameter and its axis, for each row."""
    return [
        f"{paper}: {order} ({along})"
        for paper, order, along in zip(
            found["paper"].values, found["order"].values, found["along"].values, strict=True
        )
    ]


def median_over_seeds(values: np.ndarray) -> np.ndarray:
    """Median over the first axis of what is finite; NaN where nothing is."""
    finite = np.isfinite(values)
    filled = np.where(finite.any(0), values, 0.0)
    return np.where(finite.any(0), np.nanmedian(filled, axis=0), np.nan)
