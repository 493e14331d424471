"""Guarantees of the theory experiments behind landscapes, clusters, finite width and the phase diagram.

- Datasets have the promised dimensions and variables, double and labelled, and are the same at every call
- minima of landscapes are minima of the grids, which have the symmetry (c1, cG) -> (-c1, -cG)
- clusters hold the reference losses of our reconstruction, higher in the metastable state
- finite width agrees with infinite width where heads are wide, and MAP with neither
- the diagram's axes cross at the base model, which is that of the curves; linear onsets depend on g v only
- a first-order point moves with v and g_OV; what does not exist is NaN
"""

import math

import numpy as np
import pytest

from onset.job.context import Job
from onset.papers.copyhead.theory.clusters import solve_clusters
from onset.papers.copyhead.theory.finite_width import solve_finite_width
from onset.papers.copyhead.theory.landscapes import solve_landscapes
from onset.papers.copyhead.theory.model import Model
from onset.papers.copyhead.theory.phases import solve_phases
from onset.papers.copyhead.theory.softmax import compute_softmax_action, trace_saddles
from onset.papers.copyhead.theory.softmax_dressed import trace_dressed_saddles
from onset.params.copyhead import Clusters, FiniteWidth, Landscapes, PhaseDiagram, Prior, Task

SECTIONS = {"task": Task(L=16, V=8), "prior": Prior(g_OV=0.03, v=1.0, sigma2=0.5)}
BASE = Model(L=16, V=8, g=0.03, v=1.0, sigma2=0.5)
SOLVE = {
    "landscapes": (
        solve_landscapes,
        Landscapes(linear_P=[50, 80, 200], softmax_P=[28, 35, 60], c1_max=1.3, cG_max=0.9, points=53),
    ),
    "clusters": (solve_clusters, Clusters(P=[100, 200, 400, 600])),
    "widths": (solve_finite_width, FiniteWidth(P_min=40, P_max=140, P_points=6, d_k=[32, 100_000])),
    "phases": (
        solve_phases,
        PhaseDiagram(v=[0.5, 1.0, 2.0], g_OV=[0.03, 0.06, 0.1], L=[3, 12, 16], P_max=100, bins=40, scan=80),
    ),
}


def solve(name, sections=SECTIONS):
    function, own = SOLVE[name]
    return function(Job("copyhead", name, "test", "0", own, sections))


@pytest.fixture(scope="module")
def solved():
    return {name: solve(name) for name in SOLVE}


@pytest.mark.parametrize("name", SOLVE)
def test_datasets_are_double_labelled_and_the_same_at_every_call(name, solved):
    dataset = solved[name]
    for variable in dataset.data_vars.values():
        assert variable.dtype == np.float64
        assert variable.attrs["long_name"] and variable.attrs["units"]
    assert all(coordinate.attrs["long_name"] for coordinate in dataset.coords.values())
    if name != "widths":  # the costliest
        assert dataset.identical(solve(name))


def test_landscape_minima_are_those_of_the_grids(solved):
    found = solved["landscapes"]
    action = found.linear_action
    assert action.dims == ("linear_P", "c1", "cG") and found.linear_c1.dims == ("linear_P", "state")
    np.testing.assert_allclose(action, action[:, ::-1, ::-1])
    for P in found.linear_P:
        grid, best = action.sel(linear_P=P), found.linear_minimum.sel(linear_P=P, state="global")
        lowest = grid.where(grid == grid.min(), drop=True)
        assert float(best) <= float(grid.min()) + 1e-9
        # Spacings are 0.05 and 0.035; the valley is flat only near the onset.
        assert abs(float(found.linear_c1.sel(linear_P=P, state="global"))) == pytest.approx(
            abs(float(lowest.c1[-1])), abs=0.06
        )
    assert bool(found.linear_minimum.sel(linear_P=50, state="global") == 0)
    metastable = found.sel(state="metastable", linear_P=200)
    assert metastable.linear_c1 > 0 > metastable.linear_cG
    assert bool(found.linear_c1.sel(state="metastable", linear_P=80).isnull())


def test_softmax_landscapes_mark_their_minima_and_barrier(solved):
    found = solved["landscapes"]
    assert found.softmax_aG.dims == ("softmax_P", "branch")
    exists = found.softmax_aG.notnull()
    np.testing.assert_array_equal(exists, [[True, False], [True, True], [False, True]])
    np.testing.assert_array_equal(found.softmax_barrier.notnull(), [False, True, False])
    between = compute_softmax_action(np.linspace(0.0, 0.6, 2001), 35.0, BASE)
    middle = found.sel(softmax_P=35)
    assert float(middle.softmax_barrier + middle.softmax_minimum[0]) == pytest.approx(between.max(), rel=1e-4)
    assert 0 < float(middle.softmax_saddle) < float(middle.softmax_aG[1])
    want = compute_softmax_action(middle.softmax_aG.values, 35.0, BASE)
    np.testing.assert_allclose(middle.softmax_minimum, want, rtol=1e-4)


