"""Guarantees of fixed points and plateau losses.

- the optimal map is E[Lhat^2]^-1 Lambda and minimises the loss (numerically, over all maps)
- at each of the 2^D sets of directions the gradient of ATTN_S in its weights vanishes (autograd), and their
  losses differ; the full set is the minimum, every other one a saddle
- plateau losses are the losses of those maps, in the order of the eigenvalues, and the paper's digits
- the value of a head that carries one direction, or a group, is where gradient flow of its weights rests
"""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from onset.dynamics.integrate import integrate_flow
from onset.papers.linattn.theory.fixed_points import (
    compute_group_value,
    compute_head_values,
    compute_optimal_map,
    compute_plateau_losses,
    compute_saddle_map,
    list_saddle_sets,
)
from onset.papers.linattn.theory.flow import compose_separate_map, flow_separate
from onset.papers.linattn.theory.landscape import compute_loss, describe_next_token_loss, describe_query_loss

LAM = np.array([0.4, 0.3, 0.2, 0.1])
N = 31
LANDSCAPE = describe_query_loss(LAM, N)


def test_optimal_map_is_the_ridge_like_inverse():
    want = np.linalg.inv(np.diag(LAM) + (np.diag(LAM) + LAM.sum() * np.eye(4)) / N)
    np.testing.assert_allclose(compute_optimal_map(LANDSCAPE), want, rtol=1e-12)


def test_optimal_map_is_where_a_minimiser_ends():
    found = minimize(lambda a: float(compute_loss(a.reshape(4, 4), LANDSCAPE)), np.zeros(16), tol=1e-12)
    np.testing.assert_allclose(found.x.reshape(4, 4), compute_optimal_map(LANDSCAPE), atol=1e-4)


def write_loss(v, K, Q, landscape):
    """The population loss of ATTN_S as a torch function of its weights."""
    A = torch.einsum("h,hri,hrj->ij", v, K, Q)
    a, lam, b = (torch.from_numpy(value) for value in (landscape.a, landscape.lam, landscape.b))
    return lam.sum() - 2 * (A.diagonal() * b).sum() + (A.square() * a[:, None] * lam).sum()


def place_heads(learned, landscape):
    """Rank-one weights (5 heads, D = 4) that carry the given directions, one head each, the rest 0."""
    star = np.cbrt(landscape.b / landscape.pull)
    v, K, Q = np.zeros(5), np.zeros((5, 1, 4)), np.zeros((5, 1, 4))
    for head, d in enumerate(learned):
        v[head] = K[head, 0, d] = Q[head, 0, d] = star[d]
    return v, K, Q


@pytest.mark.parametrize("landscape", [LANDSCAPE, describe_next_token_loss(LAM, N, "tokens")])
def test_all_sets_of_directions_are_fixed_points(landscape):
    losses = []
    for learned in list_saddle_sets(4):
        weights = [torch.from_numpy(w).requires_grad_() for w in place_heads(learned, landscape)]
        loss = write_loss(*weights, landscape)
        loss.backward()
        assert max(float(w.grad.abs().max()) for w in weights) < 1e-14
        want = compute_loss(compute_saddle_map(learned, landscape), landscape)
        assert loss.item() == pytest.approx(float(want), rel=1e-12)
        losses.append(loss.item())
    assert len(losses) == 16
    assert np.diff(np.sort(losses)).min() > 1e-3
    assert np.argmin(losses) == 15


def test_sets_that_are_not_full_are_saddles():
    rng = np.random.default_rng(0)
    for learned in list_saddle_sets(4)[:-1]:
        weights = place_heads(learned, LANDSCAPE)
        here = compute_loss(compute_saddle_map(learned, LANDSCAPE), LANDSCAPE)
        missing = next(d for d in range(4) if d not in learned)
        v, K, Q = (w.copy() for w in weights)
        v[4] = K[4, 0, missing] = Q[4, 0, missing] = 0.1
        assert compute_loss(compose_separate_map(v, K, Q), LANDSCAPE) < here
        noisy = [w + 1e-3 * rng.normal(size=w.shape) * (w != 0) for w in weights]
        if learned:
            assert compute_loss(compose_separate_map(*noisy), LANDSCAPE) > here


@pytest.mark.parametrize(
    ("eigenvalues", "context", "want"),
    [
        ([0.4, 0.3, 0.2, 0.1], 31, [1, 0.640580, 0.377372, 0.209805, 0.135995]),
        (
            np.arange(8, 0, -1) / 36,
            31,
            [1, 0.811263, 0.648977, 0.513012, 0.403176, 0.319166, 0.260454, 0.226009, 0.213346],
        ),
        ([0.35, 0.35, 0.15, 0.15], 31, [1, 0.688730, 0.377459, 0.257200, 0.136942]),
    ],
)
def test_plateau_losses_have_the_papers_digits(eigenvalues, context, want):
    np.testing.assert_allclose(
        compute_plateau_losses(describe_query_loss(eigenvalues, context)), want, atol=6e-7
    )


def test_floor_of_white_inputs():
    assert compute_plateau_losses(describe_query_loss([0.25] * 4, N))[-1] == pytest.approx(5 / 36)


def test_plateaus_of_a_high_dimensional_task():
    law = 1 / np.arange(1, 17)
    losses = compute_plateau_losses(describe_query_loss(law / law.sum(), 127))
    np.testing.assert_allclose(losses[[0, 1, 2, 3, 4, -1]],
                               [1, 0.714069, 0.574690, 0.484044, 0.417684, 0.110117], atol=6e-7)  # fmt: skip


@pytest.mark.parametrize(
    ("scaling", "want"),
    [
        ("context", [1, 0.725027, 0.533082, 0.420689, 0.379520]),
        ("tokens", [1, 0.704164, 0.494810, 0.369398, 0.321321]),
    ],
)
def test_next_token_plateaus(scaling, want):
    losses = compute_plateau_losses(describe_next_token_loss(LAM, N, scaling))
    np.testing.assert_allclose(losses, want, atol=6e-7)


def test_plateaus_do_not_depend_on_the_order_of_the_eigenvalues():
    np.testing.assert_allclose(
        compute_plateau_losses(describe_query_loss(LAM[[2, 0, 3, 1]], N)), compute_plateau_losses(LANDSCAPE)
    )


def test_head_values():
    want = [1.309667, 1.430052, 1.612043, 1.947022]
    np.testing.assert_allclose(compute_head_values(LANDSCAPE), want, atol=6e-7)


@pytest.mark.parametrize(
    ("group", "want"),
    [((0,), 1.309667), ((0, 1), 1.72924), ((2, 3), 2.26176), ((0, 1, 2), 2.10746), ((0, 1, 2, 3), 2.55816)],
)
def test_group_values_are_where_a_head_comes_to_rest(group, want):
    assert compute_group_value(group, LANDSCAPE) == pytest.approx(want, abs=6e-6)
    v, K, Q = np.array([0.3]), np.zeros((1, len(group), 4)), np.zeros((1, len(group), 4))
    for r, d in enumerate(group):
        K[0, r, d] = Q[0, r, d] = 0.3 / np.sqrt(len(group))
    end = integrate_flow(
        lambda _, state: flow_separate(**state, landscape=LANDSCAPE),
        {"v": v, "K": K, "Q": Q},
        [0.0, 4000.0],
        label="one head",
    )
    assert end["v"][-1, 0] == pytest.approx(compute_group_value(group, LANDSCAPE), rel=1e-6)
