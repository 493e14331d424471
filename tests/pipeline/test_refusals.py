"""Wrong parameters, source and catalogue are refused before any job starts, in one message.

- several wrong values at once, in the base and in an overlay: all named, with path, value, what is allowed
  and the nearest key; `dvc repro` and `onset` say the same as Snakemake
- a catalogue that names code which does not exist, or a source file that cannot be parsed
"""

import pytest
from tests.pipeline.copy_project import copy_toy_project
from tests.pipeline.sandbox import Sandbox, open_repository

PROBLEMS = [
    "params.yaml is refused (5 problems)",
    "plotting.font_siz unknown key; did you mean 'font_size'? (known here: dpi, font_size)",
    "plotting.font_size is missing (base font size, in points)",
    "toy.fit.rate = -0.1: should be greater than 0 (step size)",
    "toy.fig1.colour = 'blue': should be 'black' or 'red' (colour of the curve; one of black, red)",
    "scales.ci.toy.fit.seeds = 'two': should be a valid integer (number of walkers)",
]


@pytest.fixture
def clean(tmp_path):
    toy = Sandbox(tmp_path)
    copy_toy_project(toy.project)
    return toy


def test_all_wrong_parameters_are_named_at_once(clean):
    open_repository(clean)
    clean.edit("params.yaml", "font_size: 8.0", "font_siz: 8.0")
    clean.edit("params.yaml", "rate: 0.1", "rate: -0.1")
    clean.edit("params.yaml", "fig1: {colour: black}", "fig1: {colour: blue}")
    clean.edit("params.yaml", "seeds: 2, steps", "seeds: two, steps")
    for text in (
        clean.snakemake("all", fails=True),
        clean.dvc("repro", fails=True),
        clean.onset("why", "figures/fig4.pdf", fails=True),
    ):
        for problem in PROBLEMS:
            assert problem in text
        assert "most recent call last" not in text
    assert clean.ran() == []
    assert not (clean.project / ".onset").exists()


@pytest.mark.parametrize(
    "place, old, new, message",
    [
        ("params.yaml", "steps: 40", "steps: 40, steps: 50", "line 8"),
        ("params.yaml", "steps: 40", "steps: 20000", "toy.fit.steps a toy walks at most 10000 steps"),
        (
            "workflow/catalogue.yaml",
            "theory:solve_line",
            "theory:solve_lin",
            "onset.papers.toy.theory has no 'solve_lin'",
        ),
        (
            "workflow/catalogue.yaml",
            "needs: {points: points}",
            "needs: {points: pints}",
            "no experiment of toy",
        ),
        ("workflow/catalogue.yaml", "kind: data", "kind: date", "toy.experiments.points.kind"),
        ("src/onset/papers/toy/theory.py", "def solve_line(job)", "def solve_line(job", "theory.py, line 7"),
    ],
)
def test_one_wrong_thing_is_named(clean, place, old, new, message):
    clean.edit(place, old, new)
    text = clean.snakemake("all", fails=True)
    assert message in text
    assert "most recent call last" not in text
    assert clean.ran() == []
