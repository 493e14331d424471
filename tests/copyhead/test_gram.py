"""Guarantees of the pair statistics and what is computed from them:

- C[c,d,v,w] of each nested prefix is the sum over its sequences, whatever the precision;
- the squared error equals that on the raw sequences, for every P and member;
- its explicit gradient equals that of autograd on the raw sequences;
- the misfit of the head in whitened parameters, and its gradient, do too, for both kinds of attention;
- parameters are not changed, also where an axis has length 1;
- too few sequences are refused.
"""

import numpy as np
import pytest
import torch
from tests.copyhead.small_jobs import PRIOR, raw_squared_error

from onset.errors import OnsetError
from onset.papers.copyhead.gram import count_pairs, squared_error, squared_error_gradient
from onset.papers.copyhead.model import CopyHead

L, V, P, MEMBERS = 6, 4, (3, 8, 20), 2
TOKENS = np.random.default_rng(1).integers(V, size=(25, L), dtype=np.int8)
GRAM = count_pairs(TOKENS, P, V, torch.float64)


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_pairs_are_sums_over_each_prefix(dtype):
    X = np.eye(V)[TOKENS]
    pairs = count_pairs(TOKENS, P, V, dtype).pairs
    assert pairs.dtype == dtype
    for i, count in enumerate(P):
        direct = np.einsum("mcv,mdw->cdvw", X[:count], X[:count]).reshape(L * L, V * V)
        np.testing.assert_array_equal(pairs[i].numpy(), direct)


def test_squared_error_and_gradient_equal_autograd_on_raw_data():
    A = draw(len(P), MEMBERS, L, L).requires_grad_()
    W = draw(len(P), MEMBERS, V, V).requires_grad_()
    raw = torch.stack(
        [
            torch.stack([raw_squared_error(TOKENS[:count], A[i, k], W[i, k]) for k in range(MEMBERS)])
            for i, count in enumerate(P)
        ]
    )
    expected = torch.autograd.grad(raw.sum(), (A, W))
    with torch.no_grad():
        torch.testing.assert_close(squared_error(GRAM, A, W), raw, rtol=1e-12, atol=0)
        for found, wanted in zip(squared_error_gradient(GRAM, A, W), expected, strict=True):
            torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_misfit_in_whitened_parameters_equals_autograd_on_raw_data(attention):
    # Scales other than 1, so that a missing root or factor shows.
    head = CopyHead(attention, L, V, g_OV=0.3, v=1.7, sigma2=0.4)
    theta = draw(MEMBERS, len(P), L, L).requires_grad_()
    W = draw(MEMBERS, len(P), V, V).requires_grad_()
    omega = 1.7**0.5 * theta
    A = omega / L if attention == "linear" else omega.exp() / omega.exp().sum(-1, keepdim=True)
    actual = (0.3 / V) ** 0.5 * W
    raw = torch.stack(
        [
            torch.stack([raw_squared_error(TOKENS[:n], A[k, i], actual[k, i]) / 0.8 for i, n in enumerate(P)])
            for k in range(MEMBERS)
        ]
    )
    expected = torch.autograd.grad(raw.sum(), (theta, W))
    with torch.no_grad():
        parameters = {"theta": theta, "W": W}
        torch.testing.assert_close(head.misfit(GRAM, parameters), raw, rtol=1e-12, atol=0)
        found = head.misfit_gradient(GRAM, parameters)
        for name, wanted in zip(("theta", "W"), expected, strict=True):
            torch.testing.assert_close(found[name], wanted, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
@pytest.mark.parametrize(("members", "count"), [(1, 3), (2, 1), (1, 1)])
def test_gradient_leaves_parameters_alone(attention, members, count):
    gram = count_pairs(TOKENS, P[:count], V, torch.float64)
    head = CopyHead(attention, L, V, PRIOR.g_OV, PRIOR.v, PRIOR.sigma2)
    parameters = {"theta": draw(members, count, L, L), "W": draw(members, count, V, V)}
    before = {name: tensor.clone() for name, tensor in parameters.items()}
    gradient = head.misfit_gradient(gram, parameters)
    for name, tensor in parameters.items():
        assert torch.equal(tensor, before[name])
        assert gradient[name].shape == tensor.shape
        assert gradient[name].data_ptr() != tensor.data_ptr()


def test_too_few_sequences_are_refused():
    with pytest.raises(OnsetError, match="at least 30 sequences, found 25"):
        count_pairs(TOKENS, (3, 30), V)
