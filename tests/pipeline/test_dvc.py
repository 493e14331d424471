"""Results travel with DVC, and what arrives is not computed again.

- `dvc push`, a fresh clone, `dvc pull`: the figure needs no job; there an edit runs exactly its dependants
  and a revert nothing
- results pulled without their datasets are not trained again
- a clone without any data builds the small scale, and its dvc.yaml is in step with the catalogue
- experiments, at once and queued, run dependants only; an applied one leaves nothing to do
- the shorthand copies of figures follow when DVC brings an old result back
"""

import pytest
from tests.pipeline.sandbox import Sandbox
from tests.pipeline.test_edit_parameters import CLEAN


@pytest.fixture
def clone(toy):
    """A fresh clone of the project, whose results were pushed to a remote."""
    toy.dvc("remote", "add", "-d", "shelf", str(toy.base / "shelf"))
    toy.commit("A remote")
    toy.dvc("push")
    toy.git("clone", "-q", ".", str(toy.base / "clone"))
    return Sandbox(toy.base, toy.base / "clone")


def test_pulled_results_need_no_job(clone):
    clone.dvc("pull")
    clone.snakemake("figures/fig4.pdf")
    assert clone.ran() == []
    assert CLEAN in clone.dvc("status")
    clone.edit("params.yaml", "offset: 0.0", "offset: 0.5")
    clone.snakemake("figures/fig4.pdf")
    assert clone.ran() == ["claims/fig1", "paper/fig1", "paper/line"]
    clone.edit("params.yaml", "offset: 0.5", "offset: 0.0")
    clone.snakemake("figures/fig4.pdf")
    assert clone.ran() == []
    clone.audit()


def test_results_without_their_datasets_are_not_trained_again(clone):
    clone.dvc("pull", "results-toy@paper")
    clone.snakemake("all")
    assert clone.ran() == ["claims/fig1", "paper/fig1", "paper/fig2", "paper/points"]
    clone.audit()


def test_a_clone_without_data_builds_the_small_scale(clone):
    assert "dvc.yaml is in step" in clone.onset("dvc")
    clone.snakemake("all_ci")
    assert clone.ran() == [
        "ci/fig1",
        "ci/fig2",
        "ci/fit",
        "ci/fit.seed0-1",
        "ci/line",
        "ci/points",
        "claims/fig1",
    ]
    clone.audit()


def test_experiments_run_dependants_only(toy):
    toy.dvc("exp", "run", "-S", "toy.fig1.colour=red")
    assert toy.ran() == ["paper/fig1"]
    toy.git("checkout", "-q", "params.yaml", "dvc.lock")
    toy.dvc("exp", "run", "--queue", "--name", "painted", "-S", "toy.fig2.colour=red")
    toy.dvc("exp", "run", "--run-all")
    assert toy.ran() == ["paper/fig2"]
    toy.dvc("exp", "apply", "painted")
    assert "colour: red" in (toy.project / "params.yaml").read_text()
    toy.snakemake("all")
    assert toy.ran() == []
    toy.audit()


def test_shorthand_copies_follow_what_dvc_brings_back(toy):
    toy.edit("params.yaml", "font_size: 8.0", "font_size: 9.0")
    toy.dvc("repro")
    toy.edit("params.yaml", "font_size: 9.0", "font_size: 8.0")
    toy.dvc("repro")
    canonical = toy.project / "figures/paper/toy/fig1.pdf"
    assert (toy.project / "figures/fig4.pdf").read_bytes() == canonical.read_bytes()
