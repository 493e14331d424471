"""Where the project lies and what is asked for in one call does not matter.

- two scales in one call; a project path with a space; another working folder with `-s` and `-d`
- an unknown scale, in a path or in params.yaml, is answered with the list of scales
- a path that nothing makes is answered with the nearest one that is made
- two jobs that take the GPU never overlap under the default profile, which states one GPU
"""

import pytest
from tests.pipeline.copy_project import copy_toy_project
from tests.pipeline.sandbox import Sandbox

SMALL = "figures/ci/toy/fig2.pdf"


def test_two_scales_in_one_call_and_a_path_with_a_space(built, tmp_path):
    toy = Sandbox.copied(built, tmp_path / "a folder")
    toy.forget("figures")
    toy.snakemake("figures/fig4.pdf", SMALL)
    assert toy.ran() == ["ci/fig2", "ci/line"]
    assert {"figures/fig4.pdf", SMALL} <= set(toy.audit())
    toy.edit("params.yaml", "offset: 0.0", "offset: 0.5")
    toy.dvc("repro")
    assert toy.ran() == ["claims/fig1", "paper/fig1", "paper/fig2", "paper/line"]


def test_another_working_folder(built, tmp_path):
    toy = Sandbox.copied(built, tmp_path)
    work = tmp_path / "elsewhere"
    work.mkdir()
    before = sorted(toy.project.rglob("*"))
    toy.snakemake("-s", toy.project / "Snakefile", "-d", work, SMALL, cwd=tmp_path)
    assert toy.ran() == ["ci/fig2", "ci/line"]
    assert (work / SMALL).exists()
    assert sorted(path for path in toy.project.rglob("*") if "__pycache__" not in path.parts) == [
        path for path in before if "__pycache__" not in path.parts
    ]
    again = toy.snakemake("-s", toy.project / "Snakefile", "-d", work, SMALL, cwd=tmp_path)
    assert "Nothing to be done" in again


@pytest.mark.parametrize("target", ["figures/huge/toy/fig1.pdf", "figures/huge/fig4.pdf"])
def test_an_unknown_scale_in_a_path(fresh, target):
    text = fresh.snakemake(target, fails=True)
    assert "there is no scale 'huge'" in text
    assert "known here: ci, paper" in text
    assert "most recent call last" not in text
    assert fresh.ran() == []


def test_an_unknown_scale_in_params(tmp_path):
    toy = Sandbox(tmp_path)
    copy_toy_project(toy.project)
    toy.edit("params.yaml", "scale: paper", "scale: papre")
    text = toy.snakemake("all", fails=True)
    assert "did you mean 'paper'? (known here: ci, paper)" in text


def test_a_path_that_nothing_makes(fresh):
    text = fresh.snakemake("results/ci/toy/fitt.nc", fails=True)
    assert "did you mean 'results/ci/toy/fit.nc'" in text
    assert "most recent call last" not in text


GPU_OF_A_STEP = """
import sys
from types import SimpleNamespace
from onset.pipeline.flow import open_flow
flow = open_flow(sys.argv[1], False)
for step in flow.plan.steps("paper"):
    if step.kind in ("train", "theory"):
        name = f"{step.folder}{step.name}"
        wildcards = SimpleNamespace(scale="paper", paper="toy", name=name, recipe=step.recipe)
        print(step.kind, flow.gpu(wildcards))
"""


def test_steps_take_the_gpu_only_where_one_is_demanded(fresh):
    demand = fresh.project / "params.yaml"
    on_cpu = demand.read_text()
    assert set(fresh.python("-c", GPU_OF_A_STEP, str(fresh.project)).splitlines()) == {"train 0", "theory 0"}
    demand.write_text(on_cpu.replace("device: cpu", "device: cuda"))
    try:
        found = fresh.python("-c", GPU_OF_A_STEP, str(fresh.project))
    finally:
        demand.write_text(on_cpu)
    assert set(found.splitlines()) == {"train 1", "theory 0"}


def test_gpu_jobs_never_overlap_with_the_default_profile(toy):
    """`--set-resources` gives the training jobs the GPU that `device: cuda` would, without needing one."""
    toy.edit("params.yaml", "steps: 40, rate: 0.1, pause: 0.0", "steps: 10, rate: 0.1, pause: 0.1")
    toy.settings["TOY_SPANS"] = str(toy.base / "spans.txt")
    toy.run("snakemake", "--cores", "4", "--set-resources", "train:gpu=1", "--", "results/paper/toy/fit.nc")
    spans = [line.split() for line in (toy.base / "spans.txt").read_text().splitlines()]
    (_, _, first_end), (_, second_begin, _) = sorted(spans, key=lambda span: float(span[1]))
    assert float(first_end) < float(second_begin)
