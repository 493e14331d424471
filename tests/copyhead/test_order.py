"""Guarantees of the order parameters and of the exact test loss:

- they take their defining values on the copying permutation G and on pooling J/L;
- c1 J/L + cG (G - J/L) is the orthogonal projection of A, and all other sums equal plain loops;
- softmax attention has c1 = 1 exactly;
- the test loss equals the mean over all V^L sequences, enumerated, and the mean over drawn ones.
"""

import itertools

import numpy as np
import pytest
import torch
from tests.copyhead.small_jobs import raw_squared_error

from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.order import expected_loss, measure_head, order_parameters


def draw(*shape, seed=3):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def copying(L):
    G = torch.zeros(L, L, dtype=torch.float64)
    for a in range(L):
        G[a, (a - 1) % L] = 1
    return G


def test_values_on_copying_and_pooling():
    G, pooling = copying(5), torch.full((5, 5), 0.2, dtype=torch.float64)
    copied, pooled = order_parameters(G), order_parameters(pooling)
    assert [float(copied[n]) for n in ("c1", "t", "cG", "s2", "m", "u")] == [1, 5, 1, 5, 5, 5]
    expected = [1, 1, 0, 1, 5, 5]
    found = [float(pooled[n]) for n in ("c1", "t", "cG", "s2", "m", "u")]
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_decomposition_is_the_orthogonal_projection():
    L = 7
    A, G, J = draw(L, L), copying(L), torch.ones(L, L, dtype=torch.float64)
    order = order_parameters(A)
    basis = torch.stack([(J / L).flatten(), (G - J / L).flatten()], 1)
    solution = torch.linalg.lstsq(basis, A.flatten()[:, None]).solution.flatten()
    torch.testing.assert_close(solution, torch.stack([order["c1"], order["cG"]]), rtol=1e-12, atol=1e-13)
    assert abs(float(basis[:, 0] @ basis[:, 1])) < 1e-14


def test_batched_equals_plain_sums():
    A = draw(2, 3, 5, 5)
    order = order_parameters(A)
    for i, k in itertools.product(range(2), range(3)):
        a = A[i, k].numpy()
        plain = {
            "t": sum(a[r, r - 1] for r in range(5)),
            "s2": (a**2).sum(),
            "m": (a.sum(1) ** 2).sum(),
            "u": a.sum(),
        }
        for name, value in plain.items():
            assert float(order[name][i, k]) == pytest.approx(value, rel=1e-12, abs=1e-13)


def test_softmax_pools_exactly():
    head = CopyHead("softmax", 9, 4, 0.03, 2.0, 0.5)
    theta = 3 * draw(4, 2, 9, 9)
    np.testing.assert_allclose(order_parameters(head.attend(theta))["c1"].numpy(), 1, rtol=1e-14)
    assert set(measure_head("softmax", head.attend(theta), draw(4, 2, 4, 4))) == {
        "a1",
        "aG",
        "s2",
        "test_loss",
    }


def test_copy_state_copies():
    for attention, expected in (("softmax", None), ("linear", 0.8)):
        head = CopyHead(attention, 8, 3, 0.03, 2.0, 0.5)
        A, W = head.actual(head.copy_state(2, 3, torch.float64))
        cG = order_parameters(A)["cG"]
        softmax = (np.exp(5) - 1) / (np.exp(5) + 7)  # one logit at 5, seven at 0
        np.testing.assert_allclose(cG.numpy(), softmax if expected is None else expected, rtol=1e-12)
        torch.testing.assert_close(W, 0.9 * torch.eye(3, dtype=W.dtype).expand(2, 3, 3, 3))


@pytest.mark.parametrize(("L", "V"), [(3, 3), (4, 2), (5, 3)])
def test_expected_loss_is_the_mean_over_all_sequences(L, V):
    A, W = draw(L, L), draw(V, V, seed=4)
    everything = np.array(list(itertools.product(range(V), repeat=L)), dtype=np.int8)
    mean = raw_squared_error(everything, A, W) / (len(everything) * L)
    torch.testing.assert_close(expected_loss(A, W), mean, rtol=1e-12, atol=0)


def test_expected_loss_is_the_mean_over_drawn_sequences():
    L, V, samples = 10, 6, 20000
    A, W = draw(L, L) / L, draw(V, V, seed=4)
    tokens = np.random.default_rng(5).integers(V, size=(samples, L), dtype=np.int8)
    mean = raw_squared_error(tokens, A, W) / (samples * L)
    # The loss of one sequence scatters by less than its mean, so 20000 give 0.7 % at most.
    assert float(expected_loss(A, W)) == pytest.approx(float(mean), rel=0.02)
