"""Guarantees of the right-hand sides of the regression flows, against independent computations.

- the loss is half the mean squared error of the regression, by Monte Carlo, and its terms are its diagonal
- the full flow is gradient flow of that loss in value matrices and logits (autograd, whole matrices); values
  stay in the span of the targets; attention rows keep their sum; -dL/dt is what autograd says
- the coupled flow is the full flow of equal heads, the cooperative flow that of pinned heads, the reduced one
  that of slaved heads; each potential is the loss that it stands for, and rises by a sum of squares
- the printed potential of stage 2 is ||G||²/2 - L
- leading axes are independent starts
- starts: rows sum to one, noise is of the size asked for, noise that is too large is refused
- the bound on the coupled V is above |G s|/(h |s|²) everywhere on the simplex
"""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from onset.errors import OnsetError
from onset.papers.sparse.flows import cooperative, coupled, reduced
from onset.papers.sparse.flows.features import (
    Features,
    compute_loss,
    compute_loss_terms,
    compute_residual,
    measure_contributions,
    project,
    read_features,
)
from onset.papers.sparse.flows.regression import compute_descent, flow_regression
from onset.papers.sparse.flows.starts import draw_attention, draw_region_start
from onset.randomness import Streams

H, T, D = 3, 7, 6
FEATURES = Features(np.array([2.89, 1.7, 1.0]), T)
STREAMS = Streams(0, "sparse", "flow_starts")


def draw_state(seed: int, heads: int = H) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(heads, H)), rng.dirichlet(np.ones(T), size=heads)


def draw_targets(seed: int) -> torch.Tensor:
    """Orthonormal matrices V_j* (H, D, D)."""
    rows = np.linalg.qr(np.random.default_rng(seed).normal(size=(D * D, H)))[0].T
    return torch.tensor(rows.reshape(H, D, D))


def whole_loss(V: torch.Tensor, q: torch.Tensor, targets: torch.Tensor, features: Features) -> torch.Tensor:
    """||G - P||²/2 with matrices V (H, D, D) and logits q (H, T), as the paper writes it."""
    at = torch.eye(features.T, dtype=torch.float64)[: features.h]
    m = torch.tensor(features.strengths)
    G = torch.einsum("k,kab,kt->abt", m, targets, at)
    P = torch.einsum("kab,kt->abt", V, torch.softmax(q, -1))
    return 0.5 * ((G - P) ** 2).sum()


def differentiate(V, s, features=FEATURES, seed=9):
    """-dL/dV in the span and outside it, ds/dt of logits that follow -dL/dq, and -dL/dt, all by autograd."""
    targets = draw_targets(seed)
    whole = torch.einsum("kf,fab->kab", torch.tensor(V), targets).requires_grad_()
    q = torch.log(torch.tensor(s)).requires_grad_()
    loss = whole_loss(whole, q, targets, features)
    V_slope, q_slope = torch.autograd.grad(loss, (whole, q))
    inside = -torch.einsum("kab,fab->kf", V_slope, targets)
    outside = -V_slope - torch.einsum("kf,fab->kab", inside, targets)
    _, s_rate = torch.autograd.functional.jvp(lambda q: torch.softmax(q, -1), q.detach(), -q_slope)
    descent = (V_slope**2).sum() + (q_slope**2).sum()
    return loss.item(), inside.numpy(), outside.numpy(), s_rate.numpy(), descent.item()


def test_features_of_a_section():
    features = read_features(SimpleNamespace(h=3, T=40, m=1.7))
    np.testing.assert_allclose(features.strengths, [2.89, 1.7, 1.0])
    assert (features.h, features.T) == (3, 40)
    assert features.square == pytest.approx(6.12105)


def test_projection_is_that_of_the_softmax():
    rng = np.random.default_rng(0)
    s, u = rng.dirichlet(np.ones(5)), rng.normal(size=5)
    np.testing.assert_allclose(project(s, u), (np.diag(s) - np.outer(s, s)) @ u, atol=1e-15)


def test_loss_is_half_the_mean_squared_error():
    V, s = draw_state(3)
    targets, rng = draw_targets(4).numpy(), np.random.default_rng(5)
    X = rng.normal(size=(20000, D, T))
    whole = np.einsum("kf,fab->kab", V, targets)
    found = np.einsum("kab,nbt,kt->na", whole, X, s)
    at = np.eye(T)[:H]
    wanted = np.einsum("k,kab,nbt,kt->na", FEATURES.strengths, targets, X, at)
    sampled = 0.5 * ((found - wanted) ** 2).sum(-1)
    exact = compute_loss(compute_residual(V, s, FEATURES))
    # The mean of n samples scatters by their standard deviation over sqrt(n).
    assert abs(sampled.mean() - exact) < 5 * sampled.std() / np.sqrt(len(X))


