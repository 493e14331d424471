"""Which seed a figure draws thick, and on which seeds the assumptions about the data hold."""

from __future__ import annotations

import numpy as np
import xarray as xr


def list_valid(theory: xr.Dataset) -> np.ndarray:
    """Seeds on whose data A1 to A4 hold, in order."""
    return theory["seed"].values[theory["holds"].all("assumption").values]


def list_with_tail(theory: xr.Dataset) -> np.ndarray:
    """Seeds some of whose rivals are no support vectors, in order: those on which A9 says something."""
    rivals = theory["margin"].notnull().sum(("sample", "token"))
    return theory["seed"].values[(theory["support"].sum(("sample", "token")) < rivals).values]


def choose_seed(theory: xr.Dataset, wanted: int | None) -> int:
    """The seed wanted, or the first on whose data A1 to A4 hold; the first of all where they hold on none."""
    if wanted is not None:
        return wanted
    valid = list_valid(theory)
    return int(valid[0] if len(valid) else theory["seed"].values[0])


def list_failing(theory: xr.Dataset, seed: int) -> list[str]:
    """The assumptions among A1 to A4 that fail on the data of a seed."""
    holds = theory["holds"].sel(seed=seed)
    return [str(name) for name in holds["assumption"].values[~holds.values]]
