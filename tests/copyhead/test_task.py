"""Guarantees of the copy task's data:

- drawing more sequences keeps those already drawn, bit for bit, across and within pieces;
- tokens are int8, of shape (samples, L), and uniform over all V symbols, also jointly at neighbours;
- a vocabulary that int8 cannot hold is refused.
"""

import numpy as np
import pytest
from scipy import stats
from tests.copyhead.small_jobs import sequences

from onset.errors import OnsetError
from onset.papers.copyhead.task import PIECE, draw_tokens
from onset.params.copyhead import Task
from onset.randomness import Streams

STREAMS = Streams(0, "copyhead", "sequences")


@pytest.mark.parametrize("samples", [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_more_samples_keep_the_first_ones(samples):
    few, many = draw_tokens(STREAMS, samples, 7, 5), draw_tokens(STREAMS, 4 * PIECE + 3, 7, 5)
    assert few.shape == (samples, 7)
    np.testing.assert_array_equal(few, many[:samples])


def test_pieces_differ():
    tokens = draw_tokens(STREAMS, 2 * PIECE, 7, 5)
    assert (tokens[:PIECE] != tokens[PIECE:]).any()


def test_tokens_are_uniform_and_independent():
    tokens = draw_tokens(STREAMS, 2000, 8, 6)
    assert tokens.dtype == np.int8
    pairs = np.histogram2d(tokens[:, :-1].ravel(), tokens[:, 1:].ravel(), bins=6)[0]
    # Neighbouring pairs overlap, which leaves the chi-square statistic of independent symbols unchanged on
    # average; the seed is fixed, and a missing or favoured symbol gives p far below 1e-6.
    assert stats.chisquare(np.bincount(tokens.ravel(), minlength=6)).pvalue > 1e-3
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-3


def test_dataset_has_named_axes():
    dataset = sequences(10, Task(L=5, V=3))
    assert dataset["tokens"].dims == ("sample", "position")
    assert dict(dataset.sizes) == {"sample": 10, "position": 5}
    assert dataset["tokens"].attrs["units"] == "1"


def test_too_large_vocabulary_is_refused():
    with pytest.raises(OnsetError, match=r"task\.V of at most 127, found 128"):
        draw_tokens(STREAMS, 1, 4, 128)
