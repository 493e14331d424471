"""An entry may need an experiment of another paper, written `paper/experiment`.

- the step's recipe follows that experiment's parameters; its input is that experiment's file, made first
- dvc.yaml makes the other paper's published file a dependency
- an unknown paper or experiment, and a circle through two papers, are refused in a line each
"""

import shutil
from pathlib import Path

import pytest

from onset.errors import OnsetError
from onset.pipeline.catalogue import load_catalogue, locate
from onset.pipeline.dvcfile import format_dvc
from onset.pipeline.plan import Plan
from onset.pipeline.project import Project

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def plan():
    return Plan(Project(ROOT, ROOT))


def write(folder, **needs):
    """A catalogue of papers, each with one experiment `a` that needs what is given."""
    lines = ["papers:"]
    for paper, need in needs.items():
        lines += [
            f"  {paper}:",
            "    title: t",
            "    reference: r",
            "    experiments:",
            "      a:",
            "        {kind: theory, title: t, code: 'onset.x:f', parameters: 'onset.x:P',",
            f"        needs: {{{need}}}}}",
            "    figures: {}",
        ]
    path = folder / "catalogue.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_locate():
    assert locate("one", "a") == ("one", "a")
    assert locate("one", "two/a") == ("two", "a")


def test_need_is_the_other_papers_step(plan):
    steps = plan.steps("ci")
    step = steps.find("atlas", "emergence")
    assert step.needs["gmc"] is steps.find("gmc", "base_runs")
    assert step.needs["linear"].stored(Path("store")).parts[:3] == ("store", "ci", "copyhead")
    order = [(s.paper, s.name) for s in steps]
    assert order.index(("copyhead", "linear_sgld")) < order.index(("atlas", "emergence"))


def test_recipe_follows_the_other_papers_parameters(tmp_path):
    for name in ("workflow", "src"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "params.yaml", tmp_path)
    before = Plan(Project(tmp_path, tmp_path)).steps("paper")
    text = (tmp_path / "params.yaml").read_text()
    head, mark, tail = text.partition("  fig3_runs:\n")
    (tmp_path / "params.yaml").write_text(head + mark + tail.replace("seeds: 6", "seeds: 5", 1))
    if (tmp_path / "params.yaml").read_text() == text:
        pytest.fail("the test edits `seeds` of linattn.fig3_runs; adapt it to params.yaml")
    after = Plan(Project(tmp_path, tmp_path)).steps("paper")
    assert before.find("atlas", "emergence").recipe != after.find("atlas", "emergence").recipe
    assert before.find("gmc", "base_runs").recipe == after.find("gmc", "base_runs").recipe


def test_dvc_depends_on_the_other_papers_file(plan):
    text = format_dvc(plan.catalogue)
    stage = text[text.index("data-atlas:") : text.index("figures-atlas:")]
    assert "results/${item.scale}/gmc/base_runs.nc" in stage


@pytest.mark.parametrize(
    "needs, message",
    [
        ({"one": "x: two/b", "two": ""}, "one.a needs 'two/b', which is no experiment of two"),
        ({"one": "x: three/a"}, "one.a needs 'three/a', which is no experiment of three"),
        ({"one": "x: two/a", "two": "x: one/a"}, "one: one/a needs two/a needs one/a, a circle"),
        ({"one": "x: a"}, "one: a needs a, a circle"),
    ],
)
def test_wrong_needs_are_refused(tmp_path, needs, message):
    with pytest.raises(OnsetError) as refused:
        load_catalogue(write(tmp_path, **needs))
    assert message in str(refused.value)
