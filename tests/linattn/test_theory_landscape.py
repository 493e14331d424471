"""Guarantees of the population loss.

- a_d are the eigenvalues of a sampled E[Lhat^2], c_d -> 1 at long contexts
- E[y z] and E[z z^T] are those of sampled cubic features; the loss is their quadratic form
- L(A) is the mean squared error of attention on raw sequences, for any A, also in a rotated basis
- the next-token landscape is that of raw prefixes, for both scalings
- the force is -1/2 of the loss's gradient (autograd)
- bad eigenvalues and contexts are refused
"""

import numpy as np
import pytest
import torch

from onset.papers.linattn.spectrum import average_context_lengths
from onset.papers.linattn.theory.landscape import (
    compute_excess_factors,
    compute_feature_moments,
    compute_force,
    compute_loss,
    compute_second_moments,
    describe_next_token_loss,
    describe_query_loss,
    rank_directions,
    rotate_to_eigenbasis,
)

LAM = np.array([0.4, 0.3, 0.2, 0.1])
N = 31


def draw_sequences(count, eigenvalues, context, seed, basis=None):
    """x (S, N, D), w (S, D), query (S, D), labels (S, N)."""
    rng = np.random.default_rng(seed)
    D = len(eigenvalues)
    x = rng.standard_normal((count, context + 1, D)) * np.sqrt(eigenvalues)
    if basis is not None:
        x = x @ basis.T
    w = rng.standard_normal((count, D))
    return x[:, :-1], w, x[:, -1], np.einsum("snd,sd->sn", x[:, :-1], w)


@pytest.fixture(scope="module")
def sample():
    return draw_sequences(200_000, LAM, N, 0)


def test_second_moments_are_those_of_sampled_covariances(sample):
    empirical = np.swapaxes(sample[0], 1, 2) @ sample[0] / N
    square = (empirical @ empirical).mean(0)
    # 2e5 samples give each diagonal entry to about 0.15 %.
    np.testing.assert_allclose(np.diag(square), compute_second_moments(LAM, N), rtol=0.01)
    assert np.abs(square - np.diag(np.diag(square))).max() < 2e-3 * square.max()


def test_excess_factor_is_one_at_long_contexts():
    np.testing.assert_allclose(compute_excess_factors(LAM, 10**9), 1, atol=1e-7)
    np.testing.assert_allclose(compute_excess_factors(LAM, 31), 1 + (1 + 1 / LAM) / 31)


def test_feature_moments_are_those_of_sampled_features(sample):
    x, w, query, labels = sample
    beta = np.einsum("sn,snd->sd", labels, x) / N
    z = np.einsum("si,sj->sij", beta, query).reshape(len(w), -1)
    y = np.sum(w * query, axis=1)
    first, second = compute_feature_moments(LAM, N)
    # Standard errors are std(y z)/sqrt(2e5) = 5e-4 at most, and 2e-3 for products of two features.
    np.testing.assert_allclose((y[:, None] * z).mean(0), first, atol=2.5e-3)
    np.testing.assert_allclose(z.T @ z / len(z), second, atol=4e-3)


def test_loss_is_the_quadratic_form_of_the_feature_moments():
    A = np.random.default_rng(1).normal(size=(4, 4))
    first, second = compute_feature_moments(LAM, N)
    want = LAM.sum() - 2 * A.ravel() @ first + A.ravel() @ second @ A.ravel()
    assert compute_loss(A, describe_query_loss(LAM, N)) == pytest.approx(want, rel=1e-12)


def attend(x, labels, query, U, v):
    """ATTN_M as the paper writes it, on columns (x_n; y_n) and (x_q; 0): the entry at (D+1, N+1)."""
    S, n, D = x.shape
    X = np.zeros((S, D + 1, n + 1))
    X[:, :D, :n], X[:, D, :n], X[:, :D, n] = np.swapaxes(x, 1, 2), labels, query
    total = X
    for Ui, vi in zip(U, v, strict=True):
        key_query, value = np.zeros((D + 1, D + 1)), np.zeros((D + 1, D + 1))
        key_query[:D, :D], value[D, D] = Ui, vi
        total = total + value @ (X @ (np.swapaxes(X, 1, 2) @ (key_query @ X))) / n
    return total[:, D, n]


