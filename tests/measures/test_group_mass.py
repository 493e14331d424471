"""Guarantees of the measures of attention on groups of lags:

- attention by lag is that of a loop over queries and lags; lag 1 is the query's own position
- uniform attention is the mean of one over the number of keys at every lag
- a group is acquired when its best head crosses the level, on a straight line; NaN where none does
- stages are times more than a ratio apart, of any order, with a group acquired at step 0, NaN if unfinished
- overlap is 1 for equal heads, 0 for disjoint ones, and by a loop over pairs in between
- heads are one to one exactly where their groups are a permutation
- a dip is the least alignment over heads that end elsewhere, and no owner enters it
- dimensions may have any order, and leading ones are kept
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import xarray as xr

from onset.measures.group_mass import (
    acquisition_steps,
    count_head_stages,
    find_owned_group,
    is_one_to_one,
    measure_dips,
    measure_lag_attention,
    measure_overlap,
)


def draw_attention(rng, *shape: int) -> np.ndarray:
    length = shape[-1]
    logits = np.where(np.tril(np.ones((length, length), bool)), rng.normal(size=shape), -np.inf)
    weights = np.exp(logits)
    return weights / weights.sum(-1, keepdims=True)


def masses(values, **coords) -> xr.DataArray:
    values = np.asarray(values, dtype=float)
    dims = ("seed", "step", "head", "group")[-values.ndim :]
    return xr.DataArray(values, dims=dims, coords=coords)


def test_attention_by_lag_is_that_of_a_loop():
    attention = draw_attention(np.random.default_rng(0), 2, 3, 9, 9)[..., 4:, :]  # the last 5 queries, w = 5
    found = measure_lag_attention(attention)
    assert found.shape == (2, 3, 5)
    for lag in range(1, 6):
        expected = np.mean([attention[..., q, q + 4 - (lag - 1)] for q in range(5)], axis=0)
        np.testing.assert_allclose(found[..., lag - 1], expected, rtol=1e-14)


def test_lag_one_is_the_query():
    own, before = np.eye(6)[3:], np.eye(6, k=-1)[3:]
    np.testing.assert_array_equal(measure_lag_attention(own), [1, 0, 0, 0])
    np.testing.assert_array_equal(measure_lag_attention(before), [0, 1, 0, 0])


def test_uniform_attention():
    uniform = (np.tril(np.ones((7, 7))) / np.arange(1, 8)[:, None])[4:]
    np.testing.assert_allclose(measure_lag_attention(uniform), np.full(5, np.mean([1 / 5, 1 / 6, 1 / 7])))


def test_fewer_keys_than_queries():
    with pytest.raises(ValueError, match="5 queries to 4 keys"):
        measure_lag_attention(np.ones((5, 4)))


def test_acquisition_of_the_best_head():
    one = np.array([[0.1, 0.0], [0.2, 0.1], [0.4, 0.1], [0.8, 0.1]])
    two = np.array([[0.1, 0.0], [0.1, 0.2], [0.1, 0.6], [0.1, 0.4]])
    mass = masses(np.stack([one, two], axis=1), step=[0, 10, 30, 50], group=[1, 2])
    found = acquisition_steps(mass)
    # .4 at 30 and .8 at 50 cross a half at 35; .2 at 10 and .6 at 30 at 25
    np.testing.assert_allclose(found, [35, 25])
    assert found.dims == ("group",) and list(found.group) == [1, 2]
    np.testing.assert_array_equal(acquisition_steps(mass, 0.9), [np.nan, np.nan])
    turned = acquisition_steps(mass.transpose("group", "head", "step"))
    np.testing.assert_array_equal(turned, found)


@pytest.mark.parametrize(
    ("steps", "count"),
    (
        ([10, 20, 40], 3),
        ([40, 10, 20], 3),
        ([10, 40, 44], 2),
        ([10, 12, 13], 1),
        ([10, 13, 16.9], 1),
        ([0, 0, 5], 2),
        ([10, 20, np.nan], np.nan),
    ),
)
def test_stages(steps, count):
    found = count_head_stages(xr.DataArray([steps, steps], dims=("seed", "group"), coords={"seed": [3, 5]}))
    np.testing.assert_array_equal(found, [count, count])
    assert found.dims == ("seed",) and list(found.seed) == [3, 5]


def test_overlap():
    assert float(measure_overlap(masses([[0.7, 0.2]] * 4))) == pytest.approx(1)
    assert float(measure_overlap(masses(np.eye(3)))) == 0
    assert np.isnan(measure_overlap(masses([[0.7, 0.2]])))
    assert np.isnan(measure_overlap(masses([[0.7, 0.2], [0, 0], [0, 0]])))
    rng = np.random.default_rng(1)
    values = rng.uniform(size=(2, 4, 3, 5))
    found = measure_overlap(masses(values).transpose("head", "step", "group", "seed"))
    assert found.dims == ("step", "seed")
    expected = [
        [
            np.mean(
                [
                    np.minimum(heads[a], heads[b]).sum() / np.maximum(heads[a], heads[b]).sum()
                    for a, b in combinations(range(3), 2)
                ]
            )
            for heads in seed
        ]
        for seed in values
    ]
    np.testing.assert_allclose(found.transpose("seed", "step"), expected)


def test_one_to_one():
    last = {
        "permuted": [[0.1, 0.8, 0.1], [0.7, 0.1, 0.1], [0.2, 0.1, 0.6]],
        "two on one": [[0.1, 0.8, 0.1], [0.7, 0.1, 0.1], [0.6, 0.1, 0.2]],
    }
    first = np.full((3, 3), 0.3)
    mass = masses([[first, last["permuted"]], [first, last["two on one"]]])
    np.testing.assert_array_equal(find_owned_group(mass), [[1, 0, 2], [1, 0, 0]])
    np.testing.assert_array_equal(is_one_to_one(mass), [True, False])
    assert not is_one_to_one(masses([np.eye(3)[:2]]))


def test_dips_leave_owners_out():
    # heads x patterns at two steps; head 0 ends on pattern 1, head 1 on pattern 0, head 2 on pattern 0
    alignment = masses([[[0.0, -9.0], [0.3, -0.1], [0.2, -0.4]], [[0.1, 1.0], [-9.0, 0.0], [-9.0, 0.2]]])
    owned = xr.DataArray([1, 0, 0], dims="head")
    found = measure_dips(alignment, owned)
    np.testing.assert_allclose(found, [0.0, -0.4])
    everywhere = measure_dips(alignment, xr.DataArray([0, 0, 0], dims="head"))
    assert np.isnan(everywhere[0]) and float(everywhere[1]) == -9
