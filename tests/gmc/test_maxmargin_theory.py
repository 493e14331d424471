"""Guarantees of the hard-margin solution and of the limits that follow from it:

- optimality conditions hold to rounding: margins at least 1, multipliers not negative, slack times multiplier
  zero, W_hat the sum of multipliers times x~; a general solver and a hand-made case agree
- data that no W separates give None, and in a job an error that names the seed and A1
- the distance to a hull is that of a quadratic programme; zero inside
- A1 to A4 as counted on hand-made data
- the limit of h and p solves its equation, is where the flow goes at very long times, at the rate predicted
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from tests.gmc import small_maxmargin as small

from onset.errors import OnsetError
from onset.papers.gmc.maxmargin.diagnostics import measure_h
from onset.papers.gmc.maxmargin.geometry import describe_geometry
from onset.papers.gmc.maxmargin.gradient import attend, project_residual
from onset.papers.gmc.maxmargin.hard_margin import measure_hull_distance, solve_hard_margin
from onset.papers.gmc.maxmargin.layout import gather_rivals, read_problems
from onset.papers.gmc.maxmargin.limit import balance, find_slowest_rate, limit_residual
from onset.papers.gmc.maxmargin.selection import choose_seed, list_failing, list_valid, list_with_tail
from onset.papers.gmc.maxmargin.theory import count_rank, find_support


def draw_vectors(K, D, seed=0):
    """Separable constraint vectors: all on one side of a random direction."""
    stream = np.random.default_rng(seed)
    vectors, side = stream.normal(size=(K, D)), stream.normal(size=D)
    return vectors * np.sign(vectors @ side)[:, None]


@pytest.mark.parametrize(("K", "D"), [(1, 3), (6, 12), (12, 6), (80, 10), (40, 200)])
@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e5])
def test_optimality_conditions(K, D, scale):
    vectors = scale * draw_vectors(K, D)
    found = solve_hard_margin(vectors)
    slack = vectors @ found.weights - 1
    assert slack.min() >= -1e-12 and (found.multipliers >= 0).all()
    assert np.abs(slack * found.multipliers).max() <= 1e-11 * found.multipliers.max()
    np.testing.assert_allclose(found.margins, slack + 1, atol=1e-11)
    combined = vectors.T @ found.multipliers
    np.testing.assert_allclose(combined, found.weights, atol=1e-12 * np.abs(found.weights).max())
    # strong duality: |w|² = sum alpha
    assert found.weights @ found.weights == pytest.approx(found.multipliers.sum(), rel=1e-11)


@pytest.mark.parametrize(("K", "D"), [(6, 5), (12, 6), (9, 20)])
def test_a_general_solver_agrees(K, D):
    vectors = draw_vectors(K, D, seed=3)
    found = solve_hard_margin(vectors)
    other = minimize(
        lambda w: w @ w / 2,
        found.weights + 0.1 * np.random.default_rng(0).normal(size=D),
        jac=lambda w: w,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda w: vectors @ w - 1, "jac": lambda _: vectors},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    np.testing.assert_allclose(found.weights, other.x, atol=1e-6 * np.abs(found.weights).max())


def test_by_hand():
    # margins in the plane: w.(1, 0) >= 1 and w.(1, 1) >= 1 give w = (1, 0), the second one with room 0
    found = solve_hard_margin(np.array([[1.0, 0.0], [2.0, 1.0], [1.0, 0.5]]))
    np.testing.assert_allclose(found.weights, [1.0, 0.0], atol=1e-15)
    assert found.multipliers.tolist() == pytest.approx([1.0, 0.0, 0.0], abs=1e-15)
    # two at right angles: each a multiplier of its own
    found = solve_hard_margin(np.array([[2.0, 0.0], [0.0, 4.0]]))
    assert found.weights.tolist() == pytest.approx([0.5, 0.25])
    assert found.multipliers.tolist() == pytest.approx([0.25, 1 / 16])


@pytest.mark.parametrize(
    "vectors",
    [
        [[1.0, 0.0], [-1.0, 0.0]],
        [[0.0, 0.0], [1.0, 0.0]],
        [[0.0, 0.0]],
        [[1.0, 0.0], [-0.5, 1.0], [-0.5, -1.0]],
    ],
)
def test_inseparable(vectors):
    assert solve_hard_margin(np.array(vectors)) is None


def test_barely_separable():
    angle = 1e-4
    vectors = np.array([[np.cos(angle), np.sin(angle)], [-np.cos(angle), np.sin(angle)]])
    found = solve_hard_margin(vectors)
    assert found.weights[1] == pytest.approx(1 / np.sin(angle), rel=1e-7)


def test_hull_distance():
    assert measure_hull_distance(np.array([[3.0, -1.0], [3.0, 1.0]])) == pytest.approx(3.0)
    assert measure_hull_distance(np.array([[3.0, 4.0]])) == pytest.approx(5.0)
    assert measure_hull_distance(np.array([[3.0, 1.0], [3.0, 2.0]])) == pytest.approx(np.sqrt(10))
    assert measure_hull_distance(np.array([[1.0, 0.0], [-1.0, 0.5], [-1.0, -0.5]])) == 0.0
    points = np.random.default_rng(4).normal(size=(5, 4)) + 2.0
    other = minimize(
        lambda q: np.square(q @ points).sum(),
        np.full(5, 0.2),
        bounds=[(0, 1)] * 5,
        constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert measure_hull_distance(points) == pytest.approx(np.sqrt(other.fun), rel=1e-6)


def test_theory_of_drawn_data():
    data, theory, _ = small.run_small()
    tokens, match = read_problems(data)
    alpha = gather_rivals(theory.multiplier.values, match)
    for s in range(3):
        W = theory.W_hat.values[s]
        expected = np.zeros_like(W)
        for i, (e, y) in enumerate(zip(tokens[s], match[s], strict=True)):
            for t in [t for t in range(4) if t != y]:
                margin = (e[y] - e[t]) @ W @ e[y]
                assert margin >= 1 - 1e-12 and theory.margin.values[s, i, t] == pytest.approx(margin)
                on = bool(theory.support.values[s, i, t])
                assert on == (theory.multiplier.values[s, i, t] > 0)
                assert abs(margin - 1) < 1e-10 or not on
                expected += theory.multiplier.values[s, i, t] * np.outer(e[y] - e[t], e[y])
            assert np.isnan(theory.margin.values[s, i, y]) and not theory.support.values[s, i, y]
        np.testing.assert_allclose(W, expected, atol=1e-13 * np.abs(W).max())
        assert theory.norm.values[s] == pytest.approx(np.linalg.norm(W))
        assert theory.norm.values[s] ** 2 == pytest.approx(alpha[s].sum())
        assert theory.A2_support.values[s] == theory.support.values[s].sum() == theory.A2_rank.values[s]
    assert theory.holds.sel(assumption=["A1", "A2"]).all()
    assert theory.A1_margin.values == pytest.approx(1.0, abs=1e-12)
    for name in theory.variables:
        assert theory[name].attrs["long_name"] and theory[name].attrs["units"], name


def put(data, seed, sample, tokens, match):
    data.tokens.loc[{"seed": seed, "sample": sample}] = tokens
    data.match.loc[{"seed": seed, "sample": sample}] = match


def test_inseparable_data_name_seed_and_assumption():
    data = small.draw_data(seeds=(4, 7))
    first = data.tokens.sel(seed=7, sample=0).values
    put(data, 7, 0, np.stack([first[0], first[0], *first[2:]]), 0)  # a rival that equals the match
    with pytest.raises(
        OnsetError, match=r"seed 7 are not separable, assumption A1 fails.*maxmargin_data\.seeds"
    ):
        small.solve(data)
    with pytest.raises(OnsetError, match="of seed 0 are not separable"):
        small.solve(small.draw_data(d_in=2, T=8, n=16))


def test_assumptions_by_hand():
    data = small.draw_data(seeds=(0, 1, 2), n=1, d_in=5)
    e = np.eye(5)
    # the match is position 0, so its target is token 1; rivals are 1, 2, 3 with values 2, 3, 4
    put(data, 0, 0, [e[0], 0 * e[0], 2 * e[1], 2 * e[1] + e[2], 2 * e[1] + e[3]], 0)
    put(data, 1, 0, [e[0], 0 * e[0], e[1], -e[1] + e[2], -e[1] - e[2]], 0)
    put(data, 2, 0, [e[0], 3 * e[4], e[1], e[1], 2 * e[1] + e[3]], 0)
    theory = small.solve(data)
    holds = {int(seed): theory.holds.sel(seed=seed).values.tolist() for seed in theory.seed}
    assert holds[0] == [True, True, True, True]
    assert theory.A4_least_all.values[0] == pytest.approx(4.0)
    assert theory.A3_distance.values[0, 0] == pytest.approx(2.0)
    # seed 1: the target is in the hull of the others, and values point apart, but not within the support
    assert holds[1] == [True, True, False, True] and theory.A3_distance.values[1, 0] == 0.0
    assert theory.support.sel(seed=1).sum() == 1 and theory.A4_least_all.values[1] < 0
    # seed 2: two rivals with one key
    assert holds[2] == [True, False, True, True]
    assert (int(theory.A2_support[2]), int(theory.A2_rank[2])) == (3, 2)
    assert theory.support.sel(seed=2).sum() == 2
    assert list_valid(theory).tolist() == [0]
    assert choose_seed(theory, None) == 0 and choose_seed(theory, 1) == 1
    assert choose_seed(theory.sel(seed=[1, 2]), None) == 1
    assert list_failing(theory, 1) == ["A3"] and list_failing(theory, 0) == []


def test_counting():
    assert find_support(np.array([1.0, 1e-12, 0.0, 2e-9]), 1e-9).tolist() == [True, False, False, True]
    v = np.random.default_rng(0).normal(size=(4, 9))
    assert count_rank(v, 1e-9) == 4
    assert count_rank(np.vstack([v, 1e-6 * (v[0] + v[1])]), 1e-9) == 4
    data, theory, _ = small.run_small()
    rivals = data.sizes["sample"] * (data.sizes["position"] - 2)
    expected = [int(s) for s in theory.seed if int(theory.support.sel(seed=s).sum()) < rivals]
    assert list_with_tail(theory).tolist() == expected


@pytest.mark.parametrize("seed", range(6))
def test_balance_solves_its_equation(seed):
    stream = np.random.default_rng(seed)
    r = 1 + seed
    factor = np.column_stack([stream.normal(size=(r, 2)), np.full(r, 0.5)])  # 0 is outside the rows' hull
    gram, alpha = factor @ factor.T, 10.0 ** stream.uniform(-5, 1, size=r)  # of rank 3 at most
    x = balance(gram, alpha)
    assert (x > 0).all()
    np.testing.assert_allclose(x * (gram @ x), alpha, rtol=1e-8)
    if r == 1:
        assert x[0] == pytest.approx(np.sqrt(alpha[0] / gram[0, 0]))


def test_no_balance_around_the_target():
    # three values around the target: mixtures reach it, and x can grow for ever
    factor = np.array([[1.0, 0.0], [-0.5, 1.0], [-0.5, -1.0]])
    assert balance(factor @ factor.T, np.array([1.0, 2.0, 0.5])) is None
    h, x = limit_residual(factor @ factor.T, np.array([1.0, 2.0, 0.5]))
    assert np.isnan(h).all() and np.isnan(x).all()
    gram = (factor @ factor.T)[None]
    assert np.isnan(find_slowest_rate(np.eye(3), gram, np.ones((1, 3)), x[None]))


def test_balance_agrees_with_the_papers_correction_vector():
    stream = np.random.default_rng(9)
    factor = stream.normal(size=(4, 6))
    gram, alpha, eta = factor @ factor.T, np.array([0.2, 0.0, 1.0, 0.5]), 0.03
    h, x = limit_residual(gram, alpha)
    on = alpha > 0
    c = alpha[on] / (2 * eta * h[on])
    np.testing.assert_allclose(x[on] / np.sqrt(2 * eta), c / np.sqrt(c.sum()), rtol=1e-8)
    assert x[1] == 0 and np.isfinite(h).all()
    assert np.isnan(limit_residual(gram, np.zeros(4))[0]).all()


def test_flow_goes_to_the_limit_at_the_predicted_rate():
    # Gradient flow in s = log(tau) up to s = 400, far beyond any descent; all rivals are support vectors.
    tokens, match = read_problems(small.draw_data(seeds=(1,), d_in=16, T=4, n=4, sigma_token=4.0))
    geometry = describe_geometry(tokens[0], match[0])
    alpha = solve_hard_margin(geometry.margin_vectors).multipliers.reshape(4, 2)
    assert (alpha > 0).all()
    G, D, eta = geometry.margin_gram, geometry.value_gram, 1e-3

    def slope(s, m):
        attention, _ = attend(m.reshape(4, 2))
        along, squared = project_residual(attention, D)
        return eta * G @ (np.exp(s) * attention * (along - squared)).ravel()

    start = np.full(8, 2.0)
    times = [0.0, 60.0, 80.0, 400.0]
    found = solve_ivp(slope, (0.0, 400.0), start, method="LSODA", t_eval=times, rtol=1e-11, atol=1e-13)
    limits = [limit_residual(gram, one) for gram, one in zip(D, alpha, strict=True)]
    h, x = (np.stack(parts) for parts in zip(*limits, strict=True))
    u = [
        m.reshape(4, 2) - s / 2 + np.log(x / np.sqrt(2 * eta)) for s, m in zip(times, found.y.T, strict=True)
    ]
    np.testing.assert_allclose(measure_h(found.y[:, -1].reshape(4, 2), D), h, rtol=1e-8)
    assert np.abs(u[-1]).max() < 1e-8
    rate = find_slowest_rate(G, D, alpha, x)
    measured = np.log(np.abs(u[1]).max() / np.abs(u[2]).max()) / 20
    assert measured == pytest.approx(rate, rel=0.02)  # quadratic terms e^(-60 rate) are about a hundredth


def test_rates_contain_the_shift_of_time():
    # u = -½ e^-s on all support vectors solves the linear equation, as tau may be counted from anywhere
    data, theory, _ = small.run_small()
    tokens, match = read_problems(data)
    geometry = describe_geometry(tokens[0], match[0])
    alpha = gather_rivals(theory.multiplier.values, match)[0]
    x = np.stack([limit_residual(D, one)[1] for D, one in zip(geometry.value_gram, alpha, strict=True)])
    blocks = np.zeros((alpha.size, alpha.size))
    R = alpha.shape[1]
    for i in range(len(alpha)):
        part = slice(i * R, (i + 1) * R)
        blocks[part, part] = x[i][:, None] * geometry.value_gram[i] * x[i]
    inside = np.flatnonzero(alpha.ravel() > 0)
    operator = 0.5 * (geometry.margin_gram @ (blocks + np.diag(alpha.ravel())))[np.ix_(inside, inside)]
    # On the support G alpha = 1 and (X D X) 1 = alpha: the constant vector has rate 1
    np.testing.assert_allclose(operator @ np.ones(len(inside)), 1.0, rtol=1e-9)
    rate = find_slowest_rate(geometry.margin_gram, geometry.value_gram, alpha, x)
    assert rate == pytest.approx(np.linalg.eigvals(operator).real.min(), rel=1e-9)