def test_loss_is_that_of_attention_on_raw_sequences():
    rng = np.random.default_rng(2)
    basis = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    x, w, query, labels = draw_sequences(40_000, LAM, N, 3, basis)
    U, v = rng.normal(size=(2, 4, 4)) * 0.5, np.array([1.2, -0.7])
    error = np.square(attend(x, labels, query, U, v) - np.sum(w * query, axis=1))
    A = rotate_to_eigenbasis(np.tensordot(v, U, 1), basis)
    want = compute_loss(A, describe_query_loss(LAM, N))
    assert abs(error.mean() - want) < 4 * error.std() / np.sqrt(len(error))


@pytest.mark.parametrize("scaling", ["context", "tokens"])
def test_next_token_loss_is_that_of_raw_prefixes(scaling):
    longest, rng = 9, np.random.default_rng(4)
    A = rng.normal(size=(4, 4)) + 2 * np.eye(4)
    x, _, _, labels = draw_sequences(60_000, LAM, longest + 1, 5)
    losses = []
    for n in range(1, longest + 1):
        beta = np.einsum("sn,snd->sd", labels[:, :n], x[:, :n]) / (n if scaling == "context" else n + 1)
        prediction = np.einsum("si,ij,sj->s", beta, A, x[:, n])
        losses.append(np.square(prediction - labels[:, n]))
    per_sequence = np.mean(losses, axis=0)
    want = compute_loss(A, describe_next_token_loss(LAM, longest, scaling))
    assert abs(per_sequence.mean() - want) < 4 * per_sequence.std() / np.sqrt(len(per_sequence))


def test_next_token_loss_of_one_length_is_the_query_loss():
    one, query = describe_next_token_loss(LAM, 1, "context"), describe_query_loss(LAM, 1)
    np.testing.assert_allclose(one.a, query.a)
    np.testing.assert_allclose(one.b, query.b)


def test_averages_over_lengths_are_sums_by_hand():
    assert average_context_lengths(3, "context") == pytest.approx((1, 1, (1 + 1 / 2 + 1 / 3) / 3))
    want = ((1 / 2 + 2 / 3 + 3 / 4) / 3, (1 / 4 + 4 / 9 + 9 / 16) / 3, (1 / 4 + 2 / 9 + 3 / 16) / 3)
    assert average_context_lengths(3, "tokens") == pytest.approx(want)


@pytest.mark.parametrize("describe", [lambda: describe_query_loss(LAM, N),
                                      lambda: describe_next_token_loss(LAM, N, "tokens")])  # fmt: skip
def test_force_is_half_the_negative_gradient(describe):
    landscape = describe()
    A = torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    a, lam, b = (torch.from_numpy(value) for value in (landscape.a, landscape.lam, landscape.b))
    loss = (
        lam.sum()
        - 2 * torch.trace(A.T @ torch.diag(b))
        + torch.trace(A.T @ torch.diag(a) @ A @ torch.diag(lam))
    )
    loss.backward()
    assert compute_loss(A.detach().numpy(), landscape) == pytest.approx(loss.item(), rel=1e-12)
    np.testing.assert_allclose(compute_force(A.detach().numpy(), landscape), -A.grad.numpy() / 2, atol=1e-12)


def test_leading_axes_are_kept():
    A = np.random.default_rng(6).normal(size=(2, 3, 4, 4))
    landscape = describe_query_loss(LAM, N)
    assert compute_loss(A, landscape).shape == (2, 3)
    np.testing.assert_allclose(compute_loss(A, landscape)[1, 2], compute_loss(A[1, 2], landscape))


def test_directions_are_ranked_by_eigenvalue():
    assert list(rank_directions([0.1, 0.3, 0.3, 0.2])) == [1, 2, 3, 0]


@pytest.mark.parametrize("bad", [[], [0.1, 0.0], [0.1, -0.2], [np.nan], [[0.1]]])
def test_bad_eigenvalues_are_refused(bad):
    with pytest.raises(ValueError, match="positive"):
        describe_query_loss(bad, N)


def test_empty_contexts_are_refused():
    with pytest.raises(ValueError, match="at least 1 pair"):
        describe_query_loss(LAM, 0)
    with pytest.raises(ValueError, match="at least 1 pair"):
        describe_next_token_loss(LAM, 0, "context")
