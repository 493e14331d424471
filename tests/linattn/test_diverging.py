"""Guarantees where members of a batch diverge:

- the error names experiment, run, seed and step, for one seed, for a whole run, and for a share of a mixture;
- the others finish, and what is kept of them is what training of them alone gives;
- a killed and resumed job with diverged members ends as an uninterrupted one;
- once params.yaml leaves the diverged ones out, the pipeline finds the others in the store.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML
from tests.linattn.small_linattn import make_job, small_sets, training
from tests.linattn.test_mixture import mixture_job

from onset.errors import OnsetError
from onset.job.diverged import Diverged, list_survivors, note_lost, spell_lost
from onset.job.progress import Reporter
from onset.papers.linattn import training as program
from onset.papers.linattn.mixture_training import train_mixture
from onset.papers.linattn.training import train_runs
from onset.pipeline.execute import compute
from onset.pipeline.plan import Plan
from onset.pipeline.project import Project
from onset.pipeline.spec import describe_job
from onset.store.checkpoints import read_checkpoint
from onset.store.netcdf import read_result

ROOT = Path(__file__).parents[2]
SEEDS = [0, 1, 2, 3, 4, 5]
RUNS = {"fine": {}, "fast": {"learning_rate": 1.5}}
"""At this rate the seeds 3, 4 and 5 of `fast` diverge, and the others do not."""


def test_members_that_are_lost_are_noted_once():
    after = np.full(3, -1)
    for steps, loss in enumerate(([1.0, 2.0, 1.0], [1.0, np.nan, 1e39], [1.0, 1.0, np.inf])):
        note_lost(after, np.array(loss), steps)
    np.testing.assert_array_equal(after, [-1, 1, 1])
    assert spell_lost(["a", "b", "c"], after) == "b and c is not finite after 1 steps"
    assert spell_lost(list("abcd"), np.array([4, 2, 2, 2]), 2) == (
        "b and 2 others is not finite after 2 steps, a is not finite after 4 steps"
    )


def test_survivors_are_the_parts_without_losses():
    lost = np.zeros((3, 4), dtype=bool)
    assert list_survivors(lost) == [([0, 1, 2], [0, 1, 2, 3])]
    lost[1] = True
    assert list_survivors(lost) == [([0, 2], [0, 1, 2, 3])]
    lost[2, 3] = True
    assert list_survivors(lost) == [([0, 2], [0, 1, 2]), ([0], [0, 1, 2, 3])]
    lost[0, :3] = True
    assert list_survivors(lost) == []


def test_seeds_that_diverge_are_named_and_the_others_are_those_of_training_alone():
    sets = small_sets(seeds=SEEDS)
    with pytest.raises(Diverged) as found:
        train_runs(make_job(training(seeds=SEEDS, runs=RUNS), sets))
    assert str(found.value).startswith(
        "linattn/small: the loss of run fast, seed 3, seed 4 and seed 5 is not finite after 40 steps (its "
        "learning_rate is 1.5, the bound of stability at the minimum "
    )
    without_seeds, without_run = found.value.kept
    assert without_seeds.change == {"seeds": [0, 1, 2]}
    assert without_run.change == {"runs": {"fast": None}}
    for kept, alone in (
        (without_seeds, training(seeds=[0, 1, 2], runs=RUNS)),
        (without_run, training(seeds=SEEDS, runs={"fine": {}})),
    ):
        expected = train_runs(make_job(alone, sets))
        assert kept.result.dataset.identical(expected.dataset)
        assert kept.result.checkpoint.keys() == expected.checkpoint.keys()
        for name, array in expected.checkpoint.items():
            np.testing.assert_array_equal(kept.result.checkpoint[name], array)


@pytest.mark.parametrize("kill_at", [20, 149, 150, 229])
def test_resumed_equals_uninterrupted(tmp_path, monkeypatch, kill_at):
    monkeypatch.setattr(program, "CHUNK", 50)
    sets = small_sets(seeds=SEEDS)
    own = training(seeds=SEEDS, runs={"wild": {"learning_rate": 100.0}, **dict(reversed(RUNS.items()))})
    with pytest.raises(Diverged) as expected:
        train_runs(make_job(own, sets))
    assert [part.change for part in expected.value.kept] == [
        {"seeds": [0, 1, 2], "runs": {"wild": None}},
        {"runs": {"wild": None, "fast": None}},
    ]
    calls, descend = iter(range(10000)), program.descend

    def killed(*args):
        if next(calls) == kill_at:
            raise KeyboardInterrupt
        descend(*args)

    with monkeypatch.context() as patch:
        patch.setattr(program, "descend", killed)
        with pytest.raises(KeyboardInterrupt):
            train_runs(make_job(own, sets, state=tmp_path))
    with pytest.raises(Diverged) as found:
        train_runs(make_job(own, sets, state=tmp_path))
    assert str(found.value) == str(expected.value)
    for one, other in zip(found.value.kept, expected.value.kept, strict=True):
        assert one.result.dataset.identical(other.result.dataset)


def test_a_run_that_is_lost_altogether_is_not_continued(monkeypatch):
    steps, descend = [], program.descend
    monkeypatch.setattr(program, "descend", lambda *args: (steps.append(1), descend(*args)))
    runs = {"wild": {"model": "merged", "learning_rate": 40.0, "init_std": 1.0}, "fine": {}}
    with pytest.raises(Diverged, match="run wild, seed 0 and seed 3 is not finite after 40 steps"):
        train_runs(make_job(training(runs=runs)))
    assert len(steps) == 40 + 230


def test_a_mixture_keeps_the_seeds_that_finish_at_every_share():
    """At this rate seed 0 diverges at one of the shares."""
    with pytest.raises(
        Diverged, match="linattn/small: the loss at share 1, seed 0 is not finite after 50"
    ) as f:
        train_mixture(mixture_job(learning_rate=1.17, epochs=400))
    (kept,) = f.value.kept
    assert kept.change == {"seeds": [2]}
    expected = train_mixture(mixture_job(learning_rate=1.17, epochs=400, seeds=[2]))
    assert kept.result.dataset.identical(expected.dataset)
    for name, array in expected.checkpoint.items():
        np.testing.assert_array_equal(kept.result.checkpoint[name], array)


def write_parameters(folder, change):
    """params.yaml of the project with a small section of population runs, changed by `change`."""
    raw = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text())
    section = raw["linattn"]["fig3_population"]
    section |= {"epochs": 60, "record_every": 10, "snapshot_every": 60, "seeds": [0, 1, 2]}
    section["runs"] = {"paper": {}, "wild": {"init_std": 0.5, "learning_rate": 50.0}}
    change(section)
    raw["scales"] = {"paper": {}}
    with open(folder / "params.yaml", "w") as file:
        YAML(typ="safe", pure=True).dump(raw, file)


def take_step(folder):
    project = Project(ROOT, folder)
    return project, Plan(project).steps("paper").results["linattn", "fig3_population"]


def build(project, step):
    place = step.stored(project.store)
    spec = json.loads(json.dumps(describe_job(step, project.store)))
    compute(spec, project, place, place.with_suffix(".safetensors"), "cpu", 1, Reporter("build"))


@pytest.mark.parametrize("runs", [{"paper": {}}, {"paper": {}, "wild": None}], ids=["removed", "null"])
def test_the_pipeline_finds_the_others_once_the_diverged_are_left_out(tmp_path, monkeypatch, runs):
    monkeypatch.chdir(tmp_path)
    write_parameters(tmp_path, lambda section: None)
    with pytest.raises(OnsetError) as told:
        build(*take_step(tmp_path))
    assert "linattn/fig3_population: the loss of run wild, seed 0, seed 1 and seed 2 is not" in str(
        told.value
    )
    assert "with `linattn.fig3_population.runs.wild: null` at scale paper, nothing of" in str(told.value)
    write_parameters(tmp_path, lambda section: section.update(runs=runs))
    project, step = take_step(tmp_path)
    place = step.stored(project.store)
    kept = read_result(place)
    weights, attributes = read_checkpoint(place.with_suffix(".safetensors"))
    assert kept.attrs["onset_recipe"] == attributes["onset_recipe"] == step.recipe
    assert list(kept["run"].values) == ["paper"] and list(weights) == ["paper.K", "paper.Q", "paper.v"]
    for path in place.parent.iterdir():
        path.unlink()
    build(project, step)
    assert read_result(place).identical(kept)
