"""Guarantees of the controls of all papers' claims:

- every claim names a control and says what it measures
- no claim holds on its control, at the small and at the paper's scale: on made-up results of which claims are
  true, and on the small-scale results of this checkout where they are built
- a control leaves the results that it is made from as they are
- on its control a claim fails or stays open because of what was changed, never because a measure broke
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
import xarray as xr
import yaml
from tests.copyhead import test_figures_6_7
from tests.figures import copyhead_inputs, copyhead_results
from tests.gmc import small_maxmargin, synthetic_runs
from tests.linattn import figure_inputs, late_figure_inputs
from tests.sparse import small_flows, synthetic_sparse

from onset.claims.verdict import evaluate

ROOT = Path(__file__).parents[2]
MADE: dict[tuple[str, str], Callable[[], dict[str, xr.Dataset]]] = {
    **{("linattn", figure): make for figure, make in figure_inputs.INPUTS.items()},
    **{("linattn", figure): make for figure, make in late_figure_inputs.INPUTS.items()},
    **{("gmc", figure): make for figure, make in synthetic_runs.INPUTS.items()},
    **{("gmc", f"fig{n}"): small_maxmargin.run_long for n in (10, 11, 12, 13)},
    **{("sparse", figure): make for figure, make in synthetic_sparse.INPUTS.items()},
    **{("sparse", f"fig{n}"): small_flows.inputs for n in (6, 7)},
    **{("copyhead", figure): make for figure, make in copyhead_inputs.INPUTS.items()},
    ("copyhead", "fig3"): copyhead_results.linear_inputs,
    ("copyhead", "fig4"): copyhead_results.softmax_inputs,
    ("copyhead", "fig6"): lambda: test_figures_6_7.make_job("fig6").inputs,
    ("copyhead", "fig7"): lambda: test_figures_6_7.make_job("fig7").inputs,
}

SEEDS_ALIKE = {("linattn", "fig1"): {"mlp-at-the-end"}, ("linattn", "fig3"): {"plateaus-on-own-sets"}}
"""Controls that give a seed the set of another, where all seeds of the made-up results have one set."""


@functools.cache
def read_catalogue():
    return yaml.safe_load((ROOT / "workflow" / "catalogue.yaml").read_text(encoding="utf-8"))["papers"]


def claims_of(paper: str, figure: str):
    module, _, name = read_catalogue()[paper]["figures"][figure]["claims"].partition(":")
    return getattr(import_module(module), name)


def vacuous(rows) -> dict[str, str]:
    return {row["id"]: row["control"]["name"] for row in rows if row["vacuous"]}


def test_every_figure_of_the_papers_is_made():
    papers = {paper for paper, _ in MADE}
    wanted = {
        (paper, figure)
        for paper in papers
        for figure, entry in read_catalogue()[paper]["figures"].items()
        if "claims" in entry
    }
    assert wanted == set(MADE)


@pytest.mark.parametrize(("paper", "figure"), MADE)
def test_every_claim_names_control_and_quantity(paper, figure):
    for claim in claims_of(paper, figure):
        assert claim.control is not None, claim.id
        assert claim.control.name and claim.control.what, claim.id
        assert claim.describe_quantity(), claim.id


@pytest.mark.parametrize(("paper", "figure"), MADE)
def test_no_claim_holds_on_its_control(paper, figure):
    inputs = {role: dataset.copy(deep=True) for role, dataset in MADE[paper, figure]().items()}
    before = {role: dataset.copy(deep=True) for role, dataset in inputs.items()}
    for scale in ("ci", "paper"):
        rows = evaluate(claims_of(paper, figure), inputs, scale)
        assert set(vacuous(rows)) == SEEDS_ALIKE.get((paper, figure), set())
    for role, dataset in inputs.items():
        assert dataset.identical(before[role]), role


@pytest.mark.parametrize(("paper", "figure"), MADE)
def test_no_claim_holds_on_its_control_at_the_small_scale(paper, figure):
    folder = ROOT / "results" / "ci" / paper
    paths = {}
    for role, name in read_catalogue()[paper]["figures"][figure]["needs"].items():
        found = [path for path in (folder / f"{name}.nc", folder / "data" / f"{name}.nc") if path.exists()]
        if not found:
            pytest.skip(f"{name} is not built at the small scale")
        paths[role] = found[0]
    inputs = {role: xr.load_dataset(path) for role, path in paths.items()}
    assert vacuous(evaluate(claims_of(paper, figure), inputs, "ci")) == {}
