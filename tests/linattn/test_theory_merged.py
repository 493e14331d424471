"""Guarantees of the theory of merged key-query attention.

- Eq. 10 is the flow of its aligned start (ODE solver), at any eigenvalue of white inputs and for both losses;
  it starts at w_init^2/sqrt(D), ends at the optimum, and has the reference digits; gradient descent tends to
  it in proportion to its step
- from a generic small start it holds with the effective amplitude, and not with the standard deviation
- white loss is the loss of sigma I; other eigenvalues are refused
- a start divided by 100 delays the drop by ln(100)/|Lambda^2|_F; weights grow at that rate
- before the drop A and every U_i point along Lambda^2, afterwards A along the optimal map
- the flow's rates are -1/2 of the loss's gradient (autograd)
"""

import numpy as np
import pytest
import torch

from onset.dynamics.integrate import integrate_flow
from onset.papers.linattn.theory.fixed_points import compute_plateau_losses
from onset.papers.linattn.theory.flow import compose_merged_map, flow_merged
from onset.papers.linattn.theory.landscape import compute_loss, describe_next_token_loss, describe_query_loss
from onset.papers.linattn.theory.merged import (
    compare_direction,
    compute_delay,
    compute_early_direction,
    compute_growth_rate,
    compute_late_direction,
)
from onset.papers.linattn.theory.white import compute_white_loss, project_start, solve_white_course

LAM = np.array([0.4, 0.3, 0.2, 0.1])
LANDSCAPE = describe_query_loss(LAM, 31)


def run_flow(v, U, times, landscape):
    """Maps (time, D, D) and weights of ATTN_M along the population flow."""
    found = integrate_flow(
        lambda _, state: flow_merged(**state, landscape=landscape),
        {"v": v, "U": U},
        times,
        label="merged",
        atol=1e-16,
        rtol=1e-10,
    )
    return compose_merged_map(found["v"], found["U"]), found


def draw_start(std, heads=8, D=4, seed=0):
    rng = np.random.default_rng(seed)
    return std * rng.standard_normal(heads), std * rng.standard_normal((heads, D, D))


@pytest.mark.parametrize(
    "white",
    [
        describe_query_loss([1.0] * 4, 31),
        describe_query_loss([0.25] * 4, 31),
        describe_query_loss([0.7] * 3, 5),
        describe_next_token_loss([0.25] * 4, 31, "tokens"),
    ],
)
def test_white_course_is_the_flow_of_its_aligned_start(white):
    D, w_init = len(white.lam), 0.01
    r = np.array([0.6, -0.64, 0.48])
    v, U = w_init * r, w_init * r[:, None, None] * np.eye(D) / np.sqrt(D)
    times = np.linspace(0, 10 / (np.sqrt(D) * white.b[0]), 30)
    A, _ = run_flow(v, U, times, white)
    sigma = solve_white_course(times, w_init, white)
    np.testing.assert_allclose(A, sigma[:, None, None] * np.eye(D), atol=1e-7 * sigma[-1])
    np.testing.assert_allclose(compute_white_loss(sigma, white), compute_loss(A, white), rtol=1e-6)
    assert sigma[0] == pytest.approx(w_init**2 / np.sqrt(D))


def test_white_course_reference_digits():
    white = describe_query_loss([1.0] * 4, 31)
    found = solve_white_course([3, 3.5, 4, 5, 1e3], 1e-3, white)
    np.testing.assert_allclose(found, [0.07435106, 0.35406417, 0.72131309, 0.85806518, 0.86111111], atol=1e-8)


def test_gradient_descent_tends_to_the_white_course_in_proportion_to_its_step():
    white, w_init, errors = describe_query_loss([1.0] * 4, 31), 1e-3, []
    for rate in (1e-3, 5e-4):
        v, U = np.array([w_init]), w_init * np.eye(4)[None] / 2
        worst = 0.0
        for step in range(1, int(6 / (2 * rate))):
            change = flow_merged(v, U, white)
            v, U = v + 2 * rate * change["v"], U + 2 * rate * change["U"]
            want = solve_white_course(2 * rate * step, w_init, white)
            worst = max(worst, abs(v[0] * U[0, 0, 0] - want))
        errors.append(worst * white.pull[0])
    assert errors[0] < 0.01
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.02)


