"""Guarantees of the models and losses:

- value and gradient of the moment form equal PyTorch's autograd on the raw sequences, to 1e-10 in float64,
  for every model, with and without side blocks;
- the MLP on cubic features is merged attention without side blocks: same predictions on raw data, same runs;
- the population loss and its gradient are the limit of many sequences, and of a quadratic form;
- many members in one batch are each the same alone; side blocks at zero give the model without them;
- gradient descent on the moments is gradient descent on the sequences, step for step.
"""

import numpy as np
import pytest
import torch
from tests.linattn.small_linattn import TASK, as_leaves, random_weights, raw_set, set_loss

from onset.papers.linattn.losses import PopulationLoss, SetLoss
from onset.papers.linattn.models import Full, Reduced, descend, function_matrix, merge
from onset.papers.linattn.raw import predict, predict_mlp, raw_loss
from onset.papers.linattn.spectrum import list_eigenvalues, square_context_covariance
from onset.papers.linattn.starts import add_side_blocks

KINDS = [(model, full) for model in ("merged", "separate") for full in (False, True)]


def reduced_raw_loss(weights, x, y):
    """Mean squared error of yhat = beta^T A x_q on the sequences, by einsum."""
    U = weights["U"] if "U" in weights else weights["K"].transpose(-1, -2) @ weights["Q"]
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    beta = (x[:, :-1] * y[:, :-1, None]).mean(1)
    found = torch.einsum("bh,bhij,pi,pj->bp", weights["v"], U, beta, x[:, -1])
    return (found - y[:, -1]).square().mean(1)


@pytest.mark.parametrize("model, full", KINDS)
def test_value_and_gradient_equal_autograd_on_raw_data(model, full):
    x, y, tokens, target = raw_set(50)
    weights = random_weights(model, full)
    leaves = as_leaves(weights)
    raw = raw_loss(leaves, tokens, target) if full else reduced_raw_loss(leaves, x, y)
    expected = torch.autograd.grad(raw.sum(), list(leaves.values()))
    program, loss = Full(3) if full else Reduced(), set_loss(x, y, full, 2)
    coefficients = program.coefficients(weights)
    np.testing.assert_allclose(loss.value(coefficients), raw.detach(), rtol=1e-12)
    found = program.pull_back(weights, loss.gradient(coefficients))
    assert found.keys() == leaves.keys()
    for name, gradient in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(found[name], gradient, rtol=1e-10, atol=1e-10)


def test_mlp_is_merged_attention_without_side_blocks():
    x, y, _, _ = raw_set(30)
    weights = {name: torch.from_numpy(a) for name, a in random_weights("merged", False).items()}
    mlp = predict_mlp(weights, torch.from_numpy(x), torch.from_numpy(y))
    np.testing.assert_allclose(
        (mlp - torch.from_numpy(y[:, -1])).square().mean(1), reduced_raw_loss(weights, x, y), rtol=1e-12
    )


@pytest.mark.parametrize("model, full", KINDS)
def test_descent_on_moments_is_descent_on_sequences(model, full):
    x, y, tokens, target = raw_set(40)
    weights = random_weights(model, full)
    leaves = as_leaves(weights)
    program, loss = Full(3) if full else Reduced(), set_loss(x, y, full, 2)
    for _ in range(60):
        raw = raw_loss(leaves, tokens, target) if full else reduced_raw_loss(leaves, x, y)
        gradients = torch.autograd.grad(raw.sum(), list(leaves.values()))
        with torch.no_grad():
            for tensor, gradient in zip(leaves.values(), gradients, strict=True):
                tensor -= 0.005 * gradient
        descend(program, loss, weights, 0.005)
    for name, tensor in leaves.items():
        np.testing.assert_allclose(weights[name], tensor.detach(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("r1", [1.0, 0.7])
def test_population_loss_is_its_quadratic_form(r1):
    eigenvalues = list_eigenvalues(TASK)
    second = square_context_covariance(eigenvalues, TASK.N)
    loss = PopulationLoss(eigenvalues, second, r1)
    A = np.random.default_rng(0).normal(size=(2, 3, 3))
    wanted = [
        eigenvalues.sum()
        - 2 * r1 * np.trace(a.T @ np.diag(eigenvalues**2))
        + np.trace(a.T @ np.diag(second) @ a @ np.diag(eigenvalues))
        for a in A
    ]
    flat = A.reshape(2, 9)
    np.testing.assert_allclose(loss.value(flat), wanted, rtol=1e-12)
    step = 1e-6 * np.eye(9)
    numeric = [[(loss.value(a + e) - loss.value(a - e)) / 2e-6 for e in step[:, None]] for a in flat[:, None]]
    np.testing.assert_allclose(loss.gradient(flat), np.squeeze(numeric), rtol=1e-6, atol=1e-8)


def test_population_loss_is_the_limit_of_many_sequences():
    x, y, _, _ = raw_set(40000)
    eigenvalues = list_eigenvalues(TASK)
    population = PopulationLoss(eigenvalues, square_context_covariance(eigenvalues, TASK.N))
    A = np.eye(3).reshape(1, 9)
    found = set_loss(x, y, False, 1).value(A)
    np.testing.assert_allclose(found, population.value(A), rtol=0.05)  # standard error about 1 %


def test_side_blocks_at_zero_change_nothing():
    x, y, _, _ = raw_set(30)
    for model in ("merged", "separate"):
        weights = random_weights(model, False)
        plain = set_loss(x, y, False, 2).value(Reduced().coefficients(weights))
        extended = set_loss(x, y, True, 2).value(Full(3).coefficients(add_side_blocks(weights)))
        np.testing.assert_allclose(plain, extended, rtol=1e-12)


@pytest.mark.parametrize("model, full", KINDS)
def test_batched_members_equal_alone(model, full):
    x, y, _, _ = raw_set(30)
    program = Full(3) if full else Reduced()
    together, loss = random_weights(model, full), set_loss(x, y, full, 2)
    alone = [{name: a[i : i + 1].copy() for name, a in together.items()} for i in range(2)]
    for _ in range(40):
        descend(program, loss, together, 0.01)
    for i, weights in enumerate(alone):
        for _ in range(40):
            descend(program, SetLoss(loss.S[i : i + 1], loss.b[i : i + 1], loss.c[i : i + 1]), weights, 0.01)
        for name, array in weights.items():
            np.testing.assert_allclose(array[0], together[name][i], rtol=1e-12, atol=1e-14)


def test_function_matrix_is_the_sum_over_heads():
    for model in ("merged", "separate"):
        weights = random_weights(model, False)
        wanted = np.einsum("bh,bhij->bij", weights["v"], merge(weights))
        np.testing.assert_allclose(function_matrix(weights), wanted, rtol=1e-12)


def test_prediction_is_the_layer_written_with_whole_matrices():
    tokens = raw_set(4)[2]
    weights = random_weights("separate", True)
    D, N = 3, 6
    found = predict({name: torch.from_numpy(a) for name, a in weights.items()}, tokens).numpy()
    for b in range(2):
        for p in range(4):
            X = tokens[p].numpy().T
            total = np.zeros_like(X)
            for h in range(4):
                WV, WKQ = np.zeros((D + 1, D + 1)), np.zeros((D + 1, D + 1))
                WV[-1] = [*weights["v_side"][b, h], weights["v"][b, h]]
                K = np.concatenate([weights["K"][b, h], weights["k_side"][b, h][:, None]], 1)
                WKQ[:, :D] = K.T @ weights["Q"][b, h]
                total += WV @ X @ X.T @ WKQ @ X / N
            assert found[b, p] == pytest.approx(total[-1, -1], rel=1e-10)
