"""Edits of the source run what depends on the edited code, by content and never by the clock.

Each holds with Snakemake's own records and without them.

- comments, docstrings and formatting: nothing; neither does touching every file
- a real edit in a module: exactly what imports it, and what needs that; `git checkout` restores
- the code that all results of a kind go through counts as well: the look of figures
"""

import subprocess

import pytest

THEORY = "src/onset/papers/toy/theory.py"
TELL = "src/onset/papers/toy/tell.py"


@pytest.mark.parametrize("records", ["with records", "without records"])
def test_source_edits(toy, records):
    def build():
        if records == "without records" and (toy.project / ".snakemake").exists():
            toy.forget(".snakemake")
        text = toy.snakemake("all")
        return text, toy.ran()

    toy.edit(TELL, '"""Leave a line for a job."""', '"""Another docstring."""  # and a comment')
    toy.edit(TELL, 'note(f"{job.scale}/{job.name}")', 'note(\n        f"{job.scale}/{job.name}",\n    )')
    assert build()[1] == []
    if records == "with records":
        subprocess.run(["find", toy.project, "-exec", "touch", "-h", "{}", "+"], check=True)
    text, ran = build()
    assert "Nothing to be done" in text
    assert ran == []

    toy.edit(THEORY, '"end of the walk"', '"end of every walk"')
    assert build()[1] == ["claims/fig1", "paper/fig1", "paper/fig2", "paper/line"]
    toy.audit()
    toy.git("checkout", "-q", "src")
    assert build()[1] == []
    toy.audit()


def test_the_look_of_figures_counts(toy):
    style = toy.project / "src/onset/plotting/style.py"
    style.write_text(style.read_text() + "\nEXTRA = 1\n")
    toy.snakemake("all")
    assert toy.ran() == ["paper/fig1", "paper/fig2"]


def test_a_lost_store_is_filled_from_what_is_published(toy):
    toy.forget(".onset", ".snakemake")
    assert "up to date" in toy.onset("why", "figures/fig4.pdf")
    toy.snakemake("all")
    assert toy.ran() == []
    toy.audit()
