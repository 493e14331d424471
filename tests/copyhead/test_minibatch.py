"""Guarantees of minibatch gradients:

- with all sequences in the batch they are the full gradient;
- they are unbiased;
- a batch has no repeats, stays within the first P, and depends on chain, P and step alone.
"""

import numpy as np
import pytest
import torch

from onset.papers.copyhead.gram import count_pairs
from onset.papers.copyhead.minibatch import Minibatches
from onset.papers.copyhead.model import CopyHead
from onset.randomness import Streams

L, V, P = 5, 4, (6, 15)
STREAMS = Streams(0, "copyhead", "small")
TOKENS = np.random.default_rng(4).integers(V, size=(20, L), dtype=np.int8)


def head_of(attention, d_k=None):
    return CopyHead(attention, L, V, g_OV=0.3, v=1.7, sigma2=0.4, d_k=d_k)


def open_batches(head, members, P, batch):
    return Minibatches(head, STREAMS, TOKENS, members, P, batch, torch.float64)


def full_gradient(head, state, P):
    return head.misfit_gradient(count_pairs(TOKENS, P, V, torch.float64), state)


@pytest.mark.parametrize("d_k", [None, 3])
@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_all_sequences_give_the_full_gradient(attention, d_k):
    head = head_of(attention, d_k)
    state = head.prior_state(STREAMS, (0, 1), (15,), torch.float64)
    batches = open_batches(head, (0, 1), (15,), 15)
    batches.prepare(73)
    for found, wanted in zip(
        batches.gradient(state).values(), full_gradient(head, state, (15,)).values(), strict=True
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-11, atol=1e-11)


def test_gradient_is_unbiased():
    head = head_of("softmax")
    state = head.prior_state(STREAMS, (0, 1), P, torch.float64)
    batches = open_batches(head, (0, 1), P, 4)
    draws = []
    for step in range(1500):
        batches.prepare(step)
        draws.append(batches.gradient(state)["theta"])
    found = torch.stack(draws)
    error = found.std(0) / 1500**0.5
    wanted = full_gradient(head, state, P)["theta"]
    # 100 entries: the largest of 100 standard normal deviations is above 4.5 once in 1500 tries.
    assert ((found.mean(0) - wanted).abs() < 4.5 * error + 1e-12).all()


def test_batches_are_functions_of_chain_P_and_step():
    head = head_of("linear")
    batches = open_batches(head, (0, 3), P, 4)
    batches.prepare(130)
    drawn = batches.drawn[batches.at].numpy()
    assert drawn.shape == (2, 2, 4)
    assert all(len(set(row)) == 4 for row in drawn.reshape(-1, 4))
    assert (drawn[:, 0] < 6).all() and (drawn[:, 1] < 15).all()
    other = open_batches(head, (3,), (15,), 4)
    other.prepare(131)
    other.prepare(130)
    np.testing.assert_array_equal(other.drawn[other.at].numpy()[0, 0], drawn[1, 1])
    other.prepare(131)
    assert set(other.drawn[other.at].numpy()[0, 0]) != set(drawn[1, 1])