@pytest.mark.parametrize("seed", range(4))
def test_full_flow_is_gradient_flow(seed):
    V, s = draw_state(seed)
    loss, V_rate, outside, s_rate, descent = differentiate(V, s)
    found = flow_regression(V, s, FEATURES)
    np.testing.assert_allclose(found["V"], V_rate, atol=1e-13)
    np.testing.assert_allclose(found["s"], s_rate, atol=1e-13)
    assert np.abs(outside).max() < 1e-13, "values leave the span of the targets"
    np.testing.assert_allclose(found["s"].sum(-1), 0, atol=1e-15)
    assert compute_loss(compute_residual(V, s, FEATURES)) == pytest.approx(loss, abs=1e-12)
    assert compute_descent(V, s, FEATURES) == pytest.approx(descent, abs=1e-12)


def test_leading_axes_are_independent():
    states = [draw_state(seed) for seed in range(3)]
    V, s = (np.stack(parts) for parts in zip(*states, strict=True))
    together = flow_regression(V, s, FEATURES)
    for i, state in enumerate(states):
        for name, rate in flow_regression(*state, FEATURES).items():
            np.testing.assert_allclose(together[name][i], rate, atol=1e-15)


def test_loss_terms_and_contributions():
    V, s = draw_state(1)
    terms = compute_loss_terms(compute_residual(V, s, FEATURES))
    for j, m in enumerate(FEATURES.strengths):
        delivered = sum(V[k, j] * s[k, j] for k in range(H))
        assert terms[j] == pytest.approx(0.5 * (m - delivered) ** 2)
        assert measure_contributions(V, s, FEATURES)[:, j].sum() == pytest.approx(delivered / m)


@pytest.mark.parametrize("seed", range(3))
def test_coupled_flow_is_the_full_flow_of_equal_heads(seed):
    V, s = (part[0] for part in draw_state(seed))
    every_V, every_s = np.tile(V, (H, 1)), np.tile(s, (H, 1))
    whole, found = flow_regression(every_V, every_s, FEATURES), coupled.flow_coupled(V, s, FEATURES)
    for name, rate in found.items():
        np.testing.assert_allclose(np.tile(rate, (H, 1)), whole[name], atol=1e-13)
    phi = coupled.compute_coupled_potential(V, s, FEATURES)
    loss = compute_loss(compute_residual(every_V, every_s, FEATURES))
    assert loss == pytest.approx(FEATURES.square - H * phi)


def expand_stage(V, s, n, features=FEATURES):
    """All heads of a stage's rows: the ensemble's repeated, then the settled and the free one."""
    counts = cooperative.count_heads(n, features).astype(int)
    return np.repeat(V, counts, axis=0), np.repeat(cooperative.pin_attention(s, n), counts, axis=0)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_cooperative_flow_is_the_full_flow_of_pinned_heads(n, seed):
    V, rows = draw_state(seed, heads=n)
    s = rows[0]
    every_V, every_s = expand_stage(V, s, n)
    assert len(every_V) == H
    whole, found = flow_regression(every_V, every_s, FEATURES), cooperative.flow_cooperative(V, s, FEATURES)
    np.testing.assert_allclose(expand_stage(found["V"], s, n)[0], whole["V"], atol=1e-13)
    np.testing.assert_allclose(found["s"], whole["s"][-1], atol=1e-13)
    np.testing.assert_allclose(whole["s"][:-1], 0, atol=1e-15)
    phi = cooperative.compute_stage_potential(V, s, FEATURES)
    assert phi == pytest.approx(FEATURES.square - compute_loss(compute_residual(every_V, every_s, FEATURES)))


@pytest.mark.parametrize("n", [2, 3])
def test_slaved_heads_are_at_rest_and_leave_the_reduced_flow(n):
    free, rows = draw_state(7, heads=1)
    V = cooperative.slave_values(free[0], rows[0], n, FEATURES)
    found = cooperative.flow_cooperative(V, rows[0], FEATURES)
    np.testing.assert_allclose(found["V"][:-1], 0, atol=1e-13)
    less = reduced.flow_reduced(free[0], rows[0], n, FEATURES)
    np.testing.assert_allclose(found["V"][-1], less["V"], atol=1e-13)
    np.testing.assert_allclose(found["s"], less["s"], atol=1e-13)
    left = 0.5 * np.sum(FEATURES.strengths[n - 1 :] ** 2)
    phi = reduced.compute_reduced_potential(free[0], rows[0], n, FEATURES)
    loss = FEATURES.square - cooperative.compute_stage_potential(V, rows[0], FEATURES)
    assert loss == pytest.approx(left - phi)


