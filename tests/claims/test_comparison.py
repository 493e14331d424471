"""Guarantees of the comparison of two ledgers:

- claims are matched by paper, figure and name, whether ledgers are of one figure, of a report, or lists
- a verdict that changed, one that became vacuous, and a claim in one alone are told and count as a difference
- a value that moved by more than the tolerance is told, and is no difference
- what is no ledger is named
"""

from __future__ import annotations

import json

import pytest

from onset.claims.comparison import compare_ledgers, read_ledger
from onset.errors import OnsetError


def row(name, verdict="held", value=1.0, **more):
    return {"id": name, "verdict": verdict, "value": value, **more}


def document(*rows, figure="fig2"):
    return {"paper": "gmc", "figure": figure, "scale": "ci", "claims": list(rows)}


@pytest.fixture
def read(tmp_path):
    def written(content):
        path = tmp_path / "ledger.json"
        path.write_text(json.dumps(content))
        return read_ledger(path)

    return written


def test_ledgers_of_every_form_are_the_same(read):
    one = document(row("a"), row("b", "failed"))
    flat = [{"paper": "gmc", "figure": "fig2", **each} for each in one["claims"]]
    wanted = read(one)
    assert list(wanted) == [("gmc", "fig2", "a"), ("gmc", "fig2", "b")]
    for form in ([one], {"scale": "ci", "claims": flat}, flat):
        found = read(form)
        assert list(found) == list(wanted)
        assert compare_ledgers(wanted, found, 0, 0)[1]


def test_verdicts_are_compared(read):
    before = read([document(row("same"), row("worse"), row("gone")), document(row("a"), figure="fig5")])
    after = read([document(row("same"), row("worse", "failed", 2.5), row("new"))])
    lines, same = compare_ledgers(before, after, 0, 0)
    assert not same
    assert lines == [
        "gmc/fig2/worse: held -> failed (1 -> 2.5)",
        "gmc/fig2/gone: only in the first",
        "gmc/fig5/a: only in the first",
        "gmc/fig2/new: only in the second",
        "1 claim(s) with the same verdict, 4 with another or only in one",
    ]


def test_a_claim_that_became_vacuous(read):
    lines, same = compare_ledgers(read(document(row("a"))), read(document(row("a", vacuous=True))), 0, 0)
    assert lines[0] == "gmc/fig2/a: held -> held, vacuous (1 -> 1)" and not same


@pytest.mark.parametrize(("new", "told"), [(1.0, 0), (1.0005, 0), (1.002, 1), (None, 1)])
def test_values_have_a_tolerance(read, new, told):
    lines, same = compare_ledgers(read(document(row("a"))), read(document(row("a", value=new))), 1e-3, 0)
    assert same and len(lines) == 1 + told


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '{"claims": [{"id": "a", "verdict": "held"}]}', "3"])
def test_what_is_no_ledger(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(OnsetError, match=r"other\.json does not hold claims"):
        read_ledger(path)
