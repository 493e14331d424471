"""Gaussian Match-and-Copy: the task and its sequences, as a function of named random streams.

One sequence of T = 4 tokens, with the match at t0 = 1:

    position   0     1     2     3     4
    token     e_0   e_1   e_2   e_3    e      e = C e_1 + S xi, the query
    target     .     .     .     .   W e_2 + noise

The query is correlated with exactly one token of the context; the target is a noisy linear image of the token
that follows it.  The last context token has no successor in the context, so it is never the match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from onset.randomness import Streams

if TYPE_CHECKING:
    from onset.params.gmc import Task

PIECE = 500  # test sequences drawn from one stream; part of what the sequences are
ROUNDING = 1e-9
"""By how much the spectral norm of C may exceed 1, for its entries are rounded."""


@dataclass(frozen=True, eq=False)
class GMC:
    """The task's numbers.

    C (d_in, d_in) is the covariance of query and match, in units of the variance sigma_token^2/d_in of a
    token's entry; S (d_in, d_in) is the symmetric root of I - C C^T; both float64.
    """

    T: int
    d_in: int
    C: np.ndarray
    S: np.ndarray
    sigma_token: float
    sigma_noise: float

    @property
    def deviation(self) -> float:
        """Standard deviation of an entry of a token."""
        return self.sigma_token / self.d_in**0.5


class Sequences(NamedTuple):
    """Tokens (n, T+1, d_in), the query last; targets (n, d_out); matches t0 (n,) in 0..T-2."""

    tokens: np.ndarray
    targets: np.ndarray
    match: np.ndarray


def build_task(T: int, C: np.ndarray, sigma_token: float = 1.0, sigma_noise: float = 0.1) -> GMC:
    """The task of a covariance C (d_in, d_in).

    Source: arXiv 2602.07562, definition of the task; that S is the symmetric root is our choice, for the law
    of the query depends on S S^T alone.
    Raises ValueError where T < 3 (one token could be the match, or none), or where the spectral norm of C
    exceeds 1, so that no S with S S^T = I - C C^T exists.
    """
    C = np.asarray(C, dtype=np.float64)
    if T < 3:
        raise ValueError(f"T = {T}: should be at least 3")
    norm = float(np.linalg.norm(C, 2))
    if norm > 1 + ROUNDING:
        raise ValueError(f"C has spectral norm {norm:.6g}; should be at most 1")
    values, vectors = np.linalg.eigh(np.eye(len(C)) - C @ C.T)
    S = (vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T
    return GMC(T, len(C), C, S, sigma_token, sigma_noise)


def read_task(section: Task) -> GMC:
    """The task that a section of params.yaml describes."""
    if section.matrix is not None:
        C = np.asarray(section.matrix, dtype=np.float64)
    elif section.singular_values is not None:
        C = np.diag(np.asarray(section.singular_values, dtype=np.float64))
    else:
        assert section.c is not None
        C = np.eye(section.d_in) / section.c**2
    return build_task(section.T, C, section.sigma_token, section.sigma_noise)


def open_streams(streams: Streams) -> Streams:
    """The streams that all experiments of the paper share: equal seeds see equal batches and starts."""
    return Streams(streams.root, streams.paper, "sequences")


def draw_value_map(streams: Streams, d_in: int) -> np.ndarray:
    """W_V (d_out, d_in) with d_out = d_in and independent N(0, 1) entries, float64.

    One for all tasks of equal d_in, for training and test alike.
    """
    return streams.generator("value map", d_in).standard_normal((d_in, d_in))


def draw_sequences(
    generator: np.random.Generator, task: GMC, value_map: np.ndarray, samples: int
) -> Sequences:
    """Independent sequences, float64.

    e_t ~ N(0, sigma_token^2/d_in I), t0 uniform on 0..T-2, query C e_t0 + S xi with xi like a token, target
    W_V e_{t0+1} + N(0, sigma_noise^2 I).  The draws do not depend on C: equal generators give the same
    context, matches and noises for every C.
    Source: arXiv 2602.07562, definition of the task.
    """
    match = generator.integers(0, task.T - 1, samples)
    context = generator.standard_normal((samples, task.T, task.d_in)) * task.deviation
    xi = generator.standard_normal((samples, task.d_in)) * task.deviation
    noise = generator.standard_normal((samples, len(value_map))) * task.sigma_noise
    row = np.arange(samples)
    query = context[row, match] @ task.C.T + xi @ task.S.T
    targets = context[row, match + 1] @ value_map.T + noise
    return Sequences(np.concatenate([context, query[:, None]], 1), targets, match)


def draw_batch(
    streams: Streams, task: GMC, value_map: np.ndarray, seed: int, step: int, batch: int
) -> Sequences:
    """The batch of step `step` (0-based) of run `seed`: tokens and targets float32, matches int64.

    A function of (streams, T, d_in, seed, step) and `batch`: every batch is fresh, and a resumed run sees the
    same ones.
    """
    generator = streams.generator("training", task.T, task.d_in, seed, step)
    drawn = draw_sequences(generator, task, value_map, batch)
    return Sequences(drawn.tokens.astype(np.float32), drawn.targets.astype(np.float32), drawn.match)


def draw_test_sequences(streams: Streams, task: GMC, value_map: np.ndarray, samples: int) -> Sequences:
    """The first `samples` test sequences, float64; each depends on its number, not on how many there are."""
    pieces = [
        draw_sequences(streams.generator("test", task.T, task.d_in, piece), task, value_map, PIECE)
        for piece in range(-(-samples // PIECE))
    ]
    return Sequences(*(np.concatenate(parts)[:samples] for parts in zip(*pieces, strict=True)))


def draw_repeated(streams: Streams, task: GMC, K: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Repeated sequences (e_1..e_K, e_1..e_K), and controls that share their first half alone.

    Both (samples, 2K, d_in), float64.
    Source: the sequences of IH-Repeat in arXiv 2602.07562; the control is ours: a head that looks back by a
    fixed number of positions scores on both, an induction head on the repeated ones alone.
    """
    generator = streams.generator("repeated", task.d_in, K)
    drawn = generator.standard_normal((samples, 2, K, task.d_in)) * task.deviation
    first, second = drawn[:, 0], drawn[:, 1]
    return np.concatenate([first, first], 1), np.concatenate([first, second], 1)
