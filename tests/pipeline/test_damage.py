"""Damaged, lost and unwritable files are named, never used, and mended by building again.

- a published file that is truncated, or whose content was altered: `onset verify` says so, a rebuild mends it
  without a job; the same for a record that does not fit, and for a checkpoint
- a store file that is damaged: named and set aside when the next build is planned; damaged between planning
  and job: the job names file and command in one line
- a lost dataset is made again alone; what was computed from it stays
- a results folder that cannot be written: a clear line, older results untouched
"""

import os
import shutil
import signal

import netCDF4
import pytest
from tests.pipeline.test_interruptions import training_jobs, wait_until

FIT = "results/paper/toy/fit.nc"


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def alter(path):
    with netCDF4.Dataset(path, "a") as file:
        file["place"][0, 0] += 1


def misplace(path):
    shutil.copy(path.parent / "line.nc.prov.json", path.with_name("fit.nc.prov.json"))


@pytest.mark.parametrize("harm", [truncate, alter, misplace])
def test_a_damaged_published_file_is_told_and_mended(toy, harm):
    toy.audit()
    path = toy.project / FIT
    whole = path.read_bytes()
    harm(path)
    text = toy.onset("verify", fails=True)
    assert f"{FIT}: damaged" in text
    assert f"snakemake --cores 2 -- {FIT}" in text
    text = toy.snakemake("all")
    assert f"{FIT} is not what its record says" in text
    assert path.read_bytes() == whole
    assert toy.ran() == []
    assert "10 published file(s) checked, 10 ok" in toy.onset("verify")


def test_a_stale_file_is_told(toy):
    toy.edit("params.yaml", "rate: 0.1", "rate: 0.2")
    text = toy.onset("verify", "--scale", "paper", fails=True)
    assert f"{FIT}: stale" in text
    assert "points.nc" not in text


def test_a_damaged_store_file_is_set_aside_and_computed_again(toy):
    path = next((toy.project / ".onset/store/paper/toy/blocks").glob("fit.seed0-1-*.nc"))
    path.chmod(0o644)
    truncate(path)
    next((toy.project / ".onset/store/paper/toy").glob("fit-*.nc")).unlink()
    (toy.project / FIT).unlink()
    text = toy.snakemake("all")
    assert "is damaged; set aside as" in text
    assert toy.ran() == ["paper/fit", "paper/fit.seed0-1"]
    toy.audit()


def test_a_lost_dataset_is_made_again_alone(toy):
    toy.forget(".onset/store/paper/toy/data", "results/paper/toy/data")
    toy.snakemake("all")
    assert toy.ran() == ["paper/points"]
    toy.audit()


def test_an_input_damaged_while_the_build_runs(toy):
    toy.edit("params.yaml", "rate: 0.1, pause: 0.0", "rate: 0.3, pause: 0.05")
    old = (toy.project / FIT).read_bytes()
    build = toy.start("snakemake", "--cores", "2", FIT)
    wait_until(lambda: len(training_jobs(toy)) == 2, build)
    blocks = toy.project / ".onset/store/paper/toy/blocks"
    before = set(blocks.glob("*.nc"))
    stopped = training_jobs(toy)[0]
    os.kill(stopped, signal.SIGSTOP)
    wait_until(lambda: set(blocks.glob("*.nc")) - before, build)
    first = (set(blocks.glob("*.nc")) - before).pop()
    first.chmod(0o644)
    truncate(first)
    os.kill(stopped, signal.SIGCONT)
    text, _ = build.communicate(timeout=60)
    assert build.returncode != 0
    line = next(line for line in text.splitlines() if line.startswith("onset: "))
    assert first.name in line and "is damaged" in line
    assert f"rebuild it with: snakemake --cores 2 -- {FIT}" in line
    assert (toy.project / FIT).read_bytes() == old
    toy.ran()
    toy.snakemake(FIT)
    assert toy.ran() == ["paper/fit", f"paper/{first.name.rpartition('-')[0]}"]


def test_a_results_folder_that_cannot_be_written(toy):
    """A file stands where the folder should be: mode bits would not stop a superuser."""
    toy.edit("params.yaml", "font_size: 8.0", "font_size: 9.0")
    folder = toy.project / "figures/paper/toy"
    shutil.rmtree(folder)
    folder.touch()
    before = {path: path.read_bytes() for path in (toy.project / "results").rglob("*.*")}
    text = toy.snakemake("all", fails=True)
    assert "figures/paper/toy" in text
    assert {path: path.read_bytes() for path in (toy.project / "results").rglob("*.*")} == before
    folder.unlink()
    toy.snakemake("all")
    assert toy.ran() == ["paper/fig1", "paper/fig2"], "over both builds, each job once"
    toy.audit()
