"""Guarantees of the theory of softmax attention.

- the bare action of aG is the V-dimensional one of the softmax of the cheapest logits
- the curve of saddles holds every zero of dS/daG and no other point
- ln Z1 and its moments are those of brute-force integration over all logits (L = 3), of Monte Carlo
  (L = 16), and derivatives of one another
- the dressed curve holds every saddle that an independent scan along the field finds, with its action
- along every branch dF/dP is the explicit derivative of S_data; actions cross at P_c; the spinodals
  bound coexistence; where there is no first-order transition nothing is reported
- the dressed curve becomes the bare one when logit noise is switched off
- reference values of our reconstruction, at L=16 and L=24
"""

import dataclasses
import math
from functools import cache

import numpy as np
import pytest
from scipy.special import softmax

from onset.papers.copyhead.theory import row
from onset.papers.copyhead.theory.data_average import expand_data_action, measure_overlaps
from onset.papers.copyhead.theory.loss import predict_test_loss
from onset.papers.copyhead.theory.model import Model
from onset.papers.copyhead.theory.row import build_row_rule, compute_row_moments
from onset.papers.copyhead.theory.saddle_curve import SaddleCurve
from onset.papers.copyhead.theory.softmax import (
    compute_softmax_action,
    find_softmax_overlaps,
    trace_saddles,
)
from onset.papers.copyhead.theory.softmax_dressed import trace_dressed_saddles

SMALLER = Model(L=16, V=8, g=0.03, v=1.0, sigma2=0.5)
LARGER = dataclasses.replace(SMALLER, L=24)
FORMS = ("bare", "map", "dressed")


@cache
def trace(model, form):
    if form == "dressed":
        return trace_dressed_saddles(model, 150.0, 400, 160)
    return trace_saddles(model, 150.0, 400, form)


def test_action_is_that_of_the_softmax_of_the_cheapest_logits():
    model, P, aG = SMALLER, 45.0, 0.6
    lam = math.log((1 + 15 * aG) / (1 - aG))
    logits = lam * (np.roll(np.eye(16), 1, axis=0) - np.full((16, 16), 1 / 16))
    A = softmax(logits, axis=1)
    overlaps, uniform = measure_overlaps(A), measure_overlaps(np.full((16, 16), 1 / 16))
    assert (overlaps.t - 1) / 15 == pytest.approx(aG)
    want = np.sum(logits**2) / (2 * model.v) + expand_data_action(overlaps, P, model).value
    want -= expand_data_action(uniform, P, model).value
    assert compute_softmax_action(aG, P, model) == pytest.approx(want)


@pytest.mark.parametrize("form", ["bare", "map"])
@pytest.mark.parametrize("P", [20.0, 40.0, 60.0])
def test_curve_holds_every_zero_of_the_slope(form, P):
    aG = np.linspace(1e-5, 0.97, 20_001)
    slope = np.diff(compute_softmax_action(aG, P, SMALLER, form))
    minima = aG[1:-1][(slope[:-1] < 0) & (slope[1:] > 0)]
    maxima = aG[1:-1][(slope[:-1] > 0) & (slope[1:] < 0)]
    curve = trace(SMALLER, form)
    *stable, unstable = (curve.read("aG", branch) for branch in curve.find_branches(P))
    found = np.array([value for value in stable if not math.isnan(value)])
    # A zero is located to the spacing of the scan.
    np.testing.assert_allclose(found, minima, atol=1e-4)
    np.testing.assert_allclose([] if math.isnan(unstable) else [unstable], maxima, atol=1e-4)


def test_curve_at_finite_key_width_holds_a_minimum():
    model = dataclasses.replace(SMALLER, d_k=128.0)
    curve = trace_saddles(model, 100.0, 200)
    best = curve.read("aG", curve.find_branches(60.0)[1])
    around = compute_softmax_action(best + np.array([-1e-3, 0, 1e-3]), 60.0, model)
    assert around.argmin() == 1
    with pytest.raises(ValueError, match="trace_dressed_saddles"):
        trace_saddles(model, 100.0, 200, "dressed")


