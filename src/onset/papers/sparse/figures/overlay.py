"""Attention of several heads in one map: each head is an ink of its own colour, and inks multiply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from onset.plotting.style import HEADS

BAND: dict[str, Any] = {"color": "#9A9A9A", "linewidth": 0.5, "zorder": 3, "solid_capstyle": "butt"}
"""Edges of the groups of lags."""


def weigh_ink(weight: np.ndarray, largest: float) -> np.ndarray:
    """Opacity of a head's ink: its weight as a share of the largest, between 0 and 1."""
    return np.clip(weight / largest, 0.0, 1.0)


def blend_heads(weight: np.ndarray, largest: float, colours: Sequence[str] = HEADS) -> np.ndarray:
    """Colours (..., 3) of weights (head, ...): white paper under the inks of all heads, in any order.

    Where one head alone attends, its own colour is seen; where all attend alike, a neutral dark one.
    """
    inks = np.array([to_rgb(colours[head % len(colours)]) for head in range(len(weight))])
    passed = 1 - weigh_ink(weight, largest)[..., None] * (
        1 - inks.reshape(len(inks), *[1] * (weight.ndim - 1), 3)
    )
    return passed.prod(0)


def cut_map(attention: xr.DataArray) -> xr.DataArray:
    """The last T keys of attention (..., query, key) of T queries: the keys from the first query on."""
    return attention.isel(key=slice(attention.sizes["key"] - attention.sizes["query"], None))


def draw_overlay(
    axes: Axes, attention: xr.DataArray, largest: float, title: str, lags: Sequence[int] = ()
) -> None:
    """All heads of attention (head, query, key) in one map, cut to the last T keys, queries downwards.

    `lags` are those after which a group ends; thin lines are drawn there.
    """
    cut = cut_map(attention).transpose("head", "query", "key")
    axes.imshow(blend_heads(cut.values.astype(np.float64), largest), origin="upper", interpolation="nearest")
    last = cut.sizes["query"] - 1
    mark_bands(axes, last, lags)
    axes.set_xticks([0, last], ["1", f"{last + 1}"])
    axes.set_yticks([0, last], ["1", f"{last + 1}"])
    axes.tick_params(length=1.5, pad=1.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    axes.set_title(title, pad=3, fontsize=0.95 * float(axes.xaxis.label.get_fontsize()))
    axes.set_box_aspect(1)


def mark_bands(axes: Axes, last: int, lags: Sequence[int]) -> None:
    """Staircases between the keys of lags l and l + 1, for queries 0 to `last`; lag 0 has none."""
    axes.autoscale(False)
    for lag in lags:
        first = lag - 1  # the query whose key of this lag is the first that is drawn
        if first > last:
            continue
        queries = np.arange(first, last + 1)
        edge = queries - lag + 0.5
        axes.plot(np.repeat(edge, 2), np.c_[queries - 0.5, queries + 0.5].ravel(), label="_band", **BAND)


def label_row(row: Sequence[Axes]) -> None:
    """Label the axes of a row of maps, queries at the first only."""
    for axes in row:
        axes.set_xlabel("key", labelpad=-4)
        if axes is not row[0]:
            axes.tick_params(labelleft=False)
    row[0].set_ylabel("query", labelpad=-6)


def draw_scale(axes: Axes, heads: int, largest: float, names: Sequence[str] | None = None) -> None:
    """What colours mean: one strip a head, and one of all heads alike, from no weight to the largest."""
    share = np.linspace(0, largest, 128)
    alone = [
        blend_heads(np.where(np.arange(heads)[:, None] == head, share, 0.0), largest) for head in range(heads)
    ]
    strips = [*alone, blend_heads(np.repeat(share[None], heads, 0), largest)]
    picture = np.stack(strips, axis=1)
    axes.imshow(picture, origin="lower", aspect="auto", extent=(-0.5, heads + 0.5, 0.0, largest))
    for edge in range(heads):
        axes.axvline(edge + 0.5, color="white", linewidth=1.5)
    labels = [*(names or [f"{head + 1}" for head in range(heads)]), "all"]
    axes.set_xticks(range(heads + 1), labels)
    axes.tick_params(axis="x", length=0, pad=2)
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
    axes.set_ylabel("attention")
    axes.set_xlabel("head", labelpad=1)
    for spine in axes.spines.values():
        spine.set_visible(False)
