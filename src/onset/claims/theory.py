"""Theory against experiment: what a figure's theory predicts beside what its runs gave, with the gap.

The gap is in units of the interval over seeds or chains: beyond 1 the prediction lies outside the interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

COLUMNS = ("quantity", "at", "unit", "predicted", "measured", "low", "high", "seeds", "gap")
CONFIDENCE = 0.95
"""Of the interval of a mean over seeds or chains, by Student's distribution."""
DIGITS = 7
"""Significant digits in the table: fewer than the last bits in which two machines differ."""


@dataclass(frozen=True)
class Point:
    """One prediction and what each seed or chain gave.

    at          where: the run, plateau, direction or value of P
    predicted   one number, or one for each seed where the theory starts from the seed's own data or start
    measured    a number for each seed or chain; one that is missing (not a number) is left out
    """

    at: str
    predicted: Any
    measured: Any = field(repr=False)


@dataclass(frozen=True)
class Comparison:
    """A quantity that a figure's theory predicts.

    quantity   in words, for a reader
    compare    the points, from the figure's Datasets by role; none where the scale leaves the runs out
    unit       of both numbers; "1" where dimensionless
    """

    quantity: str
    compare: Callable[[Mapping[str, xr.Dataset]], Iterable[Point]]
    unit: str = "1"


def summarise(point: Point) -> dict[str, float] | None:
    """Mean prediction, measured mean with its interval over seeds, their number and the gap.

    With d the measured less the predicted number of each seed: measured = predicted + mean(d), the interval
    is that of mean(d) around it, and gap = mean(d) over its half-width.  `low`, `high` and `gap` are NaN
    where there is one seed, `gap` also where all seeds give the same number.  None where no seed has both.
    """
    measured = np.asarray(point.measured, dtype=np.float64).ravel()
    predicted = np.broadcast_to(np.asarray(point.predicted, dtype=np.float64).ravel(), measured.shape)
    finite = np.isfinite(measured) & np.isfinite(predicted)
    measured, predicted = measured[finite], predicted[finite]
    if not len(measured):
        return None
    difference = measured - predicted
    middle, center, half = float(predicted.mean()), float(difference.mean()), math.nan
    if len(measured) > 1:
        half = _student(len(measured) - 1) * float(difference.std(ddof=1)) / math.sqrt(len(measured))
    gap = center / half if half > 0 else math.nan
    found = middle + center
    values = {
        "predicted": middle,
        "measured": found,
        "low": found - half,
        "high": found + half,
        "seeds": len(measured),
        "gap": gap,
    }
    return {name: value if name == "seeds" else _rounded(value) for name, value in values.items()}


def tabulate_theory(comparisons: Iterable[Comparison], inputs: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """A row for each point of each comparison, in the given order, with COLUMNS."""
    import pandas as pd

    rows = []
    for comparison in comparisons:
        for point in comparison.compare(inputs):
            found = summarise(point)
            if found is not None:
                head = {"quantity": comparison.quantity, "at": point.at, "unit": comparison.unit}
                rows.append({**head, **found})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _student(freedom: int) -> float:
    """The quantile of Student's distribution that bounds a two-sided interval of CONFIDENCE."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + CONFIDENCE / 2))


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS - 1}e}") + 0.0
