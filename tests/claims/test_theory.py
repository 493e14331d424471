"""Theory against experiment, summed up for each point.

- the interval is Student's: closed forms at two seeds (tan of a right angle's share) and at three
- the gap is the distance from the prediction in half-widths: 1 where the prediction is the interval's end
- a prediction for each seed is compared seed by seed: what they share does not widen the interval
- one seed has neither interval nor gap, nor have seeds that all agree a gap; a missing seed is left out
- the table has a row for each point in the given order, and reads back from its file
"""

import math

import numpy as np
import pandas as pd
import pytest

from onset.claims.theory import COLUMNS, Comparison, Point, summarise, tabulate_theory
from onset.store.tables import write_table

CAUCHY = math.tan(math.pi * 0.475)
"""Quantile 0.975 of Student's distribution with one degree of freedom, which is Cauchy's."""


def student_two(p):
    """Quantile of Student's distribution with two degrees of freedom, in closed form."""
    return (2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p)))


def test_interval_of_two_seeds_is_cauchys():
    found = summarise(Point("here", 1.0, [2.0, 4.0]))
    half = CAUCHY * 1.0  # sd = sqrt 2 over sqrt 2 seeds
    assert (found["predicted"], found["measured"], found["seeds"]) == (1.0, 3.0, 2)
    assert (found["low"], found["high"]) == pytest.approx((3 - half, 3 + half), rel=1e-6)
    assert found["gap"] == pytest.approx(2 / half, rel=1e-6)


def test_interval_of_three_seeds():
    found = summarise(Point("here", 0.0, [1.0, 2.0, 3.0]))
    assert found["high"] - found["measured"] == pytest.approx(student_two(0.975) / math.sqrt(3), rel=1e-6)


@pytest.mark.parametrize(("end", "gap"), [("low", 1.0), ("high", -1.0)])
def test_a_prediction_at_the_end_of_the_interval_is_one_unit_off(end, gap):
    values = [0.3, 0.5, 0.4, 0.9]
    at_end = summarise(Point("here", 0.0, values))[end]
    assert summarise(Point("here", at_end, values))["gap"] == pytest.approx(gap, rel=1e-5)


def test_predictions_of_each_seed_are_compared_seed_by_seed():
    own = np.array([10.0, 20.0, 60.0])
    found = summarise(Point("here", own, own + np.array([1.0, 2.0, 3.0])))
    alone = summarise(Point("here", 0.0, [1.0, 2.0, 3.0]))
    assert (found["predicted"], found["measured"]) == (30.0, 32.0)
    assert found["high"] - found["low"] == pytest.approx(alone["high"] - alone["low"], rel=1e-6)
    assert found["gap"] == pytest.approx(alone["gap"], rel=1e-6)


def test_one_seed_has_no_interval():
    found = summarise(Point("here", 1.0, [2.0]))
    assert found["measured"] == 2.0
    assert all(math.isnan(found[name]) for name in ("low", "high", "gap"))


def test_seeds_that_agree_have_no_gap():
    found = summarise(Point("here", 1.0, [2.0, 2.0]))
    assert (found["low"], found["high"]) == (2.0, 2.0)
    assert math.isnan(found["gap"])


def test_missing_seeds_are_left_out():
    assert summarise(Point("here", 1.0, [2.0, np.nan, 4.0])) == summarise(Point("here", 1.0, [2.0, 4.0]))
    assert summarise(Point("here", [1.0, np.nan], [2.0, 3.0]))["seeds"] == 1
    assert summarise(Point("here", 1.0, [np.nan])) is None


def test_table_has_a_row_for_each_point_and_reads_back(tmp_path):
    first = Comparison(
        "length", lambda given: [Point(f"at {n}", n, [n, n + given["by"]]) for n in (2, 1)], "m"
    )
    nothing = Comparison("weight", lambda given: [Point("at 1", 1.0, [np.nan])])
    table = tabulate_theory((first, nothing), {"by": 1.0})
    assert tuple(table.columns) == COLUMNS
    assert list(table["at"]) == ["at 2", "at 1"]
    assert list(table["measured"]) == [2.5, 1.5]
    write_table(table, tmp_path / "table.csv", {"title": "lengths"}, {"recipe": "0"})
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "table.csv", comment="#"), table)
    assert tabulate_theory((nothing,), {}).empty
