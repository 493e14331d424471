"""Guarantees of the theory experiment.

- dimensions, double precision, labels; NaN beyond a task's own dimension
- numbers are those of the functions they are made of; the order of tasks does not change them
- Monte Carlo estimates agree with the formulas to their errors; without draws they are NaN
- nothing that trains networks is imported
"""

import subprocess
import sys

import numpy as np
import pytest

from onset.job.context import Job
from onset.papers.linattn.theory.curves import solve_theory
from onset.papers.linattn.theory.fixed_points import compute_plateau_losses
from onset.papers.linattn.theory.landscape import describe_next_token_loss, describe_query_loss
from onset.params.linattn import NextToken, Task, Theory

SECTIONS = {
    "base_task": Task(N=31, eigenvalues=[0.4, 0.3, 0.2, 0.1]),
    "white_task": Task(N=31, law="white", D=4, trace=1.0),
    "high16_task": Task(N=127, law="inverse", D=16, trace=1.0),
    "odd_task": Task(N=20, eigenvalues=[0.5, 0.2, 0.15, 0.1, 0.05]),
    "next_token": NextToken(scaling="tokens"),
}


def solve(draws, names=None):
    sections = {name: SECTIONS[name] for name in names or SECTIONS}
    return solve_theory(Job("linattn", "theory", "test", "0", Theory(draws=draws), sections))


@pytest.fixture(scope="module")
def theory():
    return solve(20_000)


def test_dimensions_and_labels(theory):
    assert list(theory["task"].values) == ["base_task", "white_task", "high16_task", "odd_task"]
    assert dict(theory.sizes) == {"task": 4, "direction": 16, "plateau": 17, "factor": 3}
    assert list(theory["dimension"].values) == [4, 4, 16, 5]
    assert list(theory["context"].values) == [31, 31, 127, 20]
    for variable in theory.data_vars.values():
        assert variable.dtype == np.float64
        assert variable.attrs["long_name"] and variable.attrs["units"]
    assert all(coordinate.attrs["long_name"] for coordinate in theory.coords.values())


def test_numbers_are_those_of_the_functions(theory):
    lam = np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    odd = theory.sel(task="odd_task")
    np.testing.assert_array_equal(odd["eigenvalue"][:5], lam)
    np.testing.assert_array_equal(
        odd["plateau_loss"][:6], compute_plateau_losses(describe_query_loss(lam, 20))
    )
    want = compute_plateau_losses(describe_next_token_loss(lam, 20, "tokens"))
    np.testing.assert_array_equal(odd["next_token_plateau_loss"][:6], want)
    assert bool(odd["plateau_loss"][6:].isnull().all()) and bool(odd["value"][5:].isnull().all())
    np.testing.assert_allclose(odd["c_factor"], odd["squared_eigenvalue"] / odd["eigenvalue"] ** 2)
    np.testing.assert_allclose(odd["late_map"], odd["value"] ** 3)


def test_ends_of_the_mixture(theory):
    white = theory.sel(task="white_task")
    assert float(white["in_weight_floor"]) == pytest.approx(2 / 33)
    assert float(white["in_weight_in_context_loss"]) == pytest.approx(1 + 31 / 33 * 1.5)
    assert float(white["in_weight_least"]) == pytest.approx(1 / 78.5)


def test_estimates_agree_with_the_formulas(theory):
    small = theory.where(theory["dimension"] <= 8, drop=True)
    # 2e4 sequences: 0.5 % of a_d, and about as much of a loss.
    ratio = small["squared_eigenvalue_sampled"] / small["squared_eigenvalue"]
    assert float(np.abs(ratio - 1).max()) < 0.02
    apart = np.abs(small["plateau_loss_sampled"] - small["plateau_loss"])
    assert float(apart.max()) < 0.01
    assert bool(theory["squared_eigenvalue_sampled"].sel(task="high16_task").isnull().all())


def test_distance_to_regression_falls_with_the_context(theory):
    base = theory["regression_distance"].sel(task="base_task").isel(direction=slice(4))
    assert bool((base.diff("factor") < 0).all())
    np.testing.assert_allclose(base.sel(factor=1), [0.42, 0.18, 0.12, 0.13], rtol=0.12)


def test_without_draws_there_are_no_estimates(theory):
    plain = solve(0)
    for name in ("squared_eigenvalue_sampled", "plateau_loss_sampled", "regression_distance"):
        assert bool(plain[name].isnull().all())
    np.testing.assert_array_equal(plain["plateau_loss"], theory["plateau_loss"])


def test_a_task_does_not_depend_on_the_others(theory):
    alone = solve(20_000, ["next_token", "base_task"])
    assert alone.squeeze("task").equals(
        theory.sel(task="base_task")
        .isel(direction=slice(4), plateau=slice(5))
        .assign_coords(task="base_task")
    )


def test_theory_needs_no_network_library():
    code = "import sys, onset.papers.linattn.theory.curves; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
