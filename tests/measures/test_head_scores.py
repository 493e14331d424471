"""Guarantees of the head scores:

- perfect heads score 1, heads that look elsewhere 0, whatever axes lead;
- uniform causal attention scores the exact baselines, and without the position itself the paper's;
- each score is the mean that its definition writes out, entry by entry;
- attention that is not square, odd lengths and matches without a successor are refused.
"""

import numpy as np
import pytest

from onset.measures.head_scores import (
    approximate_IH_MC,
    approximate_IH_repeat,
    approximate_PTH,
    harmonic,
    measure_IH_MC,
    measure_IH_repeat,
    measure_PTH,
    random_IH_MC,
    random_IH_repeat,
    random_PTH,
)


def looking_back(length, back):
    """A head whose every query looks `back` positions back, or at the first position."""
    attention = np.zeros((length, length))
    for q in range(length):
        attention[q, max(q - back, 0)] = 1
    return attention


def uniform(length, itself=True):
    """Uniform attention over keys up to the query; the first query has nothing but itself."""
    mask = np.tril(np.ones((length, length)), 0 if itself else -1)
    mask[0, 0] = 1
    return mask / mask.sum(1, keepdims=True)


def random_attention(*shape):
    attention = np.random.default_rng(0).random(shape) * np.tril(np.ones(shape[-2:]))
    return attention / attention.sum(-1, keepdims=True)


def test_perfect_heads_score_one_and_others_zero():
    K = 6
    heads = np.stack([looking_back(2 * K, 1), looking_back(2 * K, K - 1), looking_back(2 * K, 3)])
    np.testing.assert_array_equal(measure_PTH(heads[0]), 1)
    np.testing.assert_array_equal(measure_IH_repeat(heads), [0, 1, 0])
    first_query_looks_at_0 = 1 / (2 * K - 1)
    np.testing.assert_allclose(measure_PTH(heads)[1:], first_query_looks_at_0)


def test_a_head_that_finds_the_successor_scores_one():
    T, match = 5, np.array([0, 3, 2, 1])
    attention = np.zeros((4, 2, 3, T + 1, T + 1))
    attention[..., -1, 0] = 1
    for i, t0 in enumerate(match):
        attention[i, 1, 2, -1] = np.eye(T + 1)[t0 + 1]
    scores = measure_IH_MC(attention, match)
    assert scores.shape == (4, 2, 3)
    np.testing.assert_array_equal(scores[:, 1, 2], 1)
    assert scores.sum() == 4


@pytest.mark.parametrize("T", [3, 8, 16])
def test_uniform_attention_scores_the_exact_baselines(T):
    assert measure_PTH(uniform(T + 1)) == pytest.approx(random_PTH(T), rel=1e-12)
    assert measure_IH_repeat(uniform(2 * T)) == pytest.approx(random_IH_repeat(T), rel=1e-12)
    for match in range(T - 1):
        found = measure_IH_MC(uniform(T + 1)[None], np.array([match]))
        assert found == pytest.approx(random_IH_MC(T), rel=1e-12)


@pytest.mark.parametrize("T", [3, 8, 16])
def test_the_papers_baselines_leave_out_the_position_itself(T):
    other = uniform(T + 1, itself=False)
    assert measure_PTH(other) == pytest.approx(approximate_PTH(T), rel=1e-12)
    assert measure_IH_MC(other[None], np.array([1])) == pytest.approx(approximate_IH_MC(T), rel=1e-12)
    found = measure_IH_repeat(uniform(2 * T, itself=False))
    assert found == pytest.approx(approximate_IH_repeat(T), rel=1e-12)


def test_baselines_at_the_papers_sizes():
    exact = [random_PTH(8), random_IH_MC(8), random_IH_repeat(8)]
    np.testing.assert_allclose(exact, [0.2286, 0.1111, 0.0829], atol=5e-5)
    printed = [approximate_PTH(8), approximate_IH_MC(8), approximate_IH_repeat(8)]
    np.testing.assert_allclose(printed, [0.3397, 0.125, 0.0907], atol=5e-5)
    assert harmonic(0) == 0


def test_scores_are_their_definitions():
    T = K = 4
    A = random_attention(3, 2, T + 1, T + 1)
    match = np.array([2, 0, 1])
    previous = sum(A[..., q, q - 1] for q in range(1, T + 1)) / T
    np.testing.assert_allclose(measure_PTH(A), previous, rtol=1e-14)
    successor = [A[i, :, T, match[i] + 1] for i in range(3)]
    np.testing.assert_array_equal(measure_IH_MC(A, match), successor)
    R = random_attention(3, 2, 2 * K, 2 * K)
    induced = sum(R[..., K + j, j + 1] for j in range(K)) / K
    np.testing.assert_allclose(measure_IH_repeat(R), induced, rtol=1e-14)


def test_what_is_refused():
    with pytest.raises(ValueError, match="query and key"):
        measure_PTH(np.ones((3, 4, 5)))
    with pytest.raises(ValueError, match="at least two"):
        measure_PTH(np.ones((1, 1)))
    with pytest.raises(ValueError, match="even number"):
        measure_IH_repeat(uniform(5))
    with pytest.raises(ValueError, match="each of 2 sequences"):
        measure_IH_MC(random_attention(2, 4, 4), np.array([0]))
    with pytest.raises(ValueError, match=r"in 0\.\.1"):
        measure_IH_MC(random_attention(2, 4, 4), np.array([0, 2]))