def test_clusters_hold_the_two_losses_of_our_reconstruction(solved):
    found = solved["clusters"]
    assert found.test_loss.dims == ("theory", "state", "P")
    losses = found.test_loss.sel(theory="map", P=[200, 400, 600])
    np.testing.assert_allclose(losses.sel(state="global"), [0.217, 0.056, 0.026], atol=0.0011)
    np.testing.assert_allclose(losses.sel(state="metastable"), [0.392, 0.202, 0.159], atol=0.0011)
    assert bool(found.test_loss.sel(state="metastable", P=100).isnull().all())
    # First appearances on a fine grid: 122.3, 121.4, 128.9.
    np.testing.assert_allclose(found.metastable_from, [122.32, 121.39, 128.92], atol=0.02)


def test_wide_heads_follow_infinite_width_but_not_in_map(solved):
    found = solved["widths"].sel(d_k=100_000)
    assert solved["widths"].softmax_aG.dims == ("theory", "branch", "d_k", "P")
    curves = {
        "bare": trace_saddles(BASE, 140.0, 200),
        "dressed": trace_dressed_saddles(BASE, 140.0, 120, 60),
    }
    for form, curve in curves.items():
        transition = curve.find_transition()
        have = [float(found[f"softmax_{name}"].sel(theory=form)) for name in ("P_c", "P_lower", "P_upper")]
        assert have == pytest.approx((transition.P_c, transition.P_lower, transition.P_upper), rel=1e-3)
    np.testing.assert_allclose(found.linear_onset.sel(theory=["bare", "dressed"]), [65.26, 67.05], atol=0.01)
    # The nuclear norm grows with sqrt(d_k): matched decay on wide factors suppresses all order.
    assert bool((found.linear_c1.sel(theory="map") == 0).all())
    assert math.isnan(found.linear_onset.sel(theory="map"))
    assert float(found.softmax_P_upper.sel(theory="map")) > 140


def test_narrow_heads_order_earlier_and_more(solved):
    found = solved["widths"]
    narrow, wide = (found.sel(d_k=d_k, theory=["bare", "dressed"]) for d_k in (32, 100_000))
    for name in ("linear_onset", "softmax_P_c", "softmax_P_lower"):
        assert bool((narrow[name] < wide[name] - 1).all())
    assert bool((narrow.linear_c1 >= wide.linear_c1).all())
    assert bool((found.linear_test_loss.sel(theory="map") <= 1 + 1e-12).all())


def test_axes_of_the_phase_diagram_cross_at_the_base_model(solved):
    found = solved["phases"]
    for name in ("P_c", "P_lower", "P_upper", "jump", "barrier", "onset"):
        along = [found[f"{name}_{axis}"] for axis in ("v", "g_OV", "L")]
        assert [a.dims for a in along] == [("theory", axis) for axis in ("v", "g_OV", "L")]
        at_base = along[0].sel(v=1.0), along[1].sel(g_OV=0.03), along[2].sel(L=16)
        np.testing.assert_array_equal(at_base[0], at_base[1])
        np.testing.assert_array_equal(at_base[0], at_base[2])
    # Bare and dressed references at L = 16.
    np.testing.assert_allclose(found.P_c_v.sel(v=1.0), [35.05, 41.0], atol=0.02)
    np.testing.assert_allclose(found.barrier_v.sel(v=1.0), [6.12, 5.0], atol=0.02)


def test_linear_onset_depends_on_the_product_of_g_and_v_only(solved):
    found = solved["phases"]
    np.testing.assert_allclose(found.onset_v.sel(v=2.0), found.onset_g_OV.sel(g_OV=0.06), rtol=1e-8)


def test_first_order_point_falls_with_both_variances(solved):
    found = solved["phases"]
    assert bool((found.P_c_v.diff("v") < -5).all()) and bool((found.P_c_g_OV.diff("g_OV") < -3).all())
    for axis in ("v", "g_OV"):
        P_c, lower, upper = (found[f"{name}_{axis}"] for name in ("P_c", "P_lower", "P_upper"))
        assert bool(((lower < P_c) & (P_c < upper)).all())


def test_short_sequences_have_no_first_order_transition(solved):
    found = solved["phases"].sel(L=3)
    assert all(bool(found[f"{name}_L"].isnull().all()) for name in ("P_c", "P_lower", "jump", "barrier"))
    assert bool(found.onset_L.notnull().all())


def test_phase_diagram_of_a_finite_width():
    sections = {**SECTIONS, "prior": Prior(g_OV=0.03, v=1.0, sigma2=0.5, d_k=32)}
    own = PhaseDiagram(v=[1.0], g_OV=[0.03], L=[16], P_max=80, bins=40, scan=60)
    found = solve_phases(Job("copyhead", "phases", "test", "0", own, sections))
    np.testing.assert_allclose(found.onset_v[:, 0], [57.97, 59.07], atol=0.05)
    np.testing.assert_allclose(found.P_c_v[:, 0], [32.62, 37.44], atol=0.1)
