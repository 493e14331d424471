"""Guarantees of `onset claims`:

- claims are printed by paper, figure or claim, as table, JSON or CSV; notes never mix with JSON or CSV
- an unknown scale, paper, figure, claim or format is one line with the nearest name, and exit code 2
- a claim that holds on its control is vacuous: marked, counted, and refused by `--strict`; one that does
  not, and one without a control, is not refused
"""

import csv
import io
import json
import subprocess
import sys

import pytest


def claims(toy, *words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of `onset claims`."""
    done = subprocess.run(
        [sys.executable, "-m", "onset", "claims", *words],
        cwd=toy.project,
        env={**toy.environment, "PYTHONPATH": str(toy.project / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_claims_by_name_and_format(toy):
    code, text, _ = claims(toy, "toy/fig1/end")
    assert (
        code == 0 and "  + end " in text and "measured: Distance of the last positions from the end" in text
    )
    assert text.splitlines()[-1] == "1 held, 1 without control"
    code, text, _ = claims(toy, "--format", "json", "--paper", "toy")
    (row,) = json.loads(text)
    assert (row["paper"], row["figure"], row["id"], row["verdict"]) == ("toy", "fig1", "end", "held")
    assert row["seeds"] == {"fit": [0, 1, 2, 3]}
    code, text, _ = claims(toy, "--format", "csv")
    assert [one["id"] for one in csv.DictReader(io.StringIO(text))] == ["end"]
    code, text, errors = claims(toy, "--scale", "ci", "--format", "json")
    assert code == 0 and json.loads(text) == [] and "not evaluated yet" in errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("toi",), "there is no paper 'toi'; did you mean 'toy'?"),
        (("--paper", "toi"), "there is no paper 'toi'; did you mean 'toy'?"),
        (("toy/fig11",), "'fig11'; did you mean 'fig1'?"),
        (("toy/fig1/ends",), "'ends'; did you mean 'end'?"),
        (("toy/fig1/end/more",), "'toy/fig1/end/more' should be"),
        (("--scale", "papr"), "there is no scale 'papr'; did you mean 'paper'?"),
        (("--format", "jsn"), "there is no format 'jsn'; did you mean 'json'?"),
    ],
)
def test_unknown_names(toy, words, message):
    code, text, errors = claims(toy, *words)
    assert code == 2 and text == "" and errors.count("\n") == 1
    assert errors.startswith("onset: ") and message in errors


def test_a_vacuous_claim_is_refused(toy):
    assert claims(toy, "--strict")[0] == 0
    toy.edit("src/onset/papers/toy/claims.py", "import Claim, Measured", IMPORTS)
    toy.edit(
        "src/onset/papers/toy/claims.py", "        high=1.0,", "        high=1.0,\n        control=SAME,"
    )
    toy.snakemake("results/paper/toy/claims/fig1.json")
    code, text, _ = claims(toy, "--strict")
    assert code == 1 and "held, vacuous" in text and "1 held, 1 vacuous" in text
    assert "paper/toy/fig1/end is vacuous: it also holds where nothing changes" in text
    toy.edit("src/onset/papers/toy/claims.py", "scale_variables('fit', place=1.0)", "AWAY")
    toy.snakemake("results/paper/toy/claims/fig1.json")
    code, text, _ = claims(toy, "--strict")
    assert code == 0 and "control same: failed" in text and "vacuous" not in text


IMPORTS = """import Claim, Measured
from onset.claims.changes import scale_variables
from onset.claims.control import Control

AWAY = scale_variables('fit', place=100.0)
SAME = Control('same', 'nothing changes', scale_variables('fit', place=1.0))"""
