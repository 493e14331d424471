"""Guarantees of the measures of abrupt drops:

- a logistic fall in ln(step) is one drop, at its centre, whatever its time; a sum of them is as many;
- neither the units of the loss, its floor, nor a finer record changes count and place;
- no fall, a power law, and a fall still in progress are no drops; small ripples are below the prominence;
- peaks and prominences are SciPy's, flat tops and ties included;
- plateau levels, half-drop step, crossing and dwell are those of curves whose values are known.
"""

import numpy as np
import pytest
import xarray as xr
from scipy import signal

from onset.measures.drops import (
    count_drops,
    crossing_step,
    dwell,
    find_drops,
    find_peaks,
    half_drop_step,
    map_curves,
    plateau_levels,
)

STEPS = np.arange(0, 20001, 10)


def staircase(*falls, step=STEPS, width=0.08):
    """1 minus logistic falls (centre, size) in ln(step)."""
    loss = np.ones(len(step))
    with np.errstate(divide="ignore"):
        axis = np.log(step.astype(float))
    for centre, size in falls:
        loss -= size / (1 + np.exp(-(axis - np.log(centre)) / width))
    return loss


@pytest.mark.parametrize("centre", [200, 1500, 9000])
def test_one_logistic_fall_is_one_drop_at_its_centre(centre):
    drops = find_drops(STEPS, staircase((centre, 0.8)))
    assert len(drops) == 1
    assert drops.position[0] == pytest.approx(centre, rel=0.02)
    assert drops.height[0] == pytest.approx(1 / (4 * 0.08), rel=0.08)  # of the logistic; smoothing lowers it


def test_four_falls_are_four_drops():
    loss = staircase((300, 0.36), (800, 0.26), (2500, 0.17), (9000, 0.07))
    drops = find_drops(STEPS, loss)
    np.testing.assert_allclose(drops.position, [300, 800, 2500, 9000], rtol=0.02)
    np.testing.assert_allclose(plateau_levels(STEPS, loss), [1, 0.64, 0.38, 0.21, 0.14], atol=0.002)


def test_units_floor_and_density_of_records_do_not_matter():
    falls = (300, 0.4), (3000, 0.3)
    wanted = find_drops(STEPS, staircase(*falls))
    for found in (
        find_drops(STEPS, 7 * staircase(*falls)),
        find_drops(STEPS, 3 + staircase(*falls)),
        find_drops(STEPS[::4], staircase(*falls, step=STEPS[::4])),
        find_drops(np.arange(20001), staircase(*falls, step=np.arange(20001))),
    ):
        np.testing.assert_allclose(found.position, wanted.position, rtol=0.02)
        np.testing.assert_allclose(found.height, wanted.height, rtol=0.05)


@pytest.mark.parametrize("levels", [3, 8, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_peaks_are_those_of_scipy(seed, levels):
    values = np.random.default_rng(seed).integers(levels, size=300).repeat(1 + seed).astype(float)
    peaks, prominences = find_peaks(values)
    wanted, properties = signal.find_peaks(values, prominence=0)
    np.testing.assert_array_equal(peaks, wanted)
    np.testing.assert_array_equal(prominences, properties["prominences"])
    for few in (np.zeros(4), np.arange(5.0), np.arange(5.0)[::-1], np.array([2.0])):
        assert len(find_peaks(few)[0]) == 0


def test_what_is_no_drop():
    assert count_drops(STEPS, np.ones(len(STEPS))) == 0
    assert count_drops(STEPS, (1.0 + STEPS) ** -0.3) == 0  # ever flatter on the logarithmic axis
    assert count_drops(STEPS, staircase((40000, 0.8))) == 0  # still getting steeper at the end
    rippled = staircase((1500, 0.8)) + 1e-4 * np.sin(STEPS / 300)
    assert count_drops(STEPS, rippled) == 1


def test_flat_stretches_of_coarse_records_count_once():
    step = np.arange(0, 1001, 20)
    loss = np.interp(step, [0, 40, 60, 1000], [1.0, 1.0, 0.2, 0.2])
    assert count_drops(step, loss) == 1


def test_half_drop_and_crossing_are_linear_between_records():
    step, loss = np.array([0, 10, 20, 30]), np.array([1.0, 0.8, 0.2, 0.0])
    assert half_drop_step(step, loss) == pytest.approx(15)
    assert crossing_step(step, loss, 0.9) == pytest.approx(5)
    assert crossing_step(step, loss, 2.0) == 0
    assert np.isnan(crossing_step(step, loss, -1))
    assert np.isnan(half_drop_step(step, np.ones(4)))


def test_dwell_counts_steps_within_the_band():
    step, loss = np.array([0, 10, 30, 60]), np.array([1.0, 0.5, 0.52, 0.0])
    assert dwell(step, loss, 0.5, 0.03) == 50
    assert dwell(step, loss, 0.8, 0.03) == 0


def test_every_curve_of_an_array():
    loss = xr.DataArray(
        [[staircase((300, 0.8)), staircase((300, 0.4), (3000, 0.4))], [np.full(len(STEPS), np.nan)] * 2],
        dims=("run", "seed", "epoch"),
        coords={"epoch": STEPS},
    )
    found = map_curves(loss, count_drops, prominence=0.03)
    assert found.dims == ("run", "seed")
    np.testing.assert_array_equal(found[0], [1, 2])
    assert np.isnan(found[1]).all()


def test_a_curve_too_short_is_refused():
    with pytest.raises(ValueError, match="too short; at least 5"):
        find_drops(np.arange(4), np.ones(4))
