"""Guarantees of the two theory experiments.

- Datasets have the promised dimensions, variables, labels and double precision
- they agree with the functions they are made of, and are the same at every call
- coverage is 1 without noise and that of our reconstruction's reference with it
- a finite width of the prior reaches both
- what does not exist is NaN; progress is counted to its end
- nothing that draws random numbers or trains networks is imported
"""

import io
import subprocess
import sys

import numpy as np
import pytest

from onset.job.context import Job
from onset.job.progress import Reporter
from onset.papers.copyhead.theory.curves import solve_linear, solve_softmax
from onset.papers.copyhead.theory.linear_saddles import minimise_action
from onset.papers.copyhead.theory.model import Model
from onset.papers.copyhead.theory.softmax import compute_softmax_action
from onset.params.copyhead import LinearTheory, Prior, SoftmaxTheory, Task

SECTIONS = {"task": Task(L=16, V=8), "prior": Prior(g_OV=0.03, v=1.0, sigma2=0.5)}
LINEAR = LinearTheory(P_min=20, P_max=180, P_points=17, P=[60, 100], nodes=21)
SOFTMAX = SoftmaxTheory(P_min=10, P_max=100, P_points=31, bins=40, scan=120)


def make_job(own, reporter=None):
    return Job("copyhead", "theory", "test", "0", own, SECTIONS, reporter=reporter)


@pytest.fixture(scope="module")
def linear():
    return solve_linear(make_job(LINEAR))


@pytest.fixture(scope="module")
def softmax():
    return solve_softmax(make_job(SOFTMAX))


@pytest.mark.parametrize("name", ["linear", "softmax"])
def test_every_variable_is_double_and_labelled(name, request):
    dataset = request.getfixturevalue(name)
    for variable in dataset.data_vars.values():
        assert variable.dtype == np.float64
        assert variable.attrs["long_name"] and variable.attrs["units"]
    assert all(coordinate.attrs["long_name"] for coordinate in dataset.coords.values())


def test_linear_dimensions(linear):
    assert list(linear.theory.values) == ["bare", "map", "dressed"]
    np.testing.assert_allclose(linear.P, np.arange(20.0, 181.0, 10.0))
    assert list(linear.P_finite.values) == [60, 100]
    curves = ["c1", "cG", "action", "test_loss", "coverage"]
    curves += ["metastable_c1", "metastable_cG", "metastable_test_loss"]
    assert all(linear[name].dims == ("theory", "P") for name in curves)
    assert all(linear[name].dims == ("P_finite",) for name in ("c1_mean", "cG_mean", "coverage_mean"))
    assert all(linear[name].dims == ("theory",) for name in ("onset", "metastable_from"))


def test_softmax_dimensions(softmax):
    assert list(softmax.branch.values) == ["uniform", "copy"]
    curves = ("aG", "action", "test_loss", "coverage")
    assert all(softmax[name].dims == ("theory", "branch", "P") for name in curves)
    assert softmax.aG_equilibrium.dims == ("theory", "P")
    assert softmax.aG_at_P_c.dims == ("theory", "branch")
    assert all(softmax[name].dims == ("theory",) for name in ("P_c", "P_lower", "P_upper", "barrier"))


def test_linear_curves_leave_zero_at_the_onset_and_lower_the_action(linear):
    ordered = linear.onset < linear.P
    assert bool(((linear.c1 > 0.05) == ordered).all())
    assert bool(((linear.action < 0) == ordered).all())
    assert bool((linear.c1.where(~ordered, 0) == 0).all())


def test_linear_curves_are_the_saddles(linear):
    model = Model(L=16, V=8, g=0.03, v=1.0, sigma2=0.5)
    (saddle,) = minimise_action(np.array([120.0]), model, "map")
    point = linear.sel(theory="map", P=120)
    assert (point.c1, point.cG, point.action) == pytest.approx((*saddle.z, saddle.action), rel=1e-5)


