"""Guarantees of the race of silent heads.

- the blow-up time is where the ODE solver's v becomes infinite, for starts of either sign, with and without
  a turning point; an aligned head has the scalar flow's 1/(b v0)
- it scales as one over the start, and is unchanged by the symmetries (v, k) and (k, q) -> their negatives
- what nothing drives never blows up
- the winner of the race and the first drop are those of the full population flow of ATTN_S, for many starts
- further drops are predicted in order at a small start; when heads run out there are no more
- flow rates of ATTN_S are -1/2 of the loss's gradient (autograd)
"""

import numpy as np
import pytest
import torch

from onset.dynamics.integrate import integrate_flow
from onset.papers.linattn.theory.fixed_points import compute_head_values
from onset.papers.linattn.theory.flow import compose_separate_map, flow_separate
from onset.papers.linattn.theory.heads import (
    compute_silent_blow_up_time,
    find_first_winner,
    flow_silent_heads,
    predict_drops,
)
from onset.papers.linattn.theory.landscape import compute_loss, describe_query_loss

LAM = np.array([0.4, 0.3, 0.2, 0.1])
LANDSCAPE = describe_query_loss(LAM, 31)


def draw_start(std, heads=5, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    shape = (heads, 4) if rank is None else (heads, rank, 4)
    return std * rng.normal(size=heads), std * rng.normal(size=shape), std * rng.normal(size=shape)


@pytest.mark.parametrize("seed", range(4))
def test_blow_up_time_is_the_solvers(seed):
    v, k, q = draw_start(0.03, seed=seed)
    for i in range(5):
        time = compute_silent_blow_up_time(v[i], k[i], q[i], LANDSCAPE.b)
        found = integrate_flow(
            lambda _, s: flow_silent_heads(**s, force=LANDSCAPE.b),
            {"v": v[i], "k": k[i], "q": q[i]},
            [0.0, time * (1 - 1e-4)],
            label="silent",
            rtol=1e-10,
        )
        # At distance eps of the blow-up |v| = 1/(b_1 eps), up to the slower directions.
        left = 1 / (LANDSCAPE.b[0] * np.abs(found["v"][-1]))
        assert left / time == pytest.approx(1e-4, rel=5e-3)


def test_both_kinds_of_path_were_met():
    signs = set()
    for seed in range(4):
        v, k, q = draw_start(0.03, seed=seed)
        signs |= {(bool(a > 0), bool(b > 0)) for a, b in zip(v, (k * q) @ LANDSCAPE.b, strict=True)}
    assert len(signs) == 4


def test_aligned_head_is_the_scalar_flow():
    for d in range(4):
        k = 0.02 * np.eye(4)[d]
        time = compute_silent_blow_up_time(0.02, k, k, LANDSCAPE.b)
        assert time == pytest.approx(1 / (LANDSCAPE.b[d] * 0.02), rel=1e-7)


def test_time_scales_as_one_over_the_start():
    v, k, q = draw_start(1.0, seed=7)
    one = compute_silent_blow_up_time(v[0], k[0], q[0], LANDSCAPE.b)
    assert compute_silent_blow_up_time(v[0] / 9, k[0] / 9, q[0] / 9, LANDSCAPE.b) == pytest.approx(9 * one)


def test_symmetries():
    v, k, q = draw_start(1.0, seed=8)
    one = compute_silent_blow_up_time(v[0], k[0], q[0], LANDSCAPE.b)
    for sv, sk, sq in ((-1, -1, 1), (-1, 1, -1), (1, -1, -1)):
        other = compute_silent_blow_up_time(sv * v[0], sk * k[0], sq * q[0], LANDSCAPE.b)
        assert other == pytest.approx(one, rel=1e-7)


def test_heads_that_nothing_drives_stay():
    zero, k = np.zeros(4), np.full(4, 0.1)
    assert compute_silent_blow_up_time(0.0, zero, zero, LANDSCAPE.b) == np.inf
    assert compute_silent_blow_up_time(0.3, zero, zero, LANDSCAPE.b) == np.inf
    assert compute_silent_blow_up_time(0.3, k, k, zero) == np.inf
    assert compute_silent_blow_up_time(0.0, k, zero, LANDSCAPE.b) == np.inf


def run_flow(v, k, q, times):
    return integrate_flow(
        lambda _, s: flow_separate(**s, landscape=LANDSCAPE),
        {"v": v, "K": k[:, None], "Q": q[:, None]},
        times,
        label="separate",
        rtol=1e-8,
    )


def test_first_winner_and_drop_are_those_of_the_full_flow():
    errors = []
    for seed in range(16):
        v, k, q = draw_start(0.01, seed=seed)
        drops = predict_drops(v, k, q, LANDSCAPE)
        times = np.linspace(0, 1.3 * drops.blow_up[0], 1301)
        found = run_flow(v, k, q, times)
        losses = compute_loss(compose_separate_map(found["v"], found["K"], found["Q"]), LANDSCAPE)
        fall = -np.gradient(losses, times)
        # The first maximum above a quarter of the greatest fall of an aligned head.
        first = next(i for i in range(1, len(fall) - 1) if fall[i] > 0.003 and fall[i] > fall[i + 1])
        errors.append(times[first] / drops.steepest[0] - 1)
        assert find_first_winner(v, k, q, LANDSCAPE.b).head == drops.heads[0]
        assert np.argmax(np.abs(found["v"][first])) == drops.heads[0]
    assert np.median(np.abs(errors)) < 0.005


def test_all_drops_come_in_the_predicted_order_from_a_small_start():
    v, k, q = draw_start(3e-3, seed=3)
    drops = predict_drops(v, k, q, LANDSCAPE)
    assert sorted(set(drops.heads)) == sorted(drops.heads)
    half = compute_head_values(LANDSCAPE) / 2
    found = run_flow(v, k, q, np.array([0.0, *(drops.steepest * 1.02)]))
    reached = np.abs(found["v"][1:])[:, drops.heads] > half
    np.testing.assert_array_equal(reached, np.tri(4, dtype=bool))
    early = run_flow(v, k, q, np.array([0.0, *(drops.steepest * 0.97)]))
    reached = np.abs(early["v"][1:])[:, drops.heads] > half
    np.testing.assert_array_equal(reached, np.tri(4, k=-1, dtype=bool))


def test_fewer_heads_than_directions():
    drops = predict_drops(*draw_start(0.01, heads=2), LANDSCAPE)
    assert list(drops.heads[2:]) == [-1, -1]
    assert np.all(np.isnan(drops.blow_up[2:])) and np.all(np.isfinite(drops.steepest[:2]))


@pytest.mark.parametrize("rank", [1, 3])
def test_rates_are_the_gradient(rank):
    weights = [torch.from_numpy(w).requires_grad_() for w in draw_start(0.7, rank=rank)]
    A = torch.einsum("h,hri,hrj->ij", *weights)
    a, lam, b = (torch.from_numpy(value) for value in (LANDSCAPE.a, LANDSCAPE.lam, LANDSCAPE.b))
    (lam.sum() - 2 * (A.diagonal() * b).sum() + (A.square() * a[:, None] * lam).sum()).backward()
    rates = flow_separate(*(w.detach().numpy() for w in weights), LANDSCAPE)
    for name, weight in zip(("v", "K", "Q"), weights, strict=True):
        np.testing.assert_allclose(rates[name], -weight.grad.numpy() / 2, atol=1e-12)
