"""Theory against experiment, made and published with the claims of a figure.

- one job makes verdicts and table; the table has its recipe in it and in its record
- it comes with the figure
- `onset claims --theory` prints it, `onset why` and `onset verify` know it, dvc.yaml has its folder
- an edit of the comparisons makes claims and table again, not the figure
- `theory` without `claims` is refused, and a table of an unknown figure with the nearest name
"""

import json

import pandas as pd
import pytest
from tests.pipeline.copy_project import copy_toy_project
from tests.pipeline.sandbox import Sandbox

CLAIMS = "        claims: onset.papers.toy.claims:CLAIMS\n"
THEORY = "        theory: onset.papers.toy.comparisons:FIG1\n"
CODE = """\
from onset.claims.theory import Comparison, Point


def compare_ends(inputs):
    last = inputs["fit"]["place"].isel(step=-1)
    yield Point("end", float(inputs["line"]["end"].mean()), last)


FIG1 = (Comparison("place", compare_ends),)
"""
PATH = "results/ci/toy/theory/fig1.csv"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    sandbox = Sandbox(tmp_path_factory.mktemp("theory"))
    copy_toy_project(sandbox.project)
    sandbox.edit("workflow/catalogue.yaml", CLAIMS, CLAIMS + THEORY)
    (sandbox.project / "src/onset/papers/toy/comparisons.py").write_text(CODE)
    sandbox.snakemake("figures/ci/toy/fig1.pdf")
    sandbox.ran()
    return sandbox


def test_the_table_comes_with_the_figure(toy):
    table = pd.read_csv(toy.project / PATH, comment="#")
    assert list(table["quantity"]) == ["place"]
    record = json.loads((toy.project / f"{PATH}.prov.json").read_text())
    assert f"# onset_recipe: {record['recipe']}" in (toy.project / PATH).read_text().splitlines()
    claims = json.loads((toy.project / "results/ci/toy/claims/fig1.json.prov.json").read_text())
    assert claims["recipe"] == record["recipe"]


def test_commands_know_it(toy):
    printed = toy.onset("claims", "--theory", "--scale", "ci")
    assert "toy/fig1, scale ci" in printed
    assert "out of date" not in printed
    assert "is up to date" in toy.onset("why", PATH)
    toy.onset("verify", PATH)
    toy.onset("dvc", "--write")
    assert "results/${item.scale}/toy/theory" in (toy.project / "dvc.yaml").read_text()


def test_an_edit_of_the_comparisons_makes_the_table_again(toy):
    toy.edit("src/onset/papers/toy/comparisons.py", 'Comparison("place"', 'Comparison("position"')
    toy.snakemake("figures/ci/toy/fig1.pdf")
    assert toy.ran() == ["claims/fig1"]
    assert list(pd.read_csv(toy.project / PATH, comment="#")["quantity"]) == ["position"]


def test_what_does_not_exist_is_refused(toy):
    assert "did you mean 'toy/fig1'" in toy.onset(
        "claims", "--theory", "--scale", "ci", "toy/fig3", fails=True
    )
    toy.edit("workflow/catalogue.yaml", CLAIMS, "")
    assert "toy.fig1 has `theory` and no `claims`" in toy.onset("list", fails=True)
