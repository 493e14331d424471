"""Guarantees of the ledger:

- every claims document under a results folder is read, by path; records beside the files are passed over
- a file that holds no claims is named
- the table names each claim, its value, interval, verdict and reason, fits the width, and counts verdicts and
  defects; in full also place, quantity, seeds, scales and control
- CSV and JSON hold the same rows, as numbers; ledgers written before there were controls are still read
"""

from __future__ import annotations

import csv
import io
import json

import pytest
import xarray as xr

from onset.claims.claim import Claim, Measured
from onset.claims.control import Control
from onset.claims.ledger import (
    COLUMNS,
    count_defects,
    count_verdicts,
    format_csv,
    format_json,
    format_table,
    ledger_rows,
    read_documents,
    spell_members,
)
from onset.claims.verdict import claims_document, dump_document, evaluate
from onset.errors import OnsetError


def document(scale: str, figure: str) -> dict:
    def claim(name: str, measured: Measured, low: float | None, high: float | None, unit: str = "1") -> Claim:
        return Claim(name, "", f"Sentence of {name}.", "paper", lambda _: measured, low, high, "", unit)

    claims = [
        claim("good", Measured(0.25, "detail of good"), 0.0, 1.0),
        claim("bad", Measured(7.0, "detail of bad"), None, 1.0, "nats"),
        claim("open", Measured(0.5, undecided="noise"), 0.25, None),
        claim("gone", Measured(None, absent="no such P"), 0.0, None),
    ]
    return claims_document(figure, "copyhead", scale, "title", evaluate(claims, {}, scale))


@pytest.fixture
def results(tmp_path):
    for scale, figure in (("paper", "fig4"), ("ci", "fig3")):
        folder = tmp_path / scale / "copyhead" / "claims"
        folder.mkdir(parents=True)
        (folder / f"{figure}.json").write_text(dump_document(document(scale, figure)), encoding="utf-8")
        (folder / f"{figure}.json.prov.json").write_text("{}", encoding="utf-8")
    return tmp_path


def test_documents_are_read_by_path(results):
    found = read_documents(results)
    assert [(d["scale"], d["figure"]) for d in found] == [("ci", "fig3"), ("paper", "fig4")]
    assert found[0] == document("ci", "fig3")
    assert read_documents(results / "nothing") == []


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"claims": [{"verdict": "perhaps"}]}', '{"claims": [1]}'])
def test_a_file_without_claims_is_named(results, text):
    path = results / "ci" / "copyhead" / "claims" / "fig9.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OnsetError, match=r"fig9\.json"):
        read_documents(results)


def test_counts(results):
    rows = ledger_rows(read_documents(results))
    assert count_verdicts(rows) == {"held": 2, "failed": 2, "undecided": 2, "not run at this scale": 2}
    assert count_verdicts([])["failed"] == 0


def test_brief_table(results):
    table = format_table(ledger_rows(read_documents(results)), width=75, brief=True)
    lines = table.splitlines()
    assert lines[0] == "copyhead fig3, scale ci"
    assert "  + good       0.25  0 to 1              held" in lines
    assert "  X bad           7  ≤ 1 nats            failed" in lines
    assert "  ? open        0.5  ≥ 0.25              undecided" in lines
    assert "  - gone             ≥ 0                 not run at this scale" in lines
    assert "      Sentence of good." in lines
    assert "      detail of bad" in lines and "      detail of good" not in lines
    assert "      (noise)" in lines and "      (no such P)" in lines
    assert lines[-1] == "2 held, 2 failed, 2 undecided, 2 not run at this scale, 8 without control"
    assert max(map(len, lines)) <= 75


def controlled() -> list[dict]:
    inputs = {"runs": xr.Dataset({"loss": ("seed", [0.5, 0.5])}, coords={"seed": [0, 1]})}
    same = Control("same", "nothing changes", lambda role, given: given[role])

    def read(given) -> Measured:
        """Loss at the end."""
        return Measured(float(given["runs"].loss.mean()), "both, by seed", spread=(0.25, 0.75))

    claim = Claim(
        "low", "figure 1", "It is low.", "paper", read, 0.0, 1.0, "so", scales=("ci",), control=same
    )
    return ledger_rows([claims_document("fig1", "gmc", "ci", "t", evaluate([claim], inputs, "ci"))])


def test_full_table():
    lines = format_table(controlled(), width=100).splitlines()
    assert "  + low        0.5  0 to 1              held, vacuous" in lines
    for line in (
        "It is low. [figure 1]",
        "measured: Loss at the end",
        "found: both, by seed",
        "accepted because: so",
        "seeds: runs 0-1; scales: ci; control same: held at 0.5",
    ):
        assert f"      {line}" in lines
    assert lines[-1] == "1 held, 1 vacuous"
    assert count_defects(controlled()) == {"vacuous": 1, "without control": 0}


def test_csv_and_json(results):
    rows = controlled() + ledger_rows(read_documents(results))
    found = list(csv.DictReader(io.StringIO(format_csv(rows))))
    assert tuple(found[0]) == COLUMNS and len(found) == 9
    first = {name: text for name, text in found[0].items() if text}
    assert first["seeds"] == "runs 0-1" and first["scales"] == "ci" and first["vacuous"] == "True"
    assert (first["control"], first["control_verdict"], first["control_value"]) == ("same", "held", "0.5")
    assert (float(first["value"]), float(first["spread_low"]), float(first["high"])) == (0.5, 0.25, 1.0)
    assert found[1]["control"] == found[1]["seeds"] == "" and found[1]["id"] == "good"
    assert json.loads(format_json(rows)) == rows


def test_ledgers_without_controls_are_read():
    old = {key: value for key, value in controlled()[0].items() if key not in ("control", "vacuous", "seeds")}
    assert format_table([old], width=100).splitlines()[-1] == "1 held, 1 without control"
    assert format_csv([old]).count("\n") == 2


@pytest.mark.parametrize(
    ("ids", "text"),
    [([], ""), ([4], "4"), ([0, 1, 2], "0-2"), ([5, 0, 1, 7, 6], "0-1, 5-7"), ([3, 1], "1, 3")],
)
def test_members(ids, text):
    assert spell_members(ids) == text


def test_an_empty_table_says_so():
    assert format_table([]) == "no claims have been evaluated"
