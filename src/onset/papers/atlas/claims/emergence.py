"""Claims of the atlas: all are this project's own statements, for no paper compares the four."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from onset.claims.changes import replace_variables, scale_variables
from onset.claims.claim import Claim, Measured
from onset.claims.control import Control, assign_controls

if TYPE_CHECKING:
    import xarray as xr

PLACE = "this project, docs/theory/atlas.md"
LINEAR, SOFTMAX = "linear copy |c_G|", "softmax copy a_G, prior start"
Inputs = Mapping[str, "xr.Dataset"]


def measure_agreement(inputs: Inputs) -> Measured:
    """Smallest rank correlation between two definitions' median times, over the order parameters."""
    medians = inputs["emergence"]["relative_time_interval"].sel(end="median").transpose("definition", "order")
    values = medians.values[:, np.isfinite(medians.values).all(0)]
    if values.shape[1] < 3:
        return Measured(None, undecided=f"{values.shape[1]} order parameters emerge by every definition")
    ranks = values.argsort(-1).argsort(-1)
    found = {
        f"{medians['definition'].values[a]} and {medians['definition'].values[b]}": np.corrcoef(
            ranks[a], ranks[b]
        )[0, 1]
        for a, b in combinations(range(len(ranks)), 2)
    }
    worst = min(found, key=lambda pair: found[pair])
    return Measured(float(found[worst]), detail=f"least between {worst}; {values.shape[1]} order parameters")


def measure_order(paper: str) -> Callable[[Inputs], Measured]:
    """Measure of the share of neighbours that emerge in their paper's order, over seeds and definitions."""

    def measure(inputs: Inputs) -> Measured:
        found = inputs["emergence"]
        times = found["time"].isel(order=found["paper"].values == paper)
        steps = np.diff(times.transpose("seed", "definition", "order").values, axis=-1)
        seen = np.isfinite(steps)
        if not seen.any():
            return Measured(None, undecided="no two neighbours emerge")
        return Measured(float((steps[seen] > 0).mean()), detail=f"{int(seen.sum())} pairs")

    return measure


def measure_contrast(inputs: Inputs) -> Measured:
    """Sharpness of softmax attention's copy order parameter over that of linear attention's."""
    found = inputs["emergence"]
    (linear, *ends), (softmax, low, high) = (
        found["sharpness_interval"].isel(order=_row(found, name)).values for name in (LINEAR, SOFTMAX)
    )
    if not np.isfinite([linear, softmax]).all():
        return Measured(None, undecided="one of the two never gets there on this grid of P")
    limit = float(np.nanmedian(found["resolution"].isel(order=_row(found, SOFTMAX)).values))
    detail = (
        f"softmax {softmax:.3g}, linear {linear:.3g}; spacing of the grid at the softmax onset {limit:.3g}"
    )
    overlap = low <= ends[1] and ends[0] <= high
    return Measured(
        float(softmax / linear),
        detail=detail,
        undecided="the intervals over chains overlap" if overlap else "",
    )


def _row(found: xr.Dataset, name: str) -> int:
    return int(np.flatnonzero(found["order"].values == name)[0])


BACKWARDS = Control("backwards", "later is earlier", scale_variables("emergence", time=-1.0))
ONE_BACKWARDS = Control(
    "one backwards",
    "later is earlier by the first definition alone",
    replace_variables(
        "emergence",
        relative_time_interval=lambda times: times.where(times.definition != times.definition[0], -times),
    ),
)
INVERSE = Control(
    "inverse",
    "the sharper are the less sharp",
    replace_variables("emergence", sharpness_interval=lambda s: 1 / s),
)

_TIMES = (
    Claim(
        id="definitions-agree",
        place=PLACE,
        sentence="Crossing, steepest change and change point nearly agree on the order of emergence.",
        standing="reconstruction",
        measure=measure_agreement,
        low=0.8,
        high=None,
        reason="of 14 rows in random order, fewer than one in a thousand correlate by 0.8",
    ),
    Claim(
        id="directions-in-order",
        place=PLACE,
        sentence="Linear attention learns directions of larger eigenvalue first, by every definition.",
        standing="reconstruction",
        measure=measure_order("linattn"),
        low=0.9,
        high=None,
        reason="1 where the order is strict; a tenth is left to seeds that swap, chance gives 0.5",
    ),
    Claim(
        id="groups-in-order",
        place=PLACE,
        sentence="Sparse attention finds the more important groups first, by every definition.",
        standing="reconstruction",
        measure=measure_order("sparse"),
        low=0.9,
        high=None,
        reason="1 where the order is strict; a tenth is left to seeds that swap, chance gives 0.5",
    ),
)
TIMES = assign_controls(_TIMES, BACKWARDS, {"definitions-agree": ONE_BACKWARDS})

_SHARPNESS = (
    Claim(
        id="softmax-sharper-than-linear",
        place=PLACE,
        sentence="Over P, softmax attention's copy order parameter is sharper than linear's (prior start).",
        standing="reconstruction",
        measure=measure_contrast,
        low=None,
        high=1.0,
        reason="at 1 both are equally sharp; a first-order transition is as narrow as the grid of P",
    ),
)

SHARPNESS = assign_controls(_SHARPNESS, INVERSE)
