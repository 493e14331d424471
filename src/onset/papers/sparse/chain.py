"""The high-order Markov chain with groups of unequal importance, as a function of named random streams.

One sequence of T = 3 tokens with w = 4 and the groups I(1) = {1, 2}, I(2) = {3, 4}:

    position    0   1   2   3   4   5   6        prefix: 0 to 3, uniform
    token      x0  x1  x2  x3  x4  x5  x6        x4 depends on x3, x2 through A_1 and on x1, x0 through A_2
    input       .   .   .   q   q   q            the model sees all but the last token; q predicts the next

Lag i of the token at position t is the token at t - i.  The query that predicts it stands at t - 1, so lag 1
is the query's own token.  Groups are ordered by importance, alpha within a group by age, oldest token first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onset.randomness import Streams

if TYPE_CHECKING:
    from onset.params.sparse import Chain as ChainSection

Floats = NDArray[np.float64]
Tokens = NDArray[np.int64]

PIECE = 500  # sequences of a dataset drawn from one stream; part of what the sequences are
ROUNDING = 1e-9  # by how much a group's alpha may miss one


@dataclass(frozen=True, eq=False)
class Chain:
    """The chain's numbers.

    weights (h, w): alpha of each group by lag, entry i-1 for lag i, 0 outside the group.
    gains (h,): scale of each group's orthogonal matrix, m^(h-k) b0, times |I(k)| where tokens are summed.
    """

    d: int
    T: int
    window: int
    groups: tuple[tuple[int, ...], ...]
    weights: Floats
    gains: Floats
    mutually_orthogonal: bool = False

    @property
    def h(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @property
    def length(self) -> int:
        """Tokens of a sequence, w + T."""
        return self.window + self.T

    @property
    def inputs(self) -> int:
        """Tokens L that a model sees, w + T - 1."""
        return self.length - 1


def build_chain(
    d: int,
    T: int,
    window: int,
    groups: Sequence[Sequence[int]],
    m: float,
    b0: float,
    *,
    alpha: Sequence[Sequence[float]] | None = None,
    scaling: str = "mean",
    mutually_orthogonal: bool = False,
) -> Chain:
    """The chain of d symbols whose groups I(k), most important first, have matrices of scale m^(h-k) b0.

    `alpha` weighs the lags of each group, the oldest (largest) lag first; None for 1/|I(k)|.  With `scaling`
    "sum" the tokens of a group are added up, which multiplies the gain of I(k) by its size.
    Source: arXiv 2602.19143, section 2.1 and 2.3; "sum" and the order of alpha: authors' code (facts).
    Raises ValueError where a lag lies outside 1..window or alpha does not fit or does not sum to one.
    """
    weights = np.zeros((len(groups), window))
    for k, group in enumerate(groups):
        if not group or min(group) < 1 or max(group) > window:
            raise ValueError(f"group {list(group)}: lags should lie in 1..{window}")
        oldest_first = sorted(group, reverse=True)
        values = [1 / len(group)] * len(group) if alpha is None else alpha[k]
        if len(values) != len(group) or abs(sum(values) - 1) > ROUNDING:
            raise ValueError(f"alpha {list(values)} of group {list(group)}: one for each lag, sum 1")
        weights[k, np.asarray(oldest_first) - 1] = values
    h = len(groups)
    sizes = np.asarray([len(group) if scaling == "sum" else 1 for group in groups])
    gains = b0 * float(m) ** np.arange(h - 1, -1, -1) * sizes
    return Chain(d, T, window, tuple(tuple(group) for group in groups), weights, gains, mutually_orthogonal)


def read_chain(section: ChainSection) -> Chain:
    """The chain that a section of params.yaml describes."""
    return build_chain(
        section.d,
        section.T,
        section.window,
        section.groups,
        section.m,
        section.b0,
        alpha=section.alpha,
        scaling=section.scaling,
        mutually_orthogonal=section.mutually_orthogonal,
    )


def open_streams(streams: Streams) -> Streams:
    """The streams of all datasets of the paper: chains of equal size share matrices, prefixes and noise."""
    return Streams(streams.root, streams.paper, "sequences")


def draw_matrices(streams: Streams, chain: Chain, seed: int) -> Floats:
    """A_k (h, d, d), gains included; row = next token, column = past token.

    Each is a Haar orthogonal matrix times its gain; where the chain asks for it they are also orthogonal to
    each other in the Frobenius product, by alternating projections (ours), so that they stay orthogonal.
    Source: arXiv 2602.19143, section 2.3; mutual orthogonality for appendix D.2: authors' code (facts).
    """
    normal = [
        streams.generator("matrix", chain.d, k, seed).standard_normal((chain.d,) * 2) for k in range(chain.h)
    ]
    matrices = [_orthogonalise(part) for part in normal]
    if chain.mutually_orthogonal:
        for k in range(1, chain.h):
            matrices[k] = _part_from(matrices[k], matrices[:k])
    return chain.gains[:, None, None] * np.stack(matrices)


def _orthogonalise(normal: Floats) -> Floats:
    """The Haar orthogonal matrix of a Gaussian one: QR with the signs of R's diagonal moved into Q."""
    q, r = np.linalg.qr(normal)
    return q * np.sign(np.diag(r))


