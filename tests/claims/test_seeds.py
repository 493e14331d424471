"""Guarantees of the interval of a median:

- it lies between two of the values, and is absent for fewer than five
- it holds the true median as often as the binomial law says, and at least nine times in ten
- no shorter interval between values that are as far from both ends would
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from onset.claims.seeds import COVERAGE, median_interval


@pytest.mark.parametrize(
    ("n", "k"), [(5, 1), (6, 1), (7, 1), (8, 2), (10, 2), (16, 5), (20, 6), (64, 25), (101, 42)]
)
def test_order_statistics(n, k):
    found = median_interval(np.random.default_rng(0).permutation(n) + 1.0)
    assert found == (k, n + 1 - k)
    assert 1 - 2 * binom.cdf(k - 1, n, 0.5) >= COVERAGE > 1 - 2 * binom.cdf(k, n, 0.5)


@pytest.mark.parametrize("n", range(5))
def test_few_seeds_have_none(n):
    assert median_interval(np.arange(n)) is None


def test_it_holds_the_median_of_a_skewed_law():
    draws = np.random.default_rng(1).exponential(size=(4000, 8))
    inside = [low <= np.log(2) <= high for low, high in map(median_interval, draws)]
    # 0.9297 by the binomial law; five standard errors of 4000 draws.
    assert np.mean(inside) == pytest.approx(1 - 2 * binom.cdf(1, 8, 0.5), abs=0.02)
