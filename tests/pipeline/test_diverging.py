"""Members of a batch that diverge: the error names them, and what finished is kept and used.

- the build fails, the message names experiment, member and step and how to go on with the others
- after that change of params.yaml nothing of them runs: a batch without some seeds, and one without a run
- what was kept is what a build from nothing gives
"""

import shutil

import netCDF4
import pytest
from tests.pipeline.copy_project import TOY, copy_toy_project
from tests.pipeline.sandbox import Sandbox

RESULT = "results/paper/toy/race.nc"
ENTRY = """\
      race:
        kind: train
        title: Runners, some of which run away
        code: onset.papers.toy.race:race
        parameters: onset.params.toy:Race
"""
SECTION = "  race: {runs: [calm, wild], seeds: [0, 1, 2, 3], steps: 40, growth: 20.0}\n"


@pytest.fixture
def racing(tmp_path):
    toy = Sandbox(tmp_path)
    copy_toy_project(toy.project)
    shutil.copy(TOY / "race.py", toy.project / "src/onset/papers/toy/race.py")
    toy.edit("workflow/catalogue.yaml", "      line:\n", f"{ENTRY}      line:\n")
    toy.edit("params.yaml", "  line: {offset", f"{SECTION}  line: {{offset")
    return toy


def test_what_finished_is_kept_and_used(racing):
    text = racing.snakemake(RESULT, fails=True)
    for line in (
        "paper/toy/race: toy/race: run wild, seed 0 and run wild, seed 2 is not finite after 30 steps; "
        "the others have finished and are kept: with "
        '`toy.race.runs: ["calm", "wild"]` and `toy.race.seeds: [1, 3]`, or with '
        '`toy.race.runs: ["calm"]` and `toy.race.seeds: [0, 1, 2, 3]` at scale paper, '
        "nothing of them is computed again",
    ):
        assert line in text
    assert "most recent call last" not in text
    log = next((racing.project / "logs").rglob("race-*.log")).read_text()
    assert "seed 2 is not finite after 30 steps" in log
    assert racing.ran() == ["paper/race"]
    assert not (racing.project / RESULT).exists()
    assert len(list((racing.project / ".onset/store/paper/toy").glob("race-*.nc"))) == 2

    racing.edit("params.yaml", "seeds: [0, 1, 2, 3]", "seeds: [1, 3]")
    racing.snakemake(RESULT, "results/paper/toy/checkpoints/race.safetensors")
    assert racing.ran() == []
    racing.audit(RESULT)
    runs, seeds, without_seeds = contents(racing)
    assert (runs, seeds) == (["calm", "wild"], [1, 3])

    racing.edit("params.yaml", "[calm, wild], seeds: [1, 3]", "[calm], seeds: [0, 1, 2, 3]")
    racing.snakemake(RESULT)
    assert racing.ran() == []
    runs, seeds, without_run = contents(racing)
    assert (runs, seeds) == (["calm"], [0, 1, 2, 3])

    racing.forget(".onset", "results")
    racing.snakemake(RESULT)
    assert racing.ran() == ["paper/race"]
    assert contents(racing)[2] == without_run != without_seeds


def contents(racing):
    """Runs and seeds of the published result, and the digest of its content."""
    with netCDF4.Dataset(racing.project / RESULT) as file:
        return list(file["run"][:]), file["seed"][:].tolist(), file.onset_content