def _part_from(matrix: Floats, others: Sequence[Floats], rounds: int = 500) -> Floats:
    """The orthogonal matrix near `matrix` whose Frobenius product with each of `others` is 0."""
    for _ in range(rounds):
        for other in others:
            matrix = matrix - (matrix * other).sum() / (other**2).sum() * other
        u, _s, vt = np.linalg.svd(matrix)
        matrix = u @ vt
        if max(abs((matrix * other).sum()) for other in others) < 1e-10:
            return matrix
    raise ValueError(f"found no orthogonal matrix of size {len(matrix)} orthogonal to {len(others)} others")


def draw_sequences(generator: np.random.Generator, chain: Chain, matrices: Floats, samples: int) -> Tokens:
    """Sequences (samples, w+T): w tokens uniform on the symbols, then T of the chain.

    Tokens are drawn by inverting the cumulative distribution at one uniform number each; the uniform numbers
    do not depend on the matrices.
    Source: arXiv 2602.19143, section 2.1; the uniform prefix: authors' code (facts).
    """
    tokens = np.empty((samples, chain.length), dtype=np.int64)
    tokens[:, : chain.window] = generator.integers(0, chain.d, (samples, chain.window))
    level = generator.random((chain.T, samples, 1))
    table = np.einsum("kl,kab->lba", chain.weights, matrices)  # (lag - 1, past token, next token)
    logits, term = np.empty((2, samples, chain.d))
    for t in range(chain.T):
        position = chain.window + t
        np.take(table[0], tokens[:, position - 1], axis=0, out=logits)
        for lag in range(2, chain.window + 1):
            logits += np.take(table[lag - 1], tokens[:, position - lag], axis=0, out=term)
        logits -= logits.max(-1, keepdims=True)
        cumulative = np.exp(logits, out=logits).cumsum(-1)
        tokens[:, position] = (cumulative[:, :-1] <= level[t] * cumulative[:, -1:]).sum(-1)
    return tokens


def _draw_pieces(
    streams: Streams, purpose: str, chain: Chain, matrices: Floats, seed: int, samples: int
) -> Tokens:
    pieces = []
    for piece in range(-(-samples // PIECE)):
        generator = streams.generator(purpose, chain.d, chain.T, chain.window, seed, piece)
        pieces.append(draw_sequences(generator, chain, matrices, PIECE))
    return np.concatenate(pieces)[:samples]


def draw_training(streams: Streams, chain: Chain, matrices: Floats, seed: int, samples: int) -> Tokens:
    """The first `samples` training sequences of a seed; each depends on its number, not on how many."""
    return _draw_pieces(streams, "training", chain, matrices, seed, samples)


def draw_validation(streams: Streams, chain: Chain, matrices: Floats, seed: int, samples: int) -> Tokens:
    """The first `samples` validation sequences of a seed, likewise."""
    return _draw_pieces(streams, "validation", chain, matrices, seed, samples)


def draw_batch(streams: Streams, chain: Chain, matrices: Floats, seed: int, step: int, batch: int) -> Tokens:
    """The fresh batch (batch, w+T) of step `step` (0-based) of a seed.

    A function of (streams, chain, seed, step) and `batch`, so that a resumed run sees the same batches.
    """
    return draw_sequences(streams.generator("batch", seed, step), chain, matrices, batch)


def choose_batch(streams: Streams, samples: int, seed: int, step: int, batch: int) -> Tokens:
    """Numbers (min(batch, samples),) of the training sequences of step `step` (0-based) of a seed.

    Each epoch is a permutation of its own, cut into whole batches; sequences left over wait for the next
    epoch (ours).  A function of (streams, samples, seed, step, batch).
    """
    size = min(batch, samples)
    epoch, part = divmod(step, samples // size)
    order = streams.generator("order", seed, epoch).permutation(samples)
    return order[part * size : (part + 1) * size]


def mark_groups(chain: Chain) -> NDArray[np.bool_]:
    """Whether input position `key` is a lag of I(k) for a predicting query: (T, L, h), by query, key, k.

    Query t of 0..T-1 stands at input position w-1+t and predicts the token at w+t, whose lag i is at w+t-i.
    """
    marks = np.zeros((chain.T, chain.inputs, chain.h), dtype=bool)
    queries = np.arange(chain.T)
    for k, group in enumerate(chain.groups):
        for lag in group:
            marks[queries, chain.window + queries - lag, k] = True
    return marks
