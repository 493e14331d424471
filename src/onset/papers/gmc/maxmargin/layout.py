"""From rivals to candidates and back: results have one entry for each candidate, NaN at the match."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.papers.gmc.maxmargin.geometry import Array, list_rivals


def spread_rivals(values: Array, match: Array) -> Array:
    """Values of rivals (..., n, R) on all candidates (..., n, R+1), NaN at the match (..., n).

    Axes that `values` has before those of `match` are kept; bool becomes bool, false at the match.
    """
    R = values.shape[-1]
    filling = False if values.dtype == bool else np.nan
    spread = np.full((*values.shape[:-1], R + 1), filling, dtype=values.dtype)
    places = np.broadcast_to(list_rivals(match, R + 2), values.shape)
    np.put_along_axis(spread, places, values, axis=-1)
    return spread


def gather_rivals(values: Array, match: Array) -> Array:
    """The inverse of `spread_rivals`."""
    places = list_rivals(match, values.shape[-1] + 1)
    return np.take_along_axis(values, np.broadcast_to(places, (*values.shape[:-1], places.shape[-1])), -1)


def read_problems(data: xr.Dataset) -> tuple[Array, Array]:
    """Tokens (seed, n, T, d) and matches (seed, n) of the data of all seeds."""
    tokens = data["tokens"].transpose("seed", "sample", "position", "feature").values
    return tokens.astype(np.float64), data["match"].transpose("seed", "sample").values


def build_coordinates(data: xr.Dataset) -> dict[str, xr.Variable]:
    """Coordinates of seeds, samples, candidates and of the rows and columns of W_KQ."""
    texts = {
        "sample": ("sample", data.sizes["sample"], "sample"),
        "token": ("token", data.sizes["position"] - 1, "candidate, by position in the context"),
        "row": ("row", data.sizes["feature"], "feature of the key"),
        "column": ("column", data.sizes["feature"], "feature of the query"),
    }
    found = {
        name: xr.Variable(dim, np.arange(size), {"long_name": text, "units": "1"})
        for name, (dim, size, text) in texts.items()
    }
    return {"seed": data["seed"].variable, **found}
