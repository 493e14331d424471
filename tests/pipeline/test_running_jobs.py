"""Running one job, in this process.

- what a job was planned with is checked: a changed source, an input of another recipe, damage to an input, a
  demanded device that is not there, and a training without weights are each refused in one line
- the result carries what is the same at every rebuild, the record what is not
- a job that finds its result made by another build while it waited does not compute it again
"""

import copy
import json
import shutil
import sys

import pytest

READ_SPEC = """
import json, sys
from onset.pipeline.plan import Plan
from onset.pipeline.project import Project
from onset.pipeline.spec import describe_job
plan = Plan(Project.find())
for step in plan.steps("paper"):
    if step.name == sys.argv[1]:
        print(json.dumps(describe_job(step, plan.project.store)))
"""


def describe(toy, name):
    return json.loads(toy.python("-c", READ_SPEC, name))


def train(toy, spec, *options, fails=False):
    """Run a training job as the rule does; what it printed."""
    words = ["train", json.dumps(spec), "--root", str(toy.project), "--result", "out/x.nc"]
    return toy.onset(*words, "--checkpoint", "out/x.safetensors", *options, fails=fails)


@pytest.fixture(scope="module")
def project(built, tmp_path_factory):
    from tests.pipeline.sandbox import Sandbox

    toy = Sandbox.copied(built, tmp_path_factory.mktemp("job"))
    return toy, describe(toy, "fit.seed0-1")


def test_inside_and_beside(project):
    import netCDF4

    toy, spec = project
    train(toy, spec, "--device", "cpu", "--threads", "1")
    with netCDF4.Dataset(toy.project / "out/x.nc") as file:
        assert file.onset_recipe == spec["recipe"]
        assert json.loads(file.onset_params) == spec["parameters"]
        assert json.loads(file.seeds) == {"members": [0, 1], "root": 0}
        assert (file.dtype, file.device_type, file.threads, file.onset_version) == (
            "float64",
            "cpu",
            1,
            "0.1.0",
        )
        assert {"onset_content", "title"} <= set(file.ncattrs())
        content = file.onset_content
    record = json.loads((toy.project / "out/x.nc.prov.json").read_text())
    assert record["content"] == content
    assert set(record) >= {"revision", "rule", "libraries", "python", "device", "seconds", "peak_memory_mb"}
    assert set(record["libraries"]) >= {"torch", "numpy", "xarray", "snakemake"}
    (parent,) = record["ancestry"].values()
    assert parent["step"] == "toy/points" and parent["content"] and parent["sha256"]


@pytest.mark.parametrize(
    "change, words",
    [
        ({"source": "0" * 16}, "changed after this build was planned; run the same command again"),
        ({"needs": {"points": {"recipe": "0" * 16}}}, "carries another recipe than its name says"),
        ({"needs": {"points": {"file": "none.nc"}}}, "none.nc does not exist; rebuild it with: snakemake"),
        ({"needs": {"points": {"file": "damaged.nc"}}}, "damaged.nc is damaged"),
    ],
)
def test_what_was_planned_is_checked(project, change, words):
    toy, spec = project
    (toy.project / "damaged.nc").write_bytes(b"\x89HDF\r\n\x1a\nhalf of a file")
    changed = copy.deepcopy(spec)
    for key, value in change.items():
        if key == "needs":
            changed["needs"]["points"].update(value["points"])
        else:
            changed[key] = value
    text = train(toy, changed, "--device", "cpu", fails=True)
    assert words in text
    assert text.startswith("onset: paper/toy/fit.seed0-1: ")
    assert len(text.strip().splitlines()) == 1


def test_a_demanded_device_that_is_not_there(project):
    toy, spec = project
    toy.settings["CUDA_VISIBLE_DEVICES"] = ""
    text = train(toy, spec, "--device", "cuda", fails=True)
    assert "params.yaml demands device: cuda, but PyTorch finds no CUDA device here" in text


def test_a_training_without_weights(toy):
    toy.edit("src/onset/papers/toy/steps.py", ', {"place": place})', ")")
    text = toy.snakemake("results/paper/toy/fit.nc", fails=True)
    assert "is a train step, but it returned no checkpoint" in text
    assert toy.ran() == ["paper/fit.seed0-1", "paper/fit.seed2-3", "paper/points"]
    toy.git("checkout", "-q", "src")
    toy.audit()


def test_a_result_that_another_build_makes_meanwhile(project):
    """Two processes with one recipe: the second waits for the first, and does not compute."""
    toy, _ = project
    shutil.rmtree(toy.project / "out", ignore_errors=True)
    toy.edit("params.yaml", "steps: 40, rate: 0.1, pause: 0.0", "steps: 40, rate: 0.1, pause: 0.1")
    spec = describe(toy, "fit.seed0-1")
    toy.ran()
    words = ["-m", "onset", "train", json.dumps(spec), "--root", toy.project, "--result", "out/x.nc"]
    words += ["--checkpoint", "out/x.safetensors", "--device", "cpu"]
    toy.settings["PYTHONPATH"] = str(toy.project / "src")
    both = [toy.start(sys.executable, *words) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    del toy.settings["PYTHONPATH"]
    assert toy.ran() == ["paper/fit.seed0-1"]
    told = "".join(process.communicate()[0] for process in both)
    assert told.count("another build made it meanwhile") == 1
    assert not list((toy.project / ".onset/locks").iterdir())
