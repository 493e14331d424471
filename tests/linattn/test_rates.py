"""Guarantees of the warnings about learning rates:

- at or below the bound of stability nothing is said, so neither of the project's own parameters;
- above it the warning has key, value and bound, under the key that holds the rate, at the scale that sets it;
- the bound is that of the run's own model, task and loss, and for mixtures that of in-context sequences.
"""

from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from onset.papers.linattn.rates import warn_of_rates
from onset.papers.linattn.spectrum import mean_label_square, square_context_covariance
from onset.papers.linattn.stability import bound_learning_rate
from onset.params.plotting import Plotting
from onset.params.resolve import load_parameters
from onset.pipeline.catalogue import load_catalogue

ROOT = Path(__file__).parents[2]
EIGENVALUES = np.array([0.4, 0.3, 0.2, 0.1])
SECOND = square_context_covariance(EIGENVALUES, 31)


def advise(tmp_path, base=(), ci=()):
    """Warnings at both scales after setting sections' keys in the base and in the overlay of `ci`."""
    raw = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text())
    for section, changes in dict(base).items():
        raw["linattn"][section] |= changes
    for section, changes in dict(ci).items():
        raw["scales"]["ci"]["linattn"].setdefault(section, {}).update(changes)
    with open(tmp_path / "params.yaml", "w") as file:
        YAML(typ="safe", pure=True).dump(raw, file)
    schemas = load_catalogue(ROOT / "workflow/catalogue.yaml").schemas()
    parameters = load_parameters(tmp_path / "params.yaml", schemas, Plotting)
    return {scale: parameters.advise(scale, "linattn", warn_of_rates) for scale in ("paper", "ci")}


def test_the_projects_own_rates_are_below_the_bound(tmp_path):
    assert advise(tmp_path) == {"paper": [], "ci": []}


def test_a_rate_above_the_bound_is_named_with_it(tmp_path):
    label_square = mean_label_square(EIGENVALUES, 31)
    bound = bound_learning_rate("separate", EIGENVALUES, SECOND, label_square=label_square)
    assert advise(tmp_path, {"fig3_runs": {"learning_rate": 0.99 * bound}}) == {"paper": [], "ci": []}
    line = (
        f"linattn.fig3_runs.learning_rate = {1.01 * bound:g}: is above {bound:.4g}, the bound of stability "
        "at the minimum of run set; training may oscillate or diverge"
    )
    assert advise(tmp_path, {"fig3_runs": {"learning_rate": 1.01 * bound}}) == {"paper": [line], "ci": [line]}
    found = advise(tmp_path, ci={"fig3_runs": {"learning_rate": 1.01 * bound}})
    assert found == {"paper": [], "ci": [f"scales.ci.{line}"]}


@pytest.mark.parametrize("rank, label", [(2, "rank2"), (4, "rank4")])
def test_a_runs_own_rate_goes_by_its_own_key(tmp_path, rank, label):
    bound = bound_learning_rate("separate", EIGENVALUES, SECOND, rank=rank)
    runs = {label: {"rank": rank, "learning_rate": 2 * bound}}
    for warned in advise(tmp_path, {"fig11_runs": {"runs": runs}}).values():
        (line,) = warned
        assert line.startswith(
            f"linattn.fig11_runs.runs.{label}.learning_rate = {2 * bound:g}: is above {bound:.4g}"
        )


def test_one_key_of_several_runs_is_told_once_with_the_least_bound(tmp_path):
    bound = bound_learning_rate("separate", EIGENVALUES, SECOND, rank=4)
    (line,) = advise(tmp_path, {"fig11_runs": {"learning_rate": 3.0}})["paper"]
    assert f"= 3: is above {bound:.4g}" in line and "run rank4 (and above that of 2 other runs)" in line


def test_mixtures_are_held_to_the_bound_of_in_context_sequences(tmp_path):
    lam = np.full(4, 0.25)
    label_square = mean_label_square(lam, 31)
    bound = bound_learning_rate("merged", lam, square_context_covariance(lam, 31), label_square=label_square)
    (line,) = advise(tmp_path, {"fig14_runs": {"learning_rate": 1.1 * bound}})["paper"]
    assert line.startswith(f"linattn.fig14_runs.learning_rate = {1.1 * bound:g}: is above {bound:.4g}")
    none = {"fig14_runs": {"learning_rate": 1.1 * bound}, "mixture_sets": {"shares": [0.0, 0.5]}}
    assert advise(tmp_path, none)["paper"] == []


@pytest.mark.parametrize("eigenvalues", [[1e-200, 1e-250], [1e200, 1.0], [1e-320], [1e308, 1e308]])
def test_eigenvalues_beyond_arithmetic_do_no_harm(tmp_path, eigenvalues):
    task = {"base_task": {"N": 31, "eigenvalues": eigenvalues}}
    ranks = {"rank2": {"rank": 1}, "rank3": {"rank": 1}, "rank4": {"rank": 1}}
    assert advise(tmp_path, task | {"fig11_runs": {"rank": 1, "runs": ranks}})["paper"] == []
