"""Guarantees of the Markov chain and its sequences.

- Lag 1 is the query's own token, alpha goes oldest first, gains follow m, b0 and the scaling.
- Matrices are orthogonal times their gain, and where asked for, orthogonal to each other too.
- Sampled tokens follow the exact conditional distribution (chi-square on a chain of few contexts).
- Prefix tokens are uniform; a chain without importance beyond lag 1 copies through A_1 alone.
- Draws are functions of their names: more sequences, seeds, chains or other batches change none.
- Epochs draw without replacement; a set smaller than a batch is one batch.
"""

import itertools

import numpy as np
import pytest

from onset.papers.sparse.chain import (
    PIECE,
    build_chain,
    choose_batch,
    draw_batch,
    draw_matrices,
    draw_sequences,
    draw_training,
    draw_validation,
    mark_groups,
    open_streams,
)
from onset.papers.sparse.predictors import prefix_log_probabilities
from onset.randomness import Streams

STREAMS = Streams(0, "sparse", "test")
TWO_EACH = ((1, 2), (3, 4), (5, 6))


def base(d=10, T=4, **changes):
    given = {"d": d, "T": T, "window": 6, "groups": TWO_EACH, "m": 1.5, "b0": 8.0} | changes
    return build_chain(**given)


def test_alpha_is_oldest_first_and_gains_fall_by_m():
    chain = base(alpha=((0.7, 0.3), (0.6, 0.4), (0.5, 0.5)))
    assert np.array_equal(chain.weights[0], [0.3, 0.7, 0, 0, 0, 0])  # lag 2 is older than lag 1
    assert np.array_equal(chain.weights[1], [0, 0, 0.4, 0.6, 0, 0])
    assert np.allclose(chain.gains, [8 * 1.5**2, 8 * 1.5, 8])


def test_alpha_is_oldest_first_in_whatever_order_lags_are_listed():
    listed = base(groups=((2, 1), (4, 3), (5, 6)), alpha=((0.7, 0.3),) * 3)
    assert np.array_equal(listed.weights, base(alpha=((0.7, 0.3),) * 3).weights)


def test_scaling_sum_multiplies_gains_by_group_sizes():
    groups = ((13, 14), (9, 10, 11, 12), tuple(range(1, 9)))
    mean = base(window=14, groups=groups, m=1.7, b0=20.0)
    added = base(window=14, groups=groups, m=1.7, b0=10.0, scaling="sum")
    assert np.allclose(mean.gains, [57.8, 34.0, 20.0])
    assert np.allclose(added.gains, [57.8, 68.0, 80.0])
    assert np.allclose(added.weights.sum(1), 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"groups": ((0, 1), (2,))},
        {"groups": ((1,), (7,))},
        {"groups": ((1,), ())},
        {"groups": ((1, 2),), "alpha": ((0.7, 0.2),)},
        {"groups": ((1, 2),), "alpha": ((1.0,),)},
    ],
)
def test_lags_outside_the_window_and_alpha_off_one_are_refused(changes):
    with pytest.raises(ValueError, match="group"):
        base(**changes)


def test_matrices_are_orthogonal_times_their_gain():
    chain = base(d=50)
    matrices = draw_matrices(STREAMS, chain, 0)
    for matrix, gain in zip(matrices, chain.gains, strict=True):
        assert np.allclose(matrix @ matrix.T, gain**2 * np.eye(50), atol=1e-10 * gain**2)


def test_matrices_are_haar():
    # under the Haar measure the trace of an orthogonal matrix has mean 0 and variance 1; QR without the signs
    # of R's diagonal has a mean trace far from 0
    traces = [np.trace(draw_matrices(STREAMS, base(d=10, b0=1.0, m=1.0), seed)[0]) for seed in range(400)]
    assert abs(np.mean(traces)) < 4 / 400**0.5
    assert abs(np.var(traces) - 1) < 4 * (2 / 400) ** 0.5


