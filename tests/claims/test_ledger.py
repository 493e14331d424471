"""Guarantees of the ledger:

- every claims document under a results folder is read, by path; records beside the files are passed over
- a file that holds no claims is named
- the table names each claim, its value, interval, verdict and reason, fits the width, and counts verdicts
"""

from __future__ import annotations

import pytest

from onset.claims.claim import Claim, Measured
from onset.claims.ledger import count_verdicts, format_table, ledger_rows, read_documents
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


def test_table(results):
    table = format_table(ledger_rows(read_documents(results)), width=70)
    lines = table.splitlines()
    assert lines[0] == "copyhead fig3, scale ci"
    assert "  + good       0.25  0 to 1              held" in lines
    assert "  X bad           7  ≤ 1 nats            failed" in lines
    assert "  ? open        0.5  ≥ 0.25              undecided" in lines
    assert "  - gone             ≥ 0                 not run at this scale" in lines
    assert "      Sentence of good." in lines
    assert "      detail of bad" in lines and "      detail of good" not in lines
    assert "      (noise)" in lines and "      (no such P)" in lines
    assert lines[-1] == "2 held, 2 failed, 2 undecided, 2 not run at this scale"
    assert max(map(len, lines)) <= 70


def test_an_empty_table_says_so():
    assert format_table([]) == "no claims have been evaluated"
