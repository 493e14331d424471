"""Guarantees of the task and its moments:

- a sequence depends on its number and seed, not on how many are drawn, nor on how they are batched;
- inputs have the spectrum, labels are noiseless, every law of the spectrum sums to its trace;
- the loss of the moments is the mean squared error on the sequences, for the three kinds of features;
- a smaller set is the first part of a larger one, and a set of one seed is that of many;
- E[Lhat^2] has the eigenvalues stated, and the next-token averages are those of a direct sum.
"""

import numpy as np
import pytest
import torch
from tests.linattn.small_linattn import NEXT, STREAMS, TASK, random_weights, raw_set, small_sets

from onset.papers.linattn.features import next_token_features
from onset.papers.linattn.models import Full, function_matrix
from onset.papers.linattn.raw import predict
from onset.papers.linattn.spectrum import (
    average_context_lengths,
    list_eigenvalues,
    mean_label_square,
    square_context_covariance,
)
from onset.papers.linattn.task import PIECE, draw_sequences, label, open_streams
from onset.params.linattn import Task


def test_a_sequence_depends_on_its_number_alone():
    streams = open_streams(STREAMS)
    x, w = draw_sequences(streams, TASK, 2, 0, 2 * PIECE + 3)
    for first, last in ((0, 5), (PIECE - 2, PIECE + 2), (2 * PIECE, 2 * PIECE + 3)):
        part_x, part_w = draw_sequences(streams, TASK, 2, first, last)
        np.testing.assert_array_equal(part_x, x[first:last])
        np.testing.assert_array_equal(part_w, w[first:last])
    other, _ = draw_sequences(streams, TASK, 3, 0, 5)
    assert abs(np.corrcoef(other.ravel(), x[:5].ravel())[0, 1]) < 0.4  # 105 independent pairs


def test_inputs_and_labels():
    x, w = draw_sequences(open_streams(STREAMS), TASK, 0, 0, 4000)
    assert x.shape == (4000, 7, 3) and w.shape == (4000, 3)
    found = np.einsum("pni,pnj->ij", x, x) / (4000 * 7)
    np.testing.assert_allclose(found, np.diag([0.5, 0.3, 0.2]), atol=0.015)  # 4 standard errors
    np.testing.assert_allclose(label(x, w), np.einsum("pnd,pd->pn", x, w), rtol=1e-12)


@pytest.mark.parametrize(
    "law, wanted", [("linear", [4, 3, 2, 1]), ("inverse", [12, 6, 4, 3]), ("white", [1] * 4)]
)
def test_laws_of_the_spectrum(law, wanted):
    found = list_eigenvalues(Task(N=5, law=law, D=4, trace=2.0))
    np.testing.assert_allclose(found, 2 * np.asarray(wanted) / np.sum(wanted), rtol=1e-14)


def test_moments_give_the_loss_on_the_sequences():
    sets = small_sets().sel(P=40, seed=3)
    x, y, tokens, target = raw_set(40, seed=3)
    weights = random_weights("separate", full=True)
    raw = predict({name: torch.from_numpy(a) for name, a in weights.items()}, tokens).numpy()
    coefficients = Full(3).coefficients(weights)
    for member in range(2):
        a = coefficients[member]
        loss = sets["c"] - 2 * a @ sets["b"].values + a @ sets["S"].values @ a
        assert float(loss) == pytest.approx(np.mean((raw[member] - target.numpy()) ** 2), rel=1e-12)
    a = function_matrix(weights)[0]
    beta = np.einsum("pnd,pn->pd", x[:, :-1], y[:, :-1]) / 6
    reduced = np.mean((np.einsum("pi,ij,pj->p", beta, a, x[:, -1]) - y[:, -1]) ** 2)
    a = a.ravel()
    loss = sets["c_reduced"] - 2 * a @ sets["b_reduced"].values + a @ sets["S_reduced"].values @ a
    assert float(loss) == pytest.approx(reduced, rel=1e-12)


@pytest.mark.parametrize("scaling", ["tokens", "context"])
def test_next_token_features_by_direct_sums(scaling):
    x, y, _, _ = raw_set(5)
    found = next_token_features(x, y, scaling)
    for n in range(1, 7):
        beta = sum(y[:, i, None] * x[:, i] for i in range(n)) / (n if scaling == "context" else n + 1)
        np.testing.assert_allclose(
            found[:, n - 1], (beta[:, :, None] * x[:, n, None]).reshape(5, 9), rtol=1e-12
        )


def test_next_token_moments_give_the_mean_over_lengths():
    sets = small_sets().sel(P=40, seed=0)
    x, y, _, _ = raw_set(40)
    a = np.random.default_rng(0).normal(size=9)
    direct = np.mean((next_token_features(x, y, NEXT.scaling) @ a - y[:, 1:]) ** 2)
    loss = sets["c_next"] - 2 * a @ sets["b_next"].values + a @ sets["S_next"].values @ a
    assert float(loss) == pytest.approx(direct, rel=1e-12)


def test_sets_of_many_sizes_and_seeds_hold_those_of_one():
    many = small_sets((40, 700), (0, 1, 3))
    np.testing.assert_allclose(many["S"].sel(P=[40], seed=[0, 3]), small_sets()["S"], rtol=1e-12, atol=1e-15)
    alone = small_sets((700,), (1,))
    for name in alone:
        np.testing.assert_allclose(many[name].sel(P=[700], seed=[1]), alone[name], rtol=1e-11, atol=1e-14)


def test_second_moment_of_the_context_covariance():
    x, w = draw_sequences(open_streams(STREAMS), TASK, 0, 0, 40000)
    context = x[:, :-1]
    covariance = np.matmul(context.transpose(0, 2, 1), context) / 6
    found = np.matmul(covariance, covariance).mean(0)
    wanted = square_context_covariance(list_eigenvalues(TASK), 6)
    np.testing.assert_allclose(np.diag(found), wanted, rtol=0.03)  # 4 standard errors of 40000 sequences
    y = label(context, w)
    assert np.mean((y**2).mean(1) ** 2) == pytest.approx(
        mean_label_square(list_eigenvalues(TASK), 6), rel=0.06
    )


@pytest.mark.parametrize("scaling, shift", [("context", 0), ("tokens", 1)])
def test_averages_over_context_lengths(scaling, shift):
    n = range(1, 32)
    wanted = [
        sum(f(k) for k in n) / 31
        for f in (
            lambda k: k / (k + shift),
            lambda k: (k / (k + shift)) ** 2,
            lambda k: k / (k + shift) ** 2,
        )
    ]
    np.testing.assert_allclose(average_context_lengths(31, scaling), wanted, rtol=1e-14)
