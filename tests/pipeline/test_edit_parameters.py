"""Edits of params.yaml run what depends on the edited number, and reverting them runs nothing.

- a plotting parameter: figures alone
- a training parameter: training and what follows, never the datasets; by DVC first or by Snakemake first
- published files of other parameters, brought back by an old dvc.lock, are replaced and never taken, also
  where neither Snakemake nor the store has a record
- more seeds: only the new block, the gather and what follows; fewer again: nothing, and no trace of them
- device and titles identify no result: editing them runs nothing
- a number that the scale's overlay hides: nothing; another scale and back: nothing shared is overwritten
"""

import netCDF4
from tests.pipeline.test_first_build import contents

FITS = ["claims/fig1", "paper/fig1", "paper/fit", "paper/fit.seed0-1", "paper/fit.seed2-3"]
CLEAN = "Data and pipelines are up to date"


def test_a_plotting_parameter_runs_figures_alone(toy):
    toy.edit("params.yaml", "font_size: 8.0", "font_size: 9.0")
    toy.dvc("repro")
    assert toy.ran() == ["paper/fig1", "paper/fig2"]
    toy.audit()
    toy.edit("params.yaml", "font_size: 9.0", "font_size: 8.0")
    toy.dvc("repro")
    assert toy.ran() == []
    assert CLEAN in toy.dvc("status")
    toy.snakemake("all")
    assert toy.ran() == []
    toy.audit()
    assert CLEAN in toy.dvc("status")


def test_a_training_parameter_by_dvc_and_back(toy):
    before = contents(toy.project)
    toy.edit("params.yaml", "rate: 0.1", "rate: 0.2")
    toy.dvc("repro")
    assert toy.ran() == FITS
    changed = contents(toy.project)
    assert {str(path) for path in before if before[path] != changed[path]} == {
        "figures/fig4.pdf",
        "figures/paper/toy/fig1.pdf",
        "figures/toy/fig1.pdf",
        "results/paper/toy/checkpoints/fit.safetensors",
        "results/paper/toy/claims/fig1.json",
        "results/paper/toy/fit.nc",
    }
    toy.edit("params.yaml", "rate: 0.2", "rate: 0.1")
    toy.dvc("repro")
    toy.snakemake("all")
    assert toy.ran() == []
    assert CLEAN in toy.dvc("status")
    assert contents(toy.project) == before
    toy.audit()


def test_a_training_parameter_by_snakemake_then_dvc_and_an_old_lock(toy):
    toy.edit("params.yaml", "rate: 0.1", "rate: 0.2")
    toy.snakemake("figures/fig4.pdf")
    assert toy.ran() == FITS
    toy.dvc("repro")
    assert toy.ran() == []
    toy.audit()

    toy.git("checkout", "-q", "dvc.lock")
    toy.dvc("checkout", "--force")
    assert '"rate":0.1' in parameters(toy), "the old result should be back"
    toy.snakemake("all")
    assert toy.ran() == []
    toy.audit()

    toy.dvc("checkout", "--force")
    toy.forget(".onset", ".snakemake")
    assert '"rate":0.1' in parameters(toy), "the old result should be back"
    toy.snakemake("all")
    assert toy.ran() == FITS
    toy.audit()


def test_more_seeds_run_only_the_new_block(toy):
    toy.edit("params.yaml", "seeds: 4", "seeds: 6")
    toy.snakemake("all")
    assert toy.ran() == ["claims/fig1", "paper/fig1", "paper/fit", "paper/fit.seed4-5"]
    assert seeds(toy) == [0, 1, 2, 3, 4, 5]
    toy.forget(".snakemake")
    toy.edit("params.yaml", "seeds: 6", "seeds: 4")
    toy.snakemake("all")
    assert toy.ran() == []
    assert seeds(toy) == [0, 1, 2, 3]
    assert not [path for path in (toy.project / "results").rglob("*") if "seed4" in path.name]
    toy.audit()
    assert CLEAN in toy.dvc("status")


def test_device_and_titles_are_no_part_of_a_result(toy):
    toy.edit("params.yaml", "device: cpu", "device: auto")
    toy.edit("workflow/catalogue.yaml", "title: A walk towards", "title: The walk towards")
    toy.snakemake("all")
    assert toy.ran() == []


def test_another_scale_and_back(toy):
    before = contents(toy.project)
    toy.edit("params.yaml", "scale: paper", "scale: ci")
    toy.dvc("repro")
    assert toy.ran() == [
        "ci/fig1",
        "ci/fig2",
        "ci/fit",
        "ci/fit.seed0-1",
        "ci/line",
        "ci/points",
        "claims/fig1",
    ]
    toy.edit("params.yaml", "steps: 40", "steps: 50")  # the overlay sets the steps at this scale
    toy.dvc("repro")
    toy.snakemake("all_ci")
    assert toy.ran() == []
    toy.edit("params.yaml", "steps: 50", "steps: 40")
    toy.edit("params.yaml", "scale: ci", "scale: paper")
    assert CLEAN in toy.dvc("status")
    after = contents(toy.project)
    assert {path: after[path] for path in before} == before
    toy.snakemake("all", "all_ci")
    assert toy.ran() == []
    toy.audit()


def parameters(toy):
    with netCDF4.Dataset(toy.project / "results/paper/toy/fit.nc") as file:
        return file.onset_params


def seeds(toy):
    with netCDF4.Dataset(toy.project / "results/paper/toy/fit.nc") as file:
        return file["seed"][:].tolist()
