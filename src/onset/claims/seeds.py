"""The interval of a median over seeds."""

from __future__ import annotations

import math

import numpy as np

COVERAGE = 0.9
"""Least probability with which the interval holds the median of the population that seeds are drawn from."""


def median_interval(values: np.ndarray, coverage: float = COVERAGE) -> tuple[float, float] | None:
    """Interval of the median of values (n,) of independent seeds, between two of them; None for four or less.

    The k-th least and k-th largest value hold it with probability 1 - 2 P(B < k), B binomial of n and ½,
    whatever the distribution; k is the largest with which that is `coverage`.  Values must not be NaN.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64).ravel())
    n, tail, k = len(ordered), 0.0, 0
    while k < n // 2:
        tail += math.comb(n, k) / 2**n
        if 1 - 2 * tail < coverage:
            break
        k += 1
    return (float(ordered[k - 1]), float(ordered[n - k])) if k else None
