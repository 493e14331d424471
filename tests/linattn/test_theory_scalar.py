"""Guarantees of the scalar flow of one head.

- the closed-form time is the quadrature of dv/(b v^2 - a lam v^5); it is additive
- v(t) is the solver's, forwards and backwards in time, from far below v* to within 1e-9 of it
- the flow rests at v*; the loss falls fastest where stated
- a small start blows up at 1/(b v0), before which the flow is at a share of v* by the stated lead
- it is the flow of a rank-one head aligned with a direction
- values outside (0, v*) are refused
"""

import numpy as np
import pytest
from scipy.integrate import quad

from onset.dynamics.integrate import integrate_flow
from onset.papers.linattn.theory.fixed_points import compute_head_values
from onset.papers.linattn.theory.flow import flow_aligned, flow_separate
from onset.papers.linattn.theory.landscape import describe_next_token_loss, describe_query_loss
from onset.papers.linattn.theory.scalar import (
    STEEPEST_SHARE,
    compute_blow_up_time,
    compute_lead,
    compute_scalar_time,
    solve_scalar_flow,
)

LAM = np.array([0.4, 0.3, 0.2, 0.1])
LANDSCAPE = describe_query_loss(LAM, 31)
STAR = compute_head_values(LANDSCAPE)


@pytest.mark.parametrize("direction", range(4))
@pytest.mark.parametrize("shares", [(0.01, 0.5), (0.3, 0.9), (0.5, 0.9999), (0.9, 0.2)])
def test_time_is_the_quadrature(direction, shares):
    begin, end = np.array(shares) * STAR[direction]
    b, pull = LANDSCAPE.b[direction], LANDSCAPE.pull[direction]
    want = quad(lambda v: 1 / (b * v**2 - pull * v**5), begin, end, epsrel=1e-11)[0]
    assert compute_scalar_time(end, begin, direction, LANDSCAPE) == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("landscape", [LANDSCAPE, describe_next_token_loss(LAM, 31, "context")])
def test_values_are_the_solvers(landscape):
    v0 = np.full(4, 0.05)
    times = np.linspace(0, 1 / (landscape.b.min() * 0.05) * 1.2, 50)
    found = integrate_flow(
        lambda _, s: {"v": flow_aligned(s["v"], landscape)},
        {"v": v0},
        times,
        label="scalar",
        rtol=1e-11,
        atol=1e-13,
    )["v"]
    for d in range(4):
        # Long steps near v* leave the solver's interpolant with an error of 3e-7.
        np.testing.assert_allclose(solve_scalar_flow(times, 0.05, d, landscape), found[:, d], rtol=1e-6)


@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.5, 0.99, 1 - 1e-9])
def test_values_undo_times(share):
    start = 0.5 * STAR[2]
    time = compute_scalar_time(share * STAR[2], start, 2, LANDSCAPE)
    assert solve_scalar_flow(time, start, 2, LANDSCAPE) / STAR[2] == pytest.approx(share, rel=1e-9)


def test_flow_rests_at_the_head_value():
    np.testing.assert_allclose(flow_aligned(STAR, LANDSCAPE), 0, atol=1e-15)
    assert solve_scalar_flow(1e6, 0.1, 0, LANDSCAPE) == pytest.approx(STAR[0], rel=1e-14)


def test_arrays_broadcast():
    times, starts = np.linspace(0, 50, 5), np.array([[0.1], [0.5]]) * STAR[1]
    assert solve_scalar_flow(times, starts, 1, LANDSCAPE).shape == (2, 5)


def test_loss_falls_fastest_at_the_stated_share():
    v = np.linspace(0.5, 1, 100_001)[1:-1] * STAR[0]
    b, pull = LANDSCAPE.b[0], LANDSCAPE.pull[0]
    fall = (6 * b * v**2 - 6 * pull * v**5) * (b * v**2 - pull * v**5)
    assert v[np.argmax(fall)] / STAR[0] == pytest.approx(STEEPEST_SHARE, abs=1e-5)


@pytest.mark.parametrize("share", [0.2, 0.5, STEEPEST_SHARE])
def test_lead_is_the_limit_of_small_starts(share):
    v0 = 1e-5 * STAR[3]
    reached = compute_scalar_time(share * STAR[3], v0, 3, LANDSCAPE)
    lead = compute_blow_up_time(v0, 3, LANDSCAPE) - reached
    # Differences of times near 1e5/(b v*): the next term is of relative order u0^2.
    assert lead == pytest.approx(compute_lead(share, 3, LANDSCAPE), rel=1e-5)
    assert lead > 0


def test_halving_a_small_start_doubles_its_plateau():
    times = [compute_scalar_time(0.5 * STAR[0], v0, 0, LANDSCAPE) for v0 in (0.02, 0.01)]
    assert times[1] / times[0] == pytest.approx(2, abs=0.05)


def test_it_is_the_flow_of_an_aligned_head():
    v, K, Q = np.zeros(2), np.zeros((2, 1, 4)), np.zeros((2, 1, 4))
    for head, d in enumerate((1, 3)):
        v[head] = K[head, 0, d] = Q[head, 0, d] = 0.4 * (head + 1)
    rates = flow_separate(v, K, Q, LANDSCAPE)
    spread = np.zeros(4)
    spread[[1, 3]] = v
    np.testing.assert_allclose(rates["v"], flow_aligned(spread, LANDSCAPE)[[1, 3]], rtol=1e-13)
    np.testing.assert_allclose(rates["K"][0, 0], rates["v"][0] * np.eye(4)[1], atol=1e-15)
    np.testing.assert_allclose(rates["Q"][1, 0], rates["v"][1] * np.eye(4)[3], atol=1e-15)


@pytest.mark.parametrize("bad", [0.0, -0.1, 1.4])
def test_values_outside_the_range_are_refused(bad):
    with pytest.raises(ValueError, match="between 0 and v"):
        solve_scalar_flow(1.0, bad, 0, LANDSCAPE)
    with pytest.raises(ValueError, match="between 0 and v"):
        compute_scalar_time(bad, 0.1, 0, LANDSCAPE)
