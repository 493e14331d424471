"""Guarantees of the matrices, records and heads that figures 8 to 14 compare:

- the early and late maps, and those of Eq. 22, are the theory's own matrices
- cosines between matrices are 1 for multiples, and -1 and 0 where they should be
- t_d, the last snapshot before the drop and the flattest record are found on curves where they are known
- plateaus are found by the loss alone, at the levels that a staircase has
- what heads carry, and the values they then have, are those of weights that were put together by hand
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from tests.linattn import synthetic

from onset.papers.linattn import maps
from onset.papers.linattn.carriers import expect_carried_values, list_carried
from onset.papers.linattn.claims.level_measures import level_errors, level_steps
from onset.papers.linattn.selection import take_task
from onset.papers.linattn.theory.fixed_points import compute_group_value, compute_optimal_map
from onset.papers.linattn.theory.merged import compute_early_direction
from onset.papers.linattn.theory.regression import compute_regression_map

TASK = "square_task"
LANDSCAPE = synthetic.describe(TASK)
EPOCHS = np.arange(0, 1001)


@pytest.fixture
def theory() -> xr.Dataset:
    return take_task(synthetic.make_theory(), TASK)


def run_of(A: np.ndarray, loss: np.ndarray) -> xr.Dataset:
    """One seed of a run with a diagonal map A (epoch, direction)."""
    D = A.shape[1]
    return xr.Dataset(
        {
            "A_diagonal": (("seed", "epoch", "direction"), A[None]),
            "A_off": (("seed", "epoch"), np.zeros((1, len(EPOCHS)))),
            "loss": (("seed", "epoch"), loss[None]),
        },
        coords={
            "epoch": EPOCHS,
            "seed": [0],
            "direction": np.arange(D),
            "snapshot_epoch": ("snapshot", EPOCHS[::100]),
        },
    )


def staircase(theory: xr.Dataset, places: tuple[int, ...]) -> xr.Dataset:
    """Directions learned one after the other, each within 20 steps of its place."""
    shares = [np.clip((EPOCHS - place) / 20 + 0.5, 0, 1) for place in places]
    A = np.stack(shares, axis=1) * theory.late_map.values
    drops = -np.diff(theory.plateau_loss.values)
    loss = theory.plateau_loss.values[0] - sum(
        drop * (1 - (1 - share) ** 2) for drop, share in zip(drops, shares, strict=True)
    )
    return run_of(A, loss)


def test_maps_are_those_of_the_theory(theory):
    np.testing.assert_allclose(maps.early_map(theory), compute_early_direction(LANDSCAPE), rtol=1e-12)
    np.testing.assert_allclose(maps.late_map(theory), compute_optimal_map(LANDSCAPE), rtol=1e-12)
    for m in range(5):
        np.testing.assert_allclose(
            maps.regression_map(theory, m), compute_regression_map(m, LANDSCAPE), rtol=1e-12
        )


def test_cosines():
    A = xr.DataArray([[1.0, 2.0], [3.0, 4.0]], dims=("direction", "column"))
    B = xr.DataArray([[2.0, -1.0], [0.0, 0.0]], dims=("direction", "column"))
    assert float(maps.compare_maps(A, 3 * A)) == pytest.approx(1, abs=1e-15)
    assert float(maps.compare_maps(A, -A)) == pytest.approx(-1, abs=1e-15)
    assert float(maps.compare_maps(A, B)) == 0
    assert np.isnan(float(maps.compare_maps(A, 0 * A)))


def test_distance_adds_diagonal_and_rest(theory):
    run = staircase(theory, (100, 300, 500, 700))
    run["A_off"] = run.A_off + 0.4
    found = maps.measure_distance(run, theory, 2).isel(seed=0).sel(epoch=1000)
    late = theory.late_map.values
    assert float(found) == pytest.approx(np.sqrt(late[2] ** 2 + late[3] ** 2 + 0.16), rel=1e-12)


def test_times_after_drops(theory):
    places = (100, 300, 500, 700)
    run = staircase(theory, places)
    # A share of 0.9 is reached 0.4 * 20 steps after the middle of the rise.
    np.testing.assert_allclose(maps.drop_epochs(run, theory).values[0], np.add(places, 8))
    run["A_diagonal"] = run.A_diagonal.where(run.direction < 3, 0.0)
    assert np.isnan(maps.drop_epochs(run, theory).values[0, 3])


def test_flattest_records_lie_on_plateaus(theory):
    run = staircase(theory, (100, 300, 500, 700))
    found = maps.flattest_epochs(run, theory).values[0]
    for m, (low, high) in enumerate([(108, 292), (308, 492), (508, 692)]):
        assert low <= found[m] <= high
    assert found[3] == 1000
    overlapping = maps.flattest_epochs(staircase(theory, (100, 105, 500, 700)), theory).values[0]
    assert np.isnan(overlapping[0]) and np.isfinite(overlapping[1:]).all()


def test_snapshot_before_the_drop(theory):
    # The loss falls from step 290 on: the snapshot at 200 is the last one before.
    run = staircase(theory, (300, 500, 700, 900)).isel(seed=0)
    assert maps.early_snapshot(run) == 2


def test_levels_by_the_loss_alone(theory):
    run = staircase(theory, (100, 300, 500, 700))
    np.testing.assert_allclose(level_errors(run, theory).values, 0, atol=1e-12)
    run["loss"] = run.loss * 1.02
    np.testing.assert_allclose(level_errors(run, theory).values, 0.02, atol=1e-12)
    steps = level_steps(staircase(theory, (100, 300, 500, 700)), theory).values[0]
    # Half of a parabolic fall is at 1 - 1/sqrt(2) of the rise.
    np.testing.assert_allclose(steps, np.add((100, 300, 500, 700), 20 * (0.5 - 0.5**0.5)), atol=0.1)


def test_levels_that_are_not_reached_are_absent(theory):
    run = staircase(theory, (100, 300, 500, 2000))
    assert np.isnan(level_errors(run, theory).values[0, 3])
    assert level_errors(run, theory).values[0, 2] == pytest.approx(0, abs=1e-12)


def test_what_heads_carry(theory):
    late = theory.late_map.values
    carried = [(0, 2), (), (1,)]
    keys = np.zeros((1, 3, 2, 4))
    values = np.array([compute_group_value(one, LANDSCAPE) if one else 0.01 for one in carried])
    for head, directions in enumerate(carried):
        for r, d in enumerate(directions):
            keys[0, head, r, d] = np.sqrt(late[d] / values[head])
    run = xr.Dataset(
        {
            "v": (("epoch", "head"), -values[None]),
            "keys": (("snapshot", "head", "rank", "direction"), keys),
            "queries": (("snapshot", "head", "rank", "direction"), -keys),
        },
        coords={"epoch": [0], "snapshot_epoch": ("snapshot", [0])},
    )
    assert list_carried(run, theory) == carried
    expected = expect_carried_values(carried, theory)
    np.testing.assert_allclose(expected[[0, 2]], values[[0, 2]], rtol=1e-12)
    assert np.isnan(expected[1])
