"""Values of params.yaml that are allowed but doubtful are told before any job starts.

- a build names key, value and what it exceeds, once however many jobs it has, and goes on
- `onset params`, which `dvc repro` begins with, says the same; a value of an overlay goes by its own path
"""

import pytest
from tests.pipeline.copy_project import copy_toy_project
from tests.pipeline.sandbox import Sandbox

LINE = "onset: warning: toy.fit.rate = 1.5: is above 1, beyond which a walk overshoots"


@pytest.fixture
def clean(tmp_path):
    toy = Sandbox(tmp_path)
    copy_toy_project(toy.project)
    return toy


def test_a_build_warns_once_and_goes_on(clean):
    assert "warning: toy" not in clean.snakemake("-n", "all")
    clean.edit("params.yaml", "rate: 0.1", "rate: 1.5")
    text = clean.snakemake("results/paper/toy/fit.nc")
    assert text.count(LINE) == text.count("warning: toy") == 1
    assert text.index(LINE) < text.index("rule data")
    assert clean.ran() == ["paper/fit", "paper/fit.seed0-1", "paper/fit.seed2-3", "paper/points"]
    assert LINE in clean.onset("params", "--write")
    assert LINE in clean.onset("params", "--result", "checked.txt")


def test_an_overlays_value_goes_by_its_own_path(clean):
    clean.edit("params.yaml", "seeds: 2, steps: 10", "seeds: 2, steps: 10, rate: 1.5")
    text = clean.snakemake("-n", "all")
    assert text.count(LINE.replace("toy.fit", "scales.ci.toy.fit")) == text.count("warning:") == 1
