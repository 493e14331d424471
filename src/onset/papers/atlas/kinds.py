"""Who is abrupt, who a crossover: the reading of a sharpness and its interval."""

from __future__ import annotations

import math

BOUND = 1.0
"""A change that takes less time than the wait before it is abrupt; an exponential approach has 3.2."""


def name_kind(low: float, high: float) -> str:
    """`abrupt` or `crossover` where the whole interval is on one side of BOUND, else `undecided`."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "does not emerge"
    if high < BOUND:
        return "abrupt"
    return "crossover" if low > BOUND else "undecided"