def test_row_moments_equal_brute_force_integration_over_three_logits():
    model = dataclasses.replace(SMALLER, L=3, v=0.8)
    hs, ht = np.array([0.0, 0.5, 2.0, 6.0]), np.array([0.0, 1.5, 4.0, 15.0])
    moments = compute_row_moments(hs, ht, build_row_rule(model, 160, 15.0))
    x, weight = np.polynomial.hermite_e.hermegauss(80)
    logits = math.sqrt(model.v) * np.stack(np.meshgrid(x, x, x, indexing="ij"))
    A = softmax(logits, axis=0)
    square = (A**2).sum(0)
    density = weight[:, None, None] * weight[:, None] * weight / (2 * math.pi) ** 1.5
    for i in range(len(hs)):
        tilted = density * np.exp(-hs[i] * square + ht[i] * A[0])
        Z = tilted.sum()
        # 65536 quasi-random pairs of other logits, summed in bins, leave 1 to 2 in the fourth decimal.
        assert moments.log_Z[i] == pytest.approx(math.log(Z), abs=3e-4)
        assert moments.square[i] == pytest.approx((tilted * square).sum() / Z, abs=3e-4)
        assert moments.copy[i] == pytest.approx((tilted * A[0]).sum() / Z, abs=3e-4)


def test_row_moments_equal_monte_carlo_over_sixteen_logits():
    hs, ht = np.array([0.3, 1.5]), np.array([1.0, 4.0])
    moments = compute_row_moments(hs, ht, build_row_rule(SMALLER, 160, 10.0))
    A = softmax(np.random.default_rng(0).standard_normal((400_000, 16)), axis=1)
    square = (A**2).sum(1)
    for i in range(2):
        tilt = np.exp(-hs[i] * square + ht[i] * A[:, 0])
        # Relative weights spread by less than 4, hence errors below 4/sqrt(400000) at one deviation.
        assert moments.log_Z[i] == pytest.approx(math.log(tilt.mean()), abs=4e-3)
        assert moments.square[i] == pytest.approx(np.average(square, weights=tilt), abs=2e-3)
        assert moments.copy[i] == pytest.approx(np.average(A[:, 0], weights=tilt), abs=2e-3)


def test_row_moments_are_derivatives_of_the_generating_function():
    hs, ht, step = np.array([0.0, 2.0, 20.0]), np.array([0.5, 10.0, 60.0]), 1e-4
    rule = build_row_rule(SMALLER, 40, 60.0)

    def log_Z(hs, ht):
        return compute_row_moments(hs, ht, rule).log_Z

    moments = compute_row_moments(hs, ht, rule)
    by_hs = (log_Z(hs + step, ht) - log_Z(hs - step, ht)) / (2 * step)
    by_ht = (log_Z(hs, ht + step) - log_Z(hs, ht - step)) / (2 * step)
    np.testing.assert_allclose(moments.square, -by_hs, rtol=1e-7)
    np.testing.assert_allclose(moments.copy, by_ht, rtol=1e-7)


def test_row_without_fields_is_the_prior():
    moments = compute_row_moments(np.zeros(1), np.zeros(1), build_row_rule(SMALLER, 160, 100.0))
    # Normalised; all keys alike (the other keys' nodes are quasi-random: 1e-5).
    assert moments.log_Z[0] == pytest.approx(0, abs=1e-8)
    assert moments.copy[0] == pytest.approx(1 / 16, abs=2e-5)