def test_generic_starts_follow_the_effective_amplitude():
    white, std = describe_query_loss([0.25] * 4, 31), 1e-5
    times = np.linspace(60, 130, 40)
    for seed in range(3):
        v, U = draw_start(std, seed=seed)
        A, _ = run_flow(v, U, [0.0, *times], white)
        sigma = solve_white_course(times, project_start(v, U, white), white)
        mean = np.trace(A[1:], axis1=1, axis2=2) / 4
        # The start's other components are smaller by its size, about 1e-5 relative to 1.
        np.testing.assert_allclose(mean, sigma, atol=1e-4 * sigma[-1])
        wrong = solve_white_course(times, std, white)
        assert np.abs(wrong - mean).max() > 0.1 * sigma[-1]


def test_spectra_that_are_not_white_are_refused():
    with pytest.raises(ValueError, match="equal eigenvalues"):
        solve_white_course(1.0, 1e-3, LANDSCAPE)


def time_of_half_drop(v, U):
    times = np.linspace(0, 160, 4001)
    A, _ = run_flow(v, U, times, LANDSCAPE)
    losses = compute_loss(A, LANDSCAPE)
    half = (1 + compute_plateau_losses(LANDSCAPE)[-1]) / 2
    return float(np.interp(-half, -losses, times))


def test_smaller_starts_are_delayed_by_a_logarithm():
    v, U = draw_start(1e-4)
    delay = time_of_half_drop(v / 100, U / 100) - time_of_half_drop(v, U)
    # The start at 1e-4 feels its own nonlinearity a little.
    assert delay == pytest.approx(compute_delay(100, LANDSCAPE), rel=1e-3)
    assert compute_delay(100, LANDSCAPE) == pytest.approx(24.48, abs=0.005)


def test_small_weights_grow_at_the_rate():
    v, U = draw_start(1e-9)
    _, found = run_flow(v, U, [0.0, 40.0, 50.0], LANDSCAPE)
    rate = np.log(np.linalg.norm(found["v"][2]) / np.linalg.norm(found["v"][1])) / 10
    assert rate == pytest.approx(compute_growth_rate(LANDSCAPE), rel=1e-4)
    assert compute_growth_rate(LANDSCAPE) == pytest.approx(np.linalg.norm(LAM**2))


def test_small_starts_grow_from_their_effective_amplitude():
    v, U = draw_start(1e-9, seed=1)
    _, found = run_flow(v, U, [0.0, 50.0], LANDSCAPE)
    want = project_start(v, U, LANDSCAPE) * np.exp(50 * compute_growth_rate(LANDSCAPE))
    assert np.linalg.norm(found["v"][-1]) == pytest.approx(want, rel=1e-4)


def test_directions_before_and_after_the_drop():
    v, U = draw_start(5.57e-6)
    A, found = run_flow(v, U, [0.0, 45.0, 2000.0], LANDSCAPE)
    early, late = compute_early_direction(LANDSCAPE), compute_late_direction(LANDSCAPE)
    assert compute_loss(A[1], LANDSCAPE) > 0.99
    assert compare_direction(A[1], early) > 0.99999
    fed = np.abs(found["v"][1]) > 0.1 * np.abs(found["v"][1]).max()
    assert compare_direction(found["U"][1][fed], early).min() > 0.999
    assert compare_direction(A[2], late) > 0.9999
    # (4, 3, 2, 1) squared against (1/(4+5/31), ...) is far from parallel.
    assert compare_direction(early, late) < 0.8


def test_rates_are_the_gradient():
    weights = [torch.from_numpy(w).requires_grad_() for w in draw_start(0.7)]
    A = torch.einsum("h,hij->ij", *weights)
    a, lam, b = (torch.from_numpy(value) for value in (LANDSCAPE.a, LANDSCAPE.lam, LANDSCAPE.b))
    (lam.sum() - 2 * (A.diagonal() * b).sum() + (A.square() * a[:, None] * lam).sum()).backward()
    rates = flow_merged(*(w.detach().numpy() for w in weights), LANDSCAPE)
    np.testing.assert_allclose(rates["v"], -weights[0].grad.numpy() / 2, atol=1e-12)
    np.testing.assert_allclose(rates["U"], -weights[1].grad.numpy() / 2, atol=1e-12)
