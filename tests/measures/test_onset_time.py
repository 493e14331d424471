"""Times and sharpness of emergence against closed forms.

- a logistic curve of rate k around t: every definition finds t, and its 10-90 % width is ln(81) / k
- an exponential approach from the origin has sharpness ln(9) / ln(2)
- falling curves read as rising ones; a curve that stays where it is has no time
- a curve that goes along with the loss is the diagonal of the loss's axis
- the bootstrap repeats with its stream, holds the median, and is as wide as the theory of the mean's order
"""

import numpy as np
import pytest

from onset.measures.onset_time import (
    bootstrap_median,
    cross,
    find_change_point,
    find_steepest,
    follow_share,
    measure_resolution,
    measure_sharpness,
    share_of_way,
)
from onset.randomness import Streams

AXIS = np.linspace(0, 100, 2001)


def logistic(rate, middle=50.0):
    return 1 / (1 + np.exp(-rate * (AXIS - middle)))


@pytest.mark.parametrize("rate", [0.4, 1.0, 3.0])
def test_logistic_times_and_width(rate):
    progress = share_of_way(3.0 - 2.0 * logistic(rate))
    assert cross(AXIS, progress, 0.5) == pytest.approx(50, abs=1e-6)
    assert find_steepest(AXIS, progress) == pytest.approx(50, abs=0.06)
    assert find_change_point(AXIS, progress) == pytest.approx(50, abs=0.06)
    assert measure_sharpness(AXIS, progress, 0.1, 0.9, 0.5) == pytest.approx(np.log(81) / rate / 50, rel=2e-3)


def test_exponential_approach_is_a_crossover():
    progress = share_of_way(1 - np.exp(-AXIS / 5))
    assert measure_sharpness(AXIS, progress, 0.1, 0.9, 0.5) == pytest.approx(np.log(9) / np.log(2), rel=2e-3)


def test_flat_and_falling_have_no_time():
    flat = share_of_way(np.ones_like(AXIS))
    assert np.isnan([cross(AXIS, flat, 0.5), find_steepest(AXIS, flat), find_change_point(AXIS, flat)]).all()
    falling = -logistic(1.0)
    assert np.isnan([cross(AXIS, falling, 0.5), find_change_point(AXIS, falling)]).all()


def test_curve_of_the_loss_itself_is_the_diagonal():
    loss = 2 - logistic(0.5)
    grid = np.linspace(0.05, 0.95, 19)
    assert follow_share(AXIS, share_of_way(loss), loss, grid) == pytest.approx(grid, abs=1e-9)


def test_resolution_is_the_spacing_around_the_onset():
    assert measure_resolution(np.array([1.0, 2.0, 4.0, 8.0]), 5.0) == pytest.approx(4 / 5)
    assert np.isnan(measure_resolution(AXIS, np.nan))


def test_bootstrap_repeats_and_covers():
    values = np.random.default_rng(0).normal(10, 1, 200)
    again = [
        bootstrap_median(values, Streams(0, "atlas", "emergence").generator("bootstrap", 1), 4000, 0.95)
        for _ in range(2)
    ]
    assert again[0] == again[1]
    median, low, high = again[0]
    assert median == np.median(values)
    assert low < median < high
    # The standard error of a Gaussian's median is sqrt(pi / 2 / n).
    assert (high - low) / (2 * 1.96) == pytest.approx(np.sqrt(np.pi / 2 / 200), rel=0.35)
    other = bootstrap_median(values, Streams(1, "atlas", "emergence").generator("bootstrap", 1), 4000, 0.95)
    assert other[1:] != again[0][1:]


def test_bootstrap_leaves_out_what_never_emerges():
    generator = Streams(0, "atlas", "emergence").generator("bootstrap")
    assert bootstrap_median(np.array([2.0, np.nan]), generator, 50, 0.9) == (2.0, 2.0, 2.0)
    assert np.isnan(bootstrap_median(np.array([np.nan]), generator, 50, 0.9)).all()
