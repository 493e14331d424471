"""Guarantees of emergence times:

- progress is the share of the way, for falling losses and rising scores alike
- crossings are interpolated between records, the first counts, and none is NaN
- logistic and exponential curves have the spans, rises and steepest steps of their closed forms
- the beginning of a drop is where the last slow interval before the steepest ends
- every measure works on each curve of an array, wherever its axis of steps is
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from onset.measures.emergence import (
    EXPONENTIAL_SPAN,
    crossing_step,
    drop_span,
    drop_start,
    measure_progress,
    progress_at,
    rise_time,
    steepest_step,
)

STEPS = np.arange(0.0, 1001.0)


def curve(values, steps=STEPS) -> xr.DataArray:
    return xr.DataArray(np.asarray(values, dtype=float), dims="step", coords={"step": steps})


def logistic(at: float, scale: float) -> np.ndarray:
    return 1 / (1 + np.exp(-(STEPS - at) / scale))


def test_progress_of_a_fall_and_a_rise():
    loss, score = curve([0.8, 0.45, 0.1], [0, 1, 2]), curve([0.2, 0.6, 1.0], [0, 1, 2])
    np.testing.assert_allclose(measure_progress(loss, 0.8, 0.1), [0, 0.5, 1])
    np.testing.assert_allclose(measure_progress(score, 0.2, 1.0), [0, 0.5, 1])


def test_crossings_are_interpolated_and_the_first_counts():
    progress = curve([0, 0.2, 0.6, 0.3, 0.9], [0, 10, 20, 30, 40])
    assert float(crossing_step(progress)) == pytest.approx(17.5)
    assert float(crossing_step(progress, 0.6)) == 20
    assert float(crossing_step(progress, 0.0)) == 0
    assert np.isnan(crossing_step(progress, 0.95))


def test_crossings_of_curves_that_start_above_or_never_exist():
    assert float(crossing_step(curve([0.7, 0.1], [5, 6]))) == 5
    assert np.isnan(crossing_step(curve([np.nan, np.nan], [5, 6])))


def test_logistic_curves():
    progress = curve(logistic(300, 20))
    assert float(crossing_step(progress)) == pytest.approx(300, abs=0.1)
    # logit(1/2) - logit(1/10) = ln 9
    assert float(rise_time(progress)) == pytest.approx(20 * np.log(9), abs=0.1)
    # the steepest rate is 1/(4 scale)
    assert float(drop_span(progress)) == pytest.approx(80, rel=1e-3)
    assert float(steepest_step(progress)) == pytest.approx(300, abs=1)


def test_exponential_curves_have_the_stated_span():
    progress = curve(1 - np.exp(-STEPS / 150))
    ratio = drop_span(progress) / crossing_step(progress)
    assert float(ratio) == pytest.approx(EXPONENTIAL_SPAN, rel=0.01)


def test_beginning_of_a_drop():
    # Rates 0, 0.001, 0.01, 0.04, 0.02 a step: the second interval is the last below a tenth of 0.04.
    progress = curve([0, 0, 0.01, 0.16, 0.56, 0.76], [0, 10, 20, 35, 45, 55])
    assert float(drop_start(progress)) == 20
    assert float(drop_start(progress, 0.3)) == 35
    assert np.isnan(drop_start(curve([0, 1, 1], [0, 1, 2])))


def test_flat_curves_have_no_drop():
    flat = curve([0.3, 0.3, 0.3], [0, 1, 2])
    for measure in (drop_span, drop_start, steepest_step, rise_time):
        assert np.isnan(measure(flat))


def test_progress_at_a_step():
    two = xr.concat([curve([0, 1], [0, 10]), curve([0, 0.5], [0, 10])], "seed")
    found = progress_at(two, xr.DataArray([5.0, np.nan], dims="seed"))
    np.testing.assert_allclose(found, [0.5, np.nan])


@pytest.mark.parametrize("measure", (crossing_step, drop_span, drop_start, steepest_step, rise_time))
def test_every_curve_of_an_array(measure):
    places = ((200, 10), (400, 30), (600, 50))
    curves = [curve(logistic(*place)) for place in places]
    together = xr.concat(curves, "seed")
    expected = [float(measure(one)) for one in curves]
    np.testing.assert_allclose(measure(together), expected)
    np.testing.assert_allclose(measure(together.transpose("step", "seed")), expected)