def test_mutually_orthogonal_matrices_are_orthogonal_both_ways():
    plain, mutual = base(d=20), base(d=20, mutually_orthogonal=True)
    matrices = draw_matrices(STREAMS, mutual, 3)
    for matrix, gain in zip(matrices, mutual.gains, strict=True):
        assert np.allclose(matrix @ matrix.T, gain**2 * np.eye(20), atol=1e-9 * gain**2)
    for one, other in itertools.combinations(matrices, 2):
        assert abs((one * other).sum()) < 1e-8 * np.linalg.norm(one) * np.linalg.norm(other)
    assert np.array_equal(matrices[0], draw_matrices(STREAMS, plain, 3)[0])


def test_matrices_depend_on_seed_and_group_alone():
    three, two = base(), base(groups=((1, 2, 3), (4, 5, 6)))
    unscaled = [draw_matrices(STREAMS, c, 5)[0] / c.gains[0] for c in (three, two)]
    assert np.allclose(*unscaled, atol=1e-12)
    assert not np.allclose(draw_matrices(STREAMS, three, 5), draw_matrices(STREAMS, three, 6))


def test_lag_one_is_the_last_token():
    # one group with lag 1 alone and a huge gain: each token is a function of the one before it
    chain = base(groups=((1,),), b0=1e4)
    matrices = draw_matrices(STREAMS, chain, 0)
    tokens = draw_sequences(STREAMS.generator("x"), chain, matrices, 200)
    expected = matrices[0].argmax(0)[tokens[:, chain.window - 1 : -1]]
    assert np.array_equal(tokens[:, chain.window :], expected)


def test_lag_three_is_the_token_three_before():
    chain = base(groups=((3,),), b0=1e4)
    matrices = draw_matrices(STREAMS, chain, 0)
    tokens = draw_sequences(STREAMS.generator("x"), chain, matrices, 200)
    expected = matrices[0].argmax(0)[tokens[:, chain.window - 3 : chain.length - 3]]
    assert np.array_equal(tokens[:, chain.window :], expected)


def test_sampled_tokens_follow_the_exact_conditional_distribution():
    # 3 symbols and 2 lags have 9 contexts: every context's next token against its exact distribution
    chain = build_chain(3, 1, 2, ((1,), (2,)), 1.5, 1.0)
    matrices = draw_matrices(STREAMS, chain, 0)
    tokens = draw_sequences(STREAMS.generator("counts"), chain, matrices, 90_000)
    statistic = 0.0
    for older, newer in itertools.product(range(3), repeat=2):
        logits = matrices[0][:, newer] + matrices[1][:, older]  # written out: A_1 x_{t-1} + A_2 x_{t-2}
        expected = np.exp(logits) / np.exp(logits).sum()
        drawn = tokens[(tokens[:, 0] == older) & (tokens[:, 1] == newer), 2]
        counts = np.bincount(drawn, minlength=3)
        statistic += ((counts - len(drawn) * expected) ** 2 / (len(drawn) * expected)).sum()
    assert statistic < 18 + 4 * 6  # chi-square with 18 degrees of freedom: mean 18, standard deviation 6


def test_prefix_is_uniform():
    chain = base(d=10)
    tokens = draw_sequences(STREAMS.generator("p"), chain, draw_matrices(STREAMS, chain, 0), 20_000)
    counts = np.bincount(tokens[:, : chain.window].ravel(), minlength=10)
    expected = 20_000 * 6 / 10
    assert ((counts - expected) ** 2 / expected).sum() < 9 + 4 * 18**0.5


def test_more_sequences_change_none():
    chain = base()
    matrices = draw_matrices(STREAMS, chain, 1)
    for draw in (draw_training, draw_validation):
        few, many = (draw(STREAMS, chain, matrices, 1, n) for n in (PIECE - 7, 2 * PIECE + 3))
        assert len(few) == PIECE - 7
        assert len(many) == 2 * PIECE + 3
        assert np.array_equal(few, many[: len(few)])


