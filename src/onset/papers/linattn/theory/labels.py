"""Labelled Datasets of double precision from plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

Variable = tuple[tuple[str, ...], Any, str, str]
"""Dimensions, values, long_name, units."""


def label_dataset(variables: Mapping[str, Variable], coordinates: Mapping[str, Variable]) -> xr.Dataset:
    """A Dataset from name: (dimensions, values, long_name, units); variables become float64."""
    return xr.Dataset(
        {
            name: (dims, np.asarray(values, dtype=np.float64), {"long_name": title, "units": units})
            for name, (dims, values, title, units) in variables.items()
        },
        coords={
            name: (dims, np.asarray(values), {"long_name": title, "units": units})
            for name, (dims, values, title, units) in coordinates.items()
        },
    )
