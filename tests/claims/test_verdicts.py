"""Guarantees of claims and verdicts:

- the ends of an interval are inside, the next float beyond is outside; either end may be open
- infinite values are judged, values that are not numbers decide nothing, and both are null in the document
- `undecided` and `absent` measures keep their value from being judged
- a claim for other scales is not measured at all
- a measure that raises is not caught
- equal results give the same text, whatever the order of keys and the last bits of a number
- a claim that accepts everything or nothing, a measure without value or reason, and two claims of one name
  are refused
"""

from __future__ import annotations

import json
import math

import pytest

from onset.claims.claim import Claim, Measured
from onset.claims.verdict import VERDICTS, claims_document, dump_document, evaluate, judge


def make(
    measured: Measured | float = 1.0, low: float | None = 0.0, high: float | None = 2.0, **more
) -> Claim:
    found = measured if isinstance(measured, Measured) else Measured(measured)
    given = {"id": "one", "place": "figure 1", "sentence": "It is one.", "standing": "paper", "reason": "why"}
    return Claim(measure=lambda inputs: found, low=low, high=high, **{**given, **more})


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (2.0, 0.0, 2.0, "held"),
        (0.0, 0.0, 2.0, "held"),
        (math.nextafter(2.0, 3.0), 0.0, 2.0, "failed"),
        (math.nextafter(0.0, -1.0), 0.0, 2.0, "failed"),
        (-1e300, None, 2.0, "held"),
        (1e300, 0.0, None, "held"),
        (-1e300, 0.0, None, "failed"),
        (1.0, 1.0, 1.0, "held"),
        (math.inf, 0.0, 2.0, "failed"),
        (math.inf, 0.0, None, "held"),
        (-math.inf, 0.0, None, "failed"),
        (math.nan, 0.0, 2.0, "undecided"),
        (math.nan, None, 2.0, "undecided"),
    ],
)
def test_intervals(value, low, high, verdict):
    assert judge(make(low=low, high=high), Measured(value))[0] == verdict


def test_reasons_keep_a_value_from_being_judged():
    claim = make()
    assert judge(claim, Measured(9.0, undecided="too few")) == ("undecided", "too few")
    assert judge(claim, Measured(None, absent="no P")) == ("not run at this scale", "no P")
    assert judge(claim, Measured(9.0)) == ("failed", "")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_null(value):
    (row,) = evaluate([make(value)], {}, "ci")
    assert row["value"] is None
    assert row["verdict"] in VERDICTS
    json.loads(dump_document(claims_document("fig", "paper", "ci", "t", [row])))


def test_other_scales_are_not_measured():
    def never(inputs):
        raise AssertionError

    given = {"place": "", "sentence": "", "standing": "paper", "low": 0.0, "high": 1.0, "reason": ""}
    (row,) = evaluate([Claim(id="a", measure=never, scales=("paper",), **given)], {}, "ci")
    assert (row["verdict"], row["value"]) == ("not run at this scale", None)
    with pytest.raises(AssertionError):
        evaluate([Claim(id="a", measure=never, scales=("paper",), **given)], {}, "paper")


def test_the_inputs_reach_the_measure():
    seen = []
    claim = Claim("a", "", "", "paper", lambda inputs: seen.append(inputs) or Measured(1.0), 0.0, 1.0, "")
    evaluate([claim], {"theory": 3}, "ci")
    assert [dict(one) for one in seen] == [{"theory": 3}]


def test_a_row_says_everything():
    (row,) = evaluate([make(Measured(1.0, "at P = 3"), unit="nats", standing="reconstruction")], {}, "ci")
    assert row == {
        "id": "one",
        "place": "figure 1",
        "sentence": "It is one.",
        "standing": "reconstruction",
        "verdict": "held",
        "why": "",
        "value": 1.0,
        "detail": "at P = 3",
        "low": 0.0,
        "high": 2.0,
        "unit": "nats",
        "reason": "why",
        "quantity": "",
        "spread": None,
        "scales": None,
        "seeds": {},
        "control": None,
        "vacuous": False,
    }


def test_the_text_is_the_same_for_equal_results():
    def text(value: float) -> str:
        rows = evaluate([make(value)], {}, "ci")
        return dump_document(dict(reversed(claims_document("fig3", "copyhead", "ci", "t", rows).items())))

    third = 1 / 3
    assert text(third) == text(third * (1 + 4e-16)) == text(third)
    assert text(third) != text(third * (1 + 1e-8))
    assert text(0.0) == text(-0.0)
    assert text(third).endswith("}\n")


def test_numbers_are_judged_before_they_are_rounded():
    (row,) = evaluate([make(2.0 + 1e-13)], {}, "ci")
    assert (row["verdict"], row["value"]) == ("failed", 2.0)


def test_defects_are_refused():
    with pytest.raises(ValueError, match="accepts every number"):
        make(low=None, high=None)
    with pytest.raises(ValueError, match="accepts no number"):
        make(low=2.0, high=1.0)
    with pytest.raises(ValueError, match="must say why"):
        Measured(None)
    with pytest.raises(ValueError, match="two claims are called one"):
        evaluate([make(), make()], {}, "ci")
