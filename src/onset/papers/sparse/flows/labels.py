"""Labelled Datasets of double precision, with the coordinates that the flows share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from onset.papers.sparse.flows.features import Features

Variable = tuple[tuple[str, ...], Any, str]
"""Dimensions, values, long_name; units are 1, times are in units of the flow's own time."""


def label_flows(
    variables: Mapping[str, Variable], features: Features, coordinates: Mapping[str, Variable]
) -> xr.Dataset:
    """A Dataset of variables as float64 (whole numbers stay whole) and the coordinates of their dimensions.

    head (from 0), feature (from 1), position (from 1) and strength(feature) = m_j are added where used.
    """
    shared: dict[str, Variable] = {
        "head": (("head",), np.arange(features.h), "head"),
        "feature": (("feature",), np.arange(1, features.h + 1), "feature, most important first"),
        "position": (("position",), np.arange(1, features.T + 1), "position; the first h hold the features"),
        "strength": (("feature",), features.strengths, "strength m_j of the feature"),
    }
    used = {dim for dims, _, _ in variables.values() for dim in dims}
    known = {**{name: v for name, v in shared.items() if set(v[0]) <= used}, **coordinates}
    return xr.Dataset(
        {
            name: (dims, _as_double(values), describe(title))
            for name, (dims, values, title) in variables.items()
        },
        coords={name: (dims, values, describe(title)) for name, (dims, values, title) in known.items()},
    )


def describe(title: str) -> dict[str, str]:
    """Attributes of a dimensionless variable."""
    return {"long_name": title, "units": "1"}


def _as_double(values: Any) -> np.ndarray:
    array = np.asarray(values)
    return array if array.dtype.kind in "bi" else array.astype(np.float64)


def carry_coordinates(source: xr.Dataset, *names: str) -> dict[str, Variable]:
    """Coordinates of another Dataset of the flows, to be laid on a new one."""
    return {
        name: (tuple(map(str, source[name].dims)), source[name].values, str(source[name].attrs["long_name"]))
        for name in names
    }