def test_metastable_curves_exist_only_from_their_first_P(linear):
    exists = linear.metastable_c1.notnull()
    assert bool((exists == linear.metastable_cG.notnull()).all())
    assert bool((exists <= (linear.metastable_from <= linear.P)).all())
    assert exists.any("P").all()
    higher = linear.metastable_test_loss > linear.test_loss
    assert bool(higher.where(exists, True).all())


def test_softmax_branches_exist_on_their_side_of_the_spinodals(softmax):
    exists = softmax.aG.notnull()
    assert bool((exists.sel(branch="uniform") == (softmax.P_upper > softmax.P)).all())
    assert bool((exists.sel(branch="copy") == (softmax.P_lower < softmax.P)).all())


def test_softmax_equilibrium_jumps_at_the_first_order_point(softmax):
    uniform, copy = softmax.aG.sel(branch="uniform"), softmax.aG.sel(branch="copy")
    expected = copy.where(softmax.P_c < softmax.P, uniform)
    np.testing.assert_array_equal(softmax.aG_equilibrium, expected)


def test_softmax_action_is_that_of_the_branch(softmax):
    model = Model(L=16, V=8, g=0.03, v=1.0, sigma2=0.5)
    bare = softmax.sel(theory="bare", branch="copy").dropna("P")
    want = compute_softmax_action(bare.aG.values, bare.P.values, model)
    np.testing.assert_allclose(bare.action, want, rtol=1e-5)


def test_coverage_is_whole_without_noise_and_grows_with_order(linear, softmax):
    assert bool((linear.coverage.sel(theory=["bare", "map"]) == 1).all())
    bare = softmax.coverage.sel(theory=["bare", "map"])
    np.testing.assert_allclose(bare.where(bare.notnull(), 1), 1, rtol=1e-4)
    dressed = linear.sel(theory="dressed")
    assert bool((dressed.coverage.where(dressed.c1 == 0, 0) == 0).all())
    ordered = dressed.coverage.where(dressed.c1 > 0, drop=True)
    assert bool((ordered.diff("P") > 0).all()) and float(ordered[-1]) < 1


def test_reference_coverage_of_our_reconstruction(softmax):
    own = LINEAR.model_copy(update={"P": (60, 80, 100, 150)})
    means = solve_linear(make_job(own)).coverage_mean
    # Shares measured along Langevin chains of our reconstruction; they vary by 0.02 between data sets.
    np.testing.assert_allclose(means, [0.16, 0.44, 0.675, 0.92], atol=0.02)
    dressed = softmax.coverage.sel(theory="dressed")
    assert float(dressed.sel(branch="uniform", P=31)) == pytest.approx(0.69, abs=0.006)
    assert float(dressed.sel(branch="copy", P=61)) == pytest.approx(0.99, abs=0.006)


def test_finite_width_of_the_prior_reaches_both_experiments():
    sections = {**SECTIONS, "prior": Prior(g_OV=0.03, v=1.0, sigma2=0.5, d_k=32)}
    linear = solve_linear(Job("copyhead", "theory", "test", "0", LINEAR, sections))
    softmax = solve_softmax(Job("copyhead", "theory", "test", "0", SOFTMAX, sections))
    # d_k = 32: bare pooling jumps at 58, MAP pooling at 79; softmax copies earlier, MAP later.
    np.testing.assert_allclose(linear.onset, [57.97, 79.0, 59.07], atol=0.05)
    np.testing.assert_allclose(softmax.P_c, [32.6, 65.2, 37.4], atol=0.1)


def test_curves_are_the_same_at_every_call(linear, softmax):
    assert linear.identical(solve_linear(make_job(LINEAR)))
    assert softmax.identical(solve_softmax(make_job(SOFTMAX)))


@pytest.mark.parametrize(("solve", "own"), [(solve_linear, LINEAR), (solve_softmax, SOFTMAX)])
def test_progress_reaches_its_total(solve, own):
    log = io.StringIO()
    solve(make_job(own, Reporter("theory", log=log, terminal=io.StringIO())))
    total = log.getvalue().split(" P values to do")[0].split()[-1]
    assert f"{total} of {total} P values done" in log.getvalue()


def test_theory_needs_no_network_library():
    code = "import sys, onset.papers.copyhead.theory.curves; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