def test_training_validation_seeds_and_batches_differ():
    chain = base(T=12)
    matrices = draw_matrices(STREAMS, chain, 1)
    drawn = [
        draw_training(STREAMS, chain, matrices, 1, 50),
        draw_training(STREAMS, chain, matrices, 2, 50),
        draw_validation(STREAMS, chain, matrices, 1, 50),
        draw_batch(STREAMS, chain, matrices, 1, 0, 50),
        draw_batch(STREAMS, chain, matrices, 1, 1, 50),
        draw_batch(STREAMS, chain, matrices, 2, 0, 50),
    ]
    for one, other in itertools.combinations(drawn, 2):
        assert not np.array_equal(one, other)


def test_batches_are_functions_of_seed_and_step():
    chain = base()
    matrices = draw_matrices(STREAMS, chain, 0)
    in_order = [draw_batch(STREAMS, chain, matrices, 0, step, 8) for step in range(4)]
    backwards = [draw_batch(STREAMS, chain, matrices, 0, step, 8) for step in (3, 2, 1, 0)]
    assert all(np.array_equal(a, b) for a, b in zip(in_order, backwards[::-1], strict=True))


def test_chains_of_equal_size_share_prefixes():
    one, other = base(m=1.0), base(m=1.5)
    streams = open_streams(Streams(7, "sparse", "base_sequences"))
    assert streams == open_streams(Streams(7, "sparse", "m_sequences"))
    first, second = (draw_training(streams, c, draw_matrices(streams, c, 0), 0, 20) for c in (one, other))
    assert np.array_equal(first[:, :6], second[:, :6])
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(("samples", "batch"), [(12, 4), (14, 4), (5, 8)])
def test_epochs_draw_without_replacement(samples, batch):
    size = min(samples, batch)
    each = samples // size
    for epoch in range(3):
        steps = range(epoch * each, (epoch + 1) * each)
        chosen = np.concatenate([choose_batch(STREAMS, samples, 0, step, batch) for step in steps])
        assert len(chosen) == each * size
        assert len(set(chosen)) == len(chosen)
        assert set(chosen) <= set(range(samples))


def test_epochs_are_shuffled_anew():
    assert not np.array_equal(choose_batch(STREAMS, 50, 0, 0, 50), choose_batch(STREAMS, 50, 0, 1, 50))
    assert not np.array_equal(choose_batch(STREAMS, 50, 0, 0, 50), choose_batch(STREAMS, 50, 1, 0, 50))


@pytest.mark.parametrize("groups", [TWO_EACH, ((5, 6), (3, 4), (1, 2)), ((1, 2, 3), (3, 4), (4, 5, 6))])
def test_marks_are_the_lags_of_each_query(groups):
    chain = base(groups=groups)
    marks = mark_groups(chain)
    assert marks.shape == (chain.T, chain.inputs, chain.h)
    for t, key, k in np.ndindex(*marks.shape):
        position = chain.window + t  # of the predicted token; `key` is an input position
        assert marks[t, key, k] == (position - key in groups[k])


def test_every_lag_of_every_query_exists():
    chain = base(T=3)
    assert np.array_equal(mark_groups(chain).sum(1), np.full((3, 3), 2))


def test_tokens_are_drawn_by_the_predictors_own_distribution():
    # the same conditional distribution, once as a table of logits in the sampler, once in the predictors
    chain = base(d=5, T=6, b0=2.0, alpha=((0.7, 0.3), (0.2, 0.8), (0.5, 0.5)))
    matrices = draw_matrices(STREAMS, chain, 0)
    tokens = draw_sequences(STREAMS.generator("own"), chain, matrices, 20_000)
    log_p = prefix_log_probabilities(chain, matrices, tokens)[-1]
    frequency = np.stack([(tokens[:, 6:] == symbol).mean(0) for symbol in range(5)], -1)
    # sums of independent indicators minus their conditional means: standard deviation at most 1/2 each
    assert np.abs(frequency - np.exp(log_p).mean(0)).max() < 4 * 0.5 / 20_000**0.5