@pytest.mark.parametrize(("P", "saddles"), [(30.0, 1), (45.0, 3), (60.0, 1)])
def test_dressed_curve_holds_every_saddle_of_a_scan_along_the_field(P, saddles):
    # At fixed P: for each ht solve hs = dS/ds2 by plain iteration; saddles are zeros of ht + dS/dt.
    model, L = SMALLER, SMALLER.L
    ht = np.linspace(0.2, 1.1, 400) ** 2 * 2 * model.pull * P
    ht = np.concatenate([np.linspace(0.001, 0.04, 100) * 2 * model.pull * P, ht])
    rule, hs = build_row_rule(model, 80, ht[-1]), ht / 2
    for _ in range(40):
        moments = compute_row_moments(hs, ht, rule)
        overlaps = find_softmax_overlaps(L * moments.square, L * moments.copy, L)
        data = expand_data_action(overlaps, P, model)
        hs = (hs + data.slopes[0]) / 2
    residual = ht + data.slopes[1]
    action = data.value - hs * overlaps.s2 + ht * overlaps.t - L * moments.log_Z
    action -= expand_data_action(find_softmax_overlaps(1.0, 1.0, L), P, model).value
    crossing = np.flatnonzero(np.diff(np.sign(residual)))
    assert len(crossing) == saddles

    curve = trace_dressed_saddles(model, 150.0, 400, 80)
    found = [branch for branch in curve.find_branches(P) if not math.isnan(branch)]
    assert len(found) == saddles
    share = residual[crossing] / (residual[crossing] - residual[crossing + 1])
    for name, scanned in (("aG", (overlaps.t - 1) / (L - 1)), ("action", action)):
        want = scanned[crossing] * (1 - share) + scanned[crossing + 1] * share
        have = [curve.read(name, branch) for branch in found]
        # Linear interpolation between scan points.
        np.testing.assert_allclose(np.sort(have), np.sort(want), atol=2e-3)


def test_dressed_theory_without_logit_noise_is_the_bare_one():
    # v, g and sigma2 scaled together: x, lam²/v against P/sigma2 stay, only the noise v of the logits goes.
    quiet = dataclasses.replace(SMALLER, v=0.01, g=0.0003, sigma2=0.005)
    dressed = trace_dressed_saddles(quiet, 80.0, 400, 80)
    bare = trace_saddles(quiet, 80.0, 400)
    for P in (25.0, 60.0):
        for have, want in zip(dressed.find_branches(P), bare.find_branches(P), strict=True):
            assert math.isnan(have) == math.isnan(want)
            if not math.isnan(have):
                # Corrections are of relative order v.
                assert dressed.read("aG", have) == pytest.approx(bare.read("aG", want), rel=0.02)
    assert dressed.find_transition().P_c == pytest.approx(bare.find_transition().P_c, rel=0.02)


