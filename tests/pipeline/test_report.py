"""The report as a target of Snakemake, on the toy project.

- one target makes figures, claims and report; its pictures are the PNGs that the rule for figures would make
- built again from the same results it is the same, byte for byte; with nothing to do, nothing runs, also
  after times were touched and Snakemake's records are lost
- it follows what it shows: a parameter, a title; and nothing else
- what is not built is said to be; an unknown scale is refused with the nearest known one
- a claims document that cannot be read is named, and the report that was there stays
"""

import os

import pytest
from tests.pipeline.sandbox import Sandbox

PAGE = "report/ci/index.html"


@pytest.fixture(scope="module")
def first(built, tmp_path_factory):
    """The toy project with its report, and the jobs that this took."""
    sandbox = Sandbox.copied(built, tmp_path_factory.mktemp("reported"))
    sandbox.snakemake("report_ci")
    return sandbox, sandbox.ran()


@pytest.fixture
def reported(first, tmp_path):
    """A copy of it."""
    return Sandbox.copied(first[0], tmp_path)


def read(sandbox):
    folder = sandbox.project / "report" / "ci"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_one_target_makes_it_whole(first, reported):
    toy, ran = reported, first[1]
    assert ran.count("ci/fig1") == 2 and ran.count("ci/fig2") == 2, "once as PDF, once as PNG"
    before = read(toy)
    assert set(before) == {
        "claims.json",
        "images/toy/fig1.png",
        "images/toy/fig2.png",
        "index.html",
        "index.html.prov.json",
        "pdf/toy/fig1.pdf",
        "pdf/toy/fig2.pdf",
    }
    page = before["index.html"].decode()
    for part in ("The walk and its end", "fit.steps", "2 of 2 figures are built", "✓"):
        assert part in page
    toy.snakemake("figures/ci/toy/fig1.png", "figures/ci/toy/fig2.png")
    assert toy.ran() == []
    for name in ("fig1", "fig2"):
        assert before[f"images/toy/{name}.png"] == (toy.project / f"figures/ci/toy/{name}.png").read_bytes()
    stored = next((toy.project / ".onset/store/ci/toy/figures").glob("fig1-*.png"))
    (toy.project / "figures/ci/toy/fig1.png").unlink()
    stored.unlink()
    toy.snakemake("figures/ci/toy/fig1.png")
    assert before["images/toy/fig1.png"] == (toy.project / "figures/ci/toy/fig1.png").read_bytes()


def test_the_same_results_give_the_same_bytes(reported):
    before = read(reported)
    reported.forget("report")
    reported.snakemake("report_ci")
    assert read(reported) == before
    reported.onset("report", "--scale", "ci")
    assert read(reported) == before
    assert reported.ran() == []


def test_with_nothing_to_do_nothing_runs(reported):
    reported.forget(".snakemake")
    for path in (reported.project / "results").rglob("*.*"):
        os.utime(path)
    page = reported.project / PAGE
    made = page.stat().st_ino
    reported.snakemake("report_ci")
    reported.edit("params.yaml", "samples: 50", "samples: 51")
    reported.edit("params.yaml", "samples: 51", "samples: 50")
    reported.snakemake("report_ci")
    assert page.stat().st_ino == made
    assert reported.ran() == []


def test_follows_what_it_shows(reported):
    page = reported.project / PAGE
    reported.edit("params.yaml", "fig1: {colour: black}", "fig1: {colour: red}")
    reported.snakemake("report_ci")
    assert reported.ran() == ["ci/fig1", "ci/fig1"]
    reported.edit("workflow/catalogue.yaml", "title: The line alone", "title: The lonely line")
    reported.snakemake("report_ci")
    assert "The lonely line" in page.read_text()
    reported.edit("params.yaml", "rate: 0.1", "rate: 0.2")
    reported.snakemake("figures/ci/toy/fig2.pdf")
    reported.onset("report", "--scale", "ci")
    assert "Stale." in page.read_text()
    reported.snakemake("report_ci")
    assert "Stale." not in page.read_text()


def test_what_is_not_built_is_said_to_be(toy):
    toy.forget("figures", "results", ".onset", ".snakemake")
    text = toy.onset("report", "--scale", "ci")
    assert "2 figures, 0 drawn now" in text
    page = (toy.project / PAGE).read_text()
    assert page.count("Not built.") == 2
    assert "snakemake --cores 2 -- figures/ci/toy/fig1.pdf" in page
    assert "did you mean 'ci'" in toy.onset("report", "--scale", "cii", fails=True)


def test_a_broken_claims_document_is_named(reported):
    before = read(reported)
    (reported.project / "results/ci/toy/claims/fig1.json").write_text("{")
    text = reported.onset("report", "--scale", "ci", fails=True)
    assert text.startswith("onset: results/ci/toy/claims/fig1.json does not hold claims")
    assert read(reported) == before
