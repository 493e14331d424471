"""Guarantees of the collapsed sampler, which moves the logits alone:

- its misfit is the exact marginal likelihood, as the theory has it and as a Gaussian process;
- its gradient is that of autograd, for both kinds of attention, on logits and on queries and keys;
- its chains have the moments of chains over all weights;
- the test loss it records is the mean over the weights given the attention.
"""

import numpy as np
import pytest
import torch
from tests.copyhead.small_jobs import PRIOR, SAMPLING, make_job

from onset.papers.copyhead.collapsed import (
    integrated_gradient,
    integrated_misfit,
    measure_integrated,
    solve_weights,
)
from onset.papers.copyhead.gram import count_pairs
from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.order import expected_loss
from onset.papers.copyhead.posterior import run_chains
from onset.papers.copyhead.theory.marginal import compute_primal_evidence
from onset.papers.copyhead.theory.model import Model
from onset.params.copyhead import Sampling

L, V, P = 5, 4, (3, 9)
TOKENS = np.random.default_rng(4).integers(V, size=(9, L), dtype=np.int8)
GRAM = count_pairs(TOKENS, P, V, torch.float64)


def head_of(attention, d_k=None):
    return CopyHead(attention, L, V, g_OV=0.3, v=1.7, sigma2=0.4, d_k=d_k)


def draw(head, members=2):
    source = torch.Generator().manual_seed(3)
    return {
        name: torch.randn(members, len(P), *shape, dtype=torch.float64, generator=source)
        for name, shape in head.shapes.items()
        if name != "W"
    }


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_misfit_is_the_marginal_likelihood(attention):
    head = head_of(attention)
    parameters = draw(head)
    found = integrated_misfit(head, GRAM, parameters).numpy()
    A = head.attend(head.logits(parameters)).numpy()
    model = Model(L=L, V=V, g=0.3, v=1.7, sigma2=0.4)
    for i in range(2):
        for j, count in enumerate(P):
            primal = compute_primal_evidence(TOKENS[:count], A[i, j], model)
            constant = count * L * V / 2 * np.log(2 * np.pi * 0.4)
            np.testing.assert_allclose(found[i, j] + constant, primal, rtol=1e-10)


@pytest.mark.parametrize("d_k", [None, 3])
@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_gradient_is_that_of_autograd(attention, d_k):
    head = head_of(attention, d_k)
    parameters = {name: tensor.requires_grad_() for name, tensor in draw(head).items()}
    expected = torch.autograd.grad(integrated_misfit(head, GRAM, parameters).sum(), parameters.values())
    with torch.no_grad():
        found = integrated_gradient(head, GRAM, parameters)
    assert list(found) == list(parameters)
    for gradient, wanted in zip(found.values(), expected, strict=True):
        torch.testing.assert_close(gradient, wanted, rtol=1e-9, atol=1e-10)


def test_test_loss_is_the_mean_over_weights():
    head = head_of("softmax")
    A = head.attend(draw(head)["theta"])
    found = measure_integrated(head, GRAM, A)["test_loss"]
    mean, covariance = solve_weights(head, GRAM, A.transpose(0, 1))
    factor = torch.linalg.cholesky(covariance)
    noise = torch.randn(4000, *mean.shape, dtype=A.dtype, generator=torch.Generator().manual_seed(0))
    losses = expected_loss(A.transpose(0, 1), mean + factor @ noise)
    error = losses.std(0) / 4000**0.5
    assert ((losses.mean(0) - found.T).abs() < 4.5 * error).all()


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_moments_are_those_of_chains_over_all_weights(attention):
    """Means of s2, the order parameters' squares and the test loss, 40 chains each."""
    changes = {"attention": attention, "P": [8, 25], "chains": 40, "steps": 1500, "record_every": 15}
    means, errors = [], []
    for weights in ("sampled", "integrated"):
        own = Sampling(**{**SAMPLING, **changes, "weights": weights})
        _, records, _ = run_chains(make_job(own, tuple(range(40))))
        copy = "cG" if attention == "linear" else "aG"
        values = torch.stack(
            [records.tensors[copy].square(), records.tensors["s2"], records.tensors["test_loss"]]
        )
        of_chains = values[:, 50:].mean(1)  # (quantity, chain, P)
        means.append(of_chains.mean(1))
        errors.append(of_chains.std(1) / 40**0.5)
    assert PRIOR.g_OV == 0.03
    # Chains are independent, so that their scatter gives the errors; 4 of 6 numbers' standard errors, and
    # 2 % for the discretisation, which differs between the two.
    allowed = 4 * torch.hypot(*errors) + 0.02 * means[0].abs()
    assert ((means[0] - means[1]).abs() < allowed).all()