@pytest.mark.parametrize("form", FORMS)
def test_action_changes_along_a_branch_by_its_explicit_dependence_on_P_only(form):
    curve, step = trace(SMALLER, form), 1e-3
    there = find_softmax_overlaps(1.0, 1.0, SMALLER.L)
    for P in (20.0, 41.5, 90.0):
        for b in range(2):
            branch, up, down = (curve.find_branches(value)[b] for value in (P, P + step, P - step))
            if math.isnan(branch):
                continue
            s2, t = curve.read("s2", branch), 1 + 15 * curve.read("aG", branch)
            here = find_softmax_overlaps(s2, t, SMALLER.L)

            def data(P, here=here):
                values = (
                    expand_data_action(o, P, SMALLER, integrated=form != "map").value for o in (here, there)
                )
                return next(values) - next(values)

            explicit = (data(P + step) - data(P - step)) / (2 * step)
            total = (curve.read("action", up) - curve.read("action", down)) / (2 * step)
            assert total == pytest.approx(explicit, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", [SMALLER, LARGER], ids=["L=16", "L=24"])
def test_actions_cross_at_the_first_order_point_inside_the_spinodals(form, model):
    curve = trace(model, form)
    transition = curve.find_transition()
    assert transition.P_lower < transition.P_c < transition.P_upper
    assert transition.barrier > 1
    for P, sign in ((transition.P_c - 0.1, 1), (transition.P_c + 0.1, -1)):
        uniform, copy, _ = curve.find_branches(P)
        assert sign * (curve.read("action", copy) - curve.read("action", uniform)) > 0
    for P, alive in (
        (transition.P_lower - 0.01, (True, False)),
        (transition.P_lower + 0.01, (True, True)),
        (transition.P_upper - 0.01, (True, True)),
        (transition.P_upper + 0.01, (False, True)),
    ):
        assert tuple(not math.isnan(branch) for branch in curve.find_branches(P)[:2]) == alive


def test_bare_barrier_is_the_height_between_the_two_minima():
    transition = trace(SMALLER, "bare").find_transition()
    uniform, copy = transition.aG_at_P_c
    between = compute_softmax_action(np.linspace(uniform, copy, 4001), transition.P_c, SMALLER)
    assert between.max() - between[0] == pytest.approx(transition.barrier, rel=1e-4)


def test_no_first_order_transition_where_P_only_increases():
    short = Model(L=6, V=5, g=0.3, v=1.0, sigma2=0.5)
    curve = trace_saddles(short, 150.0, 200)
    assert np.all(np.diff(curve.P) > 0)
    transition = curve.find_transition()
    assert all(math.isnan(v) for v in (transition.P_c, transition.P_lower, transition.P_upper))
    uniform, copy, unstable = curve.find_branches(100.0)
    assert math.isnan(unstable) and math.isnan(uniform) != math.isnan(copy)


def test_curve_stretches_beyond_a_grid_that_ends_inside_coexistence():
    for curve in (trace_saddles(SMALLER, 40.0, 200), trace_dressed_saddles(SMALLER, 44.0, 200, 40)):
        assert isinstance(curve, SaddleCurve) and curve.find_transition().P_upper > 45


def test_bins_and_draws_are_fine_enough(monkeypatch):
    coarse = trace(SMALLER, "dressed").find_transition()
    monkeypatch.setattr(row, "LOGIT_STEP", 0.1)
    fine = trace_dressed_saddles(SMALLER, 150.0, 400, 640).find_transition()
    assert coarse.P_c == pytest.approx(fine.P_c, abs=3e-3)
    assert coarse.barrier == pytest.approx(fine.barrier, abs=3e-3)


# Reference values of our reconstruction are given to three decimals (P to one).
AG = [
    ("dressed", 30, 0.008, 0.937),
    ("dressed", 60, 0.802, 0.395),
    ("dressed", 80, 0.853, None),
    ("dressed", 100, 0.878, 0.218),
    ("dressed", 150, 0.908, 0.128),
    ("bare", 60, 0.819, None),
    ("bare", 80, 0.862, None),
    ("bare", 100, 0.885, None),
    ("bare", 150, 0.912, None),
    ("map", 60, 0.827, None),
    ("map", 100, 0.889, None),
    ("map", 150, 0.914, None),
]


@pytest.mark.parametrize(("form", "P", "aG", "loss"), AG)
def test_reference_order_parameters_and_losses_of_our_reconstruction(form, P, aG, loss):
    curve = trace(SMALLER, form)
    (branch,) = (b for b in curve.find_branches(float(P))[:2] if not math.isnan(b))
    found = curve.read("aG", branch)
    assert found == pytest.approx(aG, abs=0.0011)
    if loss is not None:
        overlaps = find_softmax_overlaps(curve.read("s2", branch), 1 + 15 * found, 16)
        assert predict_test_loss(overlaps, P, SMALLER) == pytest.approx(loss, abs=0.0011)


TRANSITIONS = [
    (SMALLER, "bare", 35.0, 32.1, 46.8),
    (SMALLER, "dressed", 41.0, 38.9, 48.0),
    (LARGER, "bare", 33.6, 29.4, 55.9),
    (LARGER, "dressed", 39.1, 36.0, 53.5),
]


@pytest.mark.parametrize(
    ("model", "form", "P_c", "lower", "upper"), TRANSITIONS, ids=lambda value: getattr(value, "L", value)
)
def test_reference_transitions_of_our_reconstruction(model, form, P_c, lower, upper):
    found = trace(model, form).find_transition()
    # The dressed references come from a sampled row expectation: one unit in the last digit.
    tolerance = 0.06 if form == "bare" else 0.12
    assert (found.P_c, found.P_lower, found.P_upper) == pytest.approx((P_c, lower, upper), abs=tolerance)


def test_reference_jumps_and_barriers_of_our_reconstruction():
    smaller, larger = (trace(model, "dressed").find_transition() for model in (SMALLER, LARGER))
    assert smaller.aG_at_P_c == pytest.approx((0.021, 0.630), abs=0.0011)
    assert smaller.barrier == pytest.approx(5, abs=0.5)
    assert larger.barrier == pytest.approx(15, abs=0.5)