def test_printed_potential_of_the_second_stage():
    V, rows = draw_state(11, heads=2)
    (ensemble, free), s, m = V, rows[0], FEATURES.strengths
    c = H - 1
    printed = (
        c * m[0] * ensemble[0]
        - c**2 / 2 * ensemble @ ensemble
        - c * s[0] * ensemble @ free
        + free @ (m * s[:H])
        - 0.5 * (s @ s) * (free @ free)
    )
    assert cooperative.compute_stage_potential(V, s, FEATURES) == pytest.approx(printed, abs=1e-14)


def central(f, V, s, rates, step=1e-6):
    """Derivative of f along a flow by central differences."""
    return (
        f(V + step * rates["V"], s + step * rates["s"]) - f(V - step * rates["V"], s - step * rates["s"])
    ) / (2 * step)


@pytest.mark.parametrize("seed", range(3))
def test_potentials_rise_by_sums_of_squares(seed):
    V, rows = draw_state(seed, heads=3)
    s = rows[0]
    along = coupled.flow_coupled(V[0], s, FEATURES)
    rise = central(lambda V, s: coupled.compute_coupled_potential(V, s, FEATURES), V[0], s, along)
    forward, backward = coupled.weigh(V[0], s, FEATURES)
    pull = project(s, backward - H * (V[0] @ V[0]) * s)
    # d phi/dt = |V'|² + |Pi u|², the rate of the logits squared.
    assert rise == pytest.approx((along["V"] ** 2).sum() + (pull**2).sum(), rel=1e-6)
    np.testing.assert_allclose(along["V"], forward - H * (s @ s) * V[0])
    for n in (2, 3):
        values = V[:n]
        along = cooperative.flow_cooperative(values, s, FEATURES)
        rise = central(lambda V, s: cooperative.compute_stage_potential(V, s, FEATURES), values, s, along)
        residual = cooperative.compute_stage_residual(values, s, FEATURES)
        pull = project(s, values[-1] @ residual)
        weights = cooperative.count_heads(n, FEATURES)[:, None]
        assert rise == pytest.approx((weights * along["V"] ** 2).sum() + (pull**2).sum(), rel=1e-6)
        along = reduced.flow_reduced(V[0], s, n, FEATURES)
        assert (
            central(lambda V, s, n=n: reduced.compute_reduced_potential(V, s, n, FEATURES), V[0], s, along)
            > 0
        )


def test_theory_start_and_its_condition():
    features = read_features(SimpleNamespace(h=3, T=40, m=1.7))
    for epsilon in (0.02, 0.1):
        V, s = cooperative.start_stage(2, epsilon, features)
        m = features.strengths
        np.testing.assert_allclose(V[-1], [m[0] / 3, epsilon, 0])
        assert s.sum() == pytest.approx(1)
        phi = reduced.compute_reduced_potential(V[-1], s, 2, features)
        assert phi == pytest.approx(epsilon**2 * (m[1] - (m[0] ** 2 / 9 + epsilon**2) / 2))
    with pytest.raises(ValueError, match="pattern n = 4 does not exist"):
        cooperative.start_stage(4, 0.1, features)


def noise(kind, epsilon):
    return SimpleNamespace(noise=kind, epsilon=epsilon)


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_starts(kind):
    wide = Features(FEATURES.strengths, 4000)
    s = draw_attention(STREAMS, noise(kind, 1e-5), wide, 3)
    np.testing.assert_allclose(s.sum(-1), 1)
    np.testing.assert_array_equal(s, draw_attention(STREAMS, noise(kind, 1e-5), wide, 3))
    assert np.abs(s - draw_attention(STREAMS, noise(kind, 1e-5), wide, 4)).max() > 0
    # Rows are divided by their sum, 1 + 4000 E[noise]; 12000 draws give standard deviations to 1 %.
    spread = 1e-5 / np.sqrt(12) / (1 + 4000 * 0.5e-5) if kind == "uniform" else 1e-5
    assert s.std() == pytest.approx(spread, rel=0.05)
    with pytest.raises(OnsetError, match=r"epsilon = 1 leaves attention that is not positive for seed 0"):
        draw_attention(STREAMS, noise("gaussian", 1.0), wide, 0)


def test_region_starts_are_inside_and_their_own():
    found = [draw_region_start(STREAMS, FEATURES, start) for start in range(20)]
    for V, s in found:
        assert coupled.measure_margin(V, s, FEATURES) >= 0
        assert s.sum() == pytest.approx(1) and np.all(s > 0)
    assert len({V[0] for V, _ in found}) == 20


def test_bound_on_coupled_values():
    bound = coupled.bound_value(FEATURES)
    rng = np.random.default_rng(1)
    s = rng.dirichlet(np.full(T, 0.3), size=20000)
    forward = FEATURES.strengths * s[:, :H]
    ratio = np.linalg.norm(forward, axis=-1) / (H * (s**2).sum(-1))
    assert ratio.max() < bound
    # The norm printed in the paper is that at s_1* alone, and far from the largest.
    assert ratio.max() > 1.5 * FEATURES.strengths[0] / H
