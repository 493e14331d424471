"""Guarantees of the conservation laws.

- gradient flow on the moments of a random finite data set conserves them to 1e-8 (ODE solver), with and
  without side blocks, for ATTN_M and for ATTN_S of rank one and three
- gradient descent lets them drift, in proportion to its step
- single-head forms: |k|^2 - |q|^2, sum_r |k_r|^2 - v^2, |U|_F^2 - v^2
"""

import numpy as np
import pytest

from onset.dynamics.integrate import integrate_flow
from onset.papers.linattn.theory.conservation import measure_merged_invariant, measure_separate_invariants

D, HEADS = 3, 4


@pytest.fixture(scope="module")
def moments():
    """Moments of 40 raw sequences: the loss is a quadratic form in A, without any symmetry."""
    rng = np.random.default_rng(0)
    x, w, query = rng.normal(size=(40, 6, D)), rng.normal(size=(40, D)), rng.normal(size=(40, D))
    labels = np.einsum("snd,sd->sn", x, w)
    z = np.einsum("sn,sni,sj->sij", labels, x, query).reshape(40, -1) / 6
    return z.T @ z / 40, z.T @ np.sum(w * query, axis=1) / 40


def pull(A, moments):
    S, b = moments
    return (b - S @ A.ravel()).reshape(D, D)


def flow_keys(state, moments):
    v, K, Q = state["v"], state["K"], state["Q"]
    G = pull(np.einsum("h,hri,hrj->ij", v, K, Q), moments)
    return {
        "v": np.einsum("hri,ij,hrj->h", K, G, Q),
        "K": np.einsum("h,ij,hrj->hri", v, G, Q),
        "Q": np.einsum("h,ij,hri->hrj", v, G, K),
    }


def flow_matrices(state, moments):
    G = pull(np.einsum("h,hij->ij", state["v"], state["U"]), moments)
    return {"v": np.einsum("hij,ij->h", state["U"], G), "U": state["v"][:, None, None] * G}


def draw(seed, **shapes):
    rng = np.random.default_rng(seed)
    return {name: 0.3 * rng.normal(size=(HEADS, *shape)) for name, shape in shapes.items()}


@pytest.mark.parametrize("rank", [1, 3])
def test_separate_flow_conserves(rank, moments):
    start = draw(1, v=(), K=(rank, D), Q=(rank, D))
    end = integrate_flow(lambda _, s: flow_keys(s, moments), start, [0.0, 5.0, 30.0], label="separate")
    before = measure_separate_invariants(**start)
    after = measure_separate_invariants(end["v"], end["K"], end["Q"])
    assert np.abs(end["v"][-1] - start["v"]).max() > 0.1
    assert after.key_query.shape == (3, HEADS, rank, rank) and after.key_value.shape == (3, HEADS)
    assert np.abs(after.key_query - before.key_query).max() < 1e-8
    assert np.abs(after.key_value - before.key_value).max() < 1e-8


def test_merged_flow_conserves(moments):
    start = draw(2, v=(), U=(D, D))
    end = integrate_flow(lambda _, s: flow_matrices(s, moments), start, [0.0, 30.0], label="merged")
    drift = measure_merged_invariant(end["v"], end["U"]) - measure_merged_invariant(**start)
    assert drift.shape == (2, HEADS, HEADS)
    assert np.abs(end["v"][-1] - start["v"]).max() > 0.1
    assert np.abs(drift).max() < 1e-8


def test_flow_with_side_blocks_conserves():
    """yhat = sum_i vt_i^T G kt_i (q_i.x_q), G the Gram matrix of raw tokens; gradients written out."""
    rng = np.random.default_rng(3)
    tokens, query, target = rng.normal(size=(40, 6, D + 1)), rng.normal(size=(40, D)), rng.normal(size=40)
    gram = np.swapaxes(tokens, 1, 2) @ tokens / 6

    def flow(_, s):
        read = np.einsum("ha,sab,hrb->shr", s["v"], gram, s["K"])
        asked = np.einsum("hrc,sc->shr", s["Q"], query)
        error = (target - np.sum(read * asked, axis=(1, 2))) / 40
        return {
            "v": np.einsum("s,sab,hrb,shr->ha", error, gram, s["K"], asked, optimize=True),
            "K": np.einsum("s,sab,ha,shr->hrb", error, gram, s["v"], asked, optimize=True),
            "Q": np.einsum("s,shr,sc->hrc", error, read, query, optimize=True),
        }

    start = draw(4, v=(D + 1,), K=(2, D + 1), Q=(2, D))
    end = integrate_flow(flow, start, [0.0, 5.0], label="side blocks")
    before = measure_separate_invariants(**start)
    after = measure_separate_invariants(end["v"][-1], end["K"][-1], end["Q"][-1])
    assert np.abs(end["v"][-1] - start["v"]).max() > 0.05
    np.testing.assert_allclose(after.key_query, before.key_query, atol=1e-8)
    np.testing.assert_allclose(after.key_value, before.key_value, atol=1e-8)


def test_gradient_descent_drifts_in_proportion_to_its_step(moments):
    drifts = []
    for rate in (0.01, 0.005):
        state = draw(5, v=(), K=(1, D), Q=(1, D))
        before = measure_separate_invariants(**state)
        for _ in range(int(10 / (2 * rate))):
            rates = flow_keys(state, moments)
            state = {name: state[name] + 2 * rate * rates[name] for name in state}
        after = measure_separate_invariants(**state)
        drifts.append(np.abs(after.key_value - before.key_value).max())
    assert drifts[0] > 1e-4
    assert drifts[0] / drifts[1] == pytest.approx(2, abs=0.2)


def test_single_head_forms():
    v, K, Q = draw(6, v=(), K=(1, D), Q=(1, D)).values()
    found = measure_separate_invariants(v, K, Q)
    np.testing.assert_allclose(found.key_query[:, 0, 0], (K**2).sum((1, 2)) - (Q**2).sum((1, 2)))
    np.testing.assert_allclose(found.key_value, (K**2).sum((1, 2)) - v**2)
    v, U = draw(7, v=(), U=(D, D)).values()
    np.testing.assert_allclose(np.diag(measure_merged_invariant(v, U)), v**2 - (U**2).sum((1, 2)))
