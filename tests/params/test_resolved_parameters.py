"""From params.yaml to typed parameters.

- all problems of all scales come in one error, each once, at the place that set the value
- models are closed, strict and immutable: a wrong type is never coerced, an unknown key names the nearest
- a wrong shape of the file itself is an error with a message, never a crash
- this project's own params.yaml is accepted at every scale
"""

import copy
from pathlib import Path

import pytest
from pydantic import Field, ValidationError
from ruamel.yaml import YAML

from onset.errors import OnsetError
from onset.params.base import Grid, PositiveFloat, Section
from onset.params.plotting import Plotting
from onset.params.resolve import PaperSchema, load_parameters
from onset.pipeline.plan import Plan
from onset.pipeline.project import Project

ROOT = Path(__file__).resolve().parents[2]


class Run(Section):
    P: Grid = Field(description="sizes")
    rate: PositiveFloat = Field(description="step size")
    steps: int = Field(ge=1, description="steps")
    deep: bool = Field(description="deep or not")


def check(sections):
    if sections["run"].steps < len(sections["run"].P):
        yield "run.steps", "is below the number of sizes"


PAPERS = {"toy": PaperSchema({"run": Run}, check)}
GOOD = {
    "scale": "paper",
    "device": "cpu",
    "plotting": {"font_size": 8.0, "dpi": 80},
    "toy": {"seed": 0, "run": {"P": [1, 2], "rate": 0.1, "steps": 5, "deep": True}},
    "scales": {"paper": {}, "ci": {"toy": {"run": {"steps": 2}}}},
}


def load(tmp_path, tree):
    path = tmp_path / "params.yaml"
    with open(path, "w") as file:
        YAML(typ="safe", pure=True).dump(tree, file)
    return load_parameters(path, PAPERS, Plotting)


def changed(**paths):
    """GOOD with values put at dotted paths."""
    tree = copy.deepcopy(GOOD)
    for path, value in paths.items():
        *parents, last = path.split("__")
        place = tree
        for key in parents:
            place = place.setdefault(key, {})
        place[last] = value
    return tree


def problems(tmp_path, tree):
    with pytest.raises(OnsetError) as caught:
        load(tmp_path, tree)
    head, *lines = str(caught.value).splitlines()
    assert f"({len(lines)} problem" in head
    return [line.strip() for line in lines]


def test_scales_differ_by_their_overlays_alone(tmp_path):
    found = load(tmp_path, GOOD)
    assert found.scales == ("paper", "ci")
    paper, ci = (found.sections[scale]["toy"]["run"] for scale in found.scales)
    assert paper.steps == 5 and ci.steps == 2
    assert ci.model_copy(update={"steps": 5}) == paper
    assert found.seeds == {"paper": {"toy": 0}, "ci": {"toy": 0}}


def test_every_problem_is_told_once_at_its_place(tmp_path):
    tree = changed(
        plotting__dpi=0,
        toy__run__rat=1.0,
        toy__seed=-1,
        scales__ci__toy__run__rate=-1.0,
        scales__ci__tyo={},
        scale="pap",
        device="gpu",
        papper={},
    )
    assert problems(tmp_path, tree) == [
        "papper unknown key; (known here: device, plotting, scale, scales, toy)",
        "scale = 'pap': unknown scale; did you mean 'paper'? (known here: ci, paper)",
        "device = 'gpu': should be one of auto, cpu, cuda",
        "plotting.dpi = 0: should be greater than or equal to 1 (resolution of PNG files, in dots an inch)",
        "toy.seed = -1: should be an integer of at least 0 (root seed)",
        "toy.run.rat unknown key; did you mean 'rate'? (known here: P, deep, rate, steps)",
        "scales.ci.tyo unknown key; did you mean 'toy'? (known here: plotting, toy)",
        "scales.ci.toy.run.rate = -1.0: should be greater than 0 (step size)",
    ]


@pytest.mark.parametrize(
    "path, value, words",
    [
        ("toy__run__steps", 5.0, "toy.run.steps = 5.0: should be a valid integer"),
        ("toy__run__steps", True, "toy.run.steps = True: should be a valid integer"),
        ("toy__run__rate", "0.1", "toy.run.rate = '0.1': should be a valid number"),
        ("toy__run__rate", float("nan"), "toy.run.rate = nan: should be a finite number"),
        ("toy__run__deep", 1, "toy.run.deep = 1: should be a valid boolean"),
        ("toy__run__P", [1, 2.5], "toy.run.P[1] = 2.5: should be a valid integer"),
        ("toy__run__P", [2, 1], "toy.run.P = [2, 1]: should be strictly increasing, without repeats (sizes)"),
        ("toy__run__P", [], "toy.run.P = []:"),
        ("toy__run", 3, "toy.run should be a mapping, is 3"),
        ("toy", None, "toy should be a mapping, is None"),
        ("plotting", [], "plotting should be a mapping, is []"),
        ("toy__run__steps", 1, "toy.run.steps is below the number of sizes"),
        ("scale", ["ci"], "scale = ['ci']: unknown scale"),
        ("scales", [], "scales should be a mapping with at least the entry `paper: {}`"),
        ("scales__ci", 3, "scales.ci should be a mapping of overlays"),
        ("scales__toy", {}, "a scale cannot have the name of a paper"),
        ("scales__a b", {}, "a scale's name is letters, digits and underscores"),
        ("device", ["cpu"], "device = ['cpu']: should be one of"),
    ],
)
def test_one_problem(tmp_path, path, value, words):
    assert any(words in line for line in problems(tmp_path, changed(**{path: value})))


def test_a_number_for_a_scale(tmp_path):
    tree = copy.deepcopy(GOOD)
    tree["scales"][2] = {}
    assert any("a scale's name is letters" in line for line in problems(tmp_path, tree))


@pytest.mark.parametrize("tree", [None, [], "text", {}])
def test_another_shape_of_the_file(tmp_path, tree):
    assert problems(tmp_path, tree)


def test_what_is_missing_is_told(tmp_path):
    tree = copy.deepcopy(GOOD)
    del tree["toy"]["run"]["rate"], tree["device"], tree["toy"]["seed"]
    assert problems(tmp_path, tree) == [
        "device is missing",
        "toy.seed is missing",
        "toy.run.rate is missing (step size)",
    ]


def test_sections_are_immutable():
    run = Run(P=[1], rate=1.0, steps=1, deep=False)
    with pytest.raises(ValidationError):
        run.steps = 2
    assert run.P == (1,)


def test_the_projects_own_parameters_are_accepted():
    plan = Plan(Project(ROOT, ROOT))
    assert {"paper", "ci"} <= set(plan.scales)
