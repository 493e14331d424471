"""What attention heads do, as numbers: previous-token and induction scores, and what random heads score.

Attention has its two positions last, A[..., query, key], each row a distribution over keys up to the query;
layers, heads and sequences lead.  Positions are counted from 0.  Means over sequences are the caller's.

Two kinds of baseline: what uniform attention over all keys up to the query, itself included, scores exactly
(a softmax head does so when all its logits are equal), and the paper's printed formulas, which leave out the
position itself and so lie above.
Source: arXiv 2602.07562, definitions of PTH, IH-MC and IH-Repeat; the exact baselines are ours.
"""

from __future__ import annotations

import numpy as np


def measure_PTH(attention: np.ndarray) -> np.ndarray:
    """Previous-token score (...): mean over queries q = 1..L-1 of A[q, q-1], for attention (..., L, L).

    Raises ValueError where attention is not square or has a single position.
    """
    length = _count_positions(attention)
    if length < 2:
        raise ValueError("a previous-token score takes at least two positions")
    return np.diagonal(attention, -1, -2, -1).mean(-1)


def measure_IH_MC(attention: np.ndarray, match: np.ndarray) -> np.ndarray:
    """Induction score of match-and-copy (n, ...): A[L-1, match+1], from the query to its match's successor.

    attention (n, ..., L, L) with sequences first, match (n,) the matched position of each sequence, from 0.
    Raises ValueError where their lengths differ or a successor is not before the query.
    """
    length, match = _count_positions(attention), np.asarray(match)
    if match.shape != attention.shape[:1]:
        raise ValueError(
            f"match has shape {match.shape}; should have one entry for each of {len(attention)} sequences"
        )
    if match.size and not (match.min() >= 0 and match.max() <= length - 3):
        raise ValueError(f"matches should lie in 0..{length - 3}, so that a successor is before the query")
    return attention[np.arange(len(match)), ..., -1, match + 1]


def measure_IH_repeat(attention: np.ndarray) -> np.ndarray:
    """Induction score on a sequence repeated once (...): mean over the second copy of A[q, q-K+1], L = 2K.

    Token K+j of the second copy looks at position j+1, the successor of its first occurrence; for j = K-1
    that is position K, where the second copy begins.  A head that looks back by a fixed number of positions
    scores as well, so compare with the score on sequences that do not repeat.
    Raises ValueError where attention is not square or has an odd number of positions.
    """
    length = _count_positions(attention)
    if length < 2 or length % 2:
        raise ValueError(f"attention over {length} positions; a repeated sequence has an even number")
    K = length // 2
    return np.diagonal(attention, 1 - K, -2, -1)[..., -K:].mean(-1)


def random_PTH(T: int) -> float:
    """PTH of uniform causal attention over T+1 positions: (H_{T+1} - 1)/T with harmonic numbers H."""
    return (harmonic(T + 1) - 1) / T


def random_IH_MC(T: int) -> float:
    """IH-MC of uniform causal attention, the query at position T: 1/(T+1)."""
    return 1 / (T + 1)


def random_IH_repeat(K: int) -> float:
    """IH-Repeat of uniform causal attention over 2K positions: (H_{2K} - H_K)/K."""
    return (harmonic(2 * K) - harmonic(K)) / K


def approximate_PTH(T: int) -> float:
    """The paper's baseline of PTH, H_T/T: queries 1..T, without the position itself."""
    return harmonic(T) / T


def approximate_IH_MC(T: int) -> float:
    """The paper's baseline of IH-MC, 1/T: without the position itself."""
    return 1 / T


def approximate_IH_repeat(K: int) -> float:
    """The paper's baseline of IH-Repeat, (H_{2K-1} - H_{K-1})/K: without the position itself."""
    return (harmonic(2 * K - 1) - harmonic(K - 1)) / K


def harmonic(n: int) -> float:
    """The harmonic number H_n = 1 + 1/2 + ... + 1/n; 0 for n = 0."""
    return float((1 / np.arange(1, n + 1)).sum())


def _count_positions(attention: np.ndarray) -> int:
    if attention.ndim < 2 or attention.shape[-1] != attention.shape[-2]:
        raise ValueError(f"attention has shape {attention.shape}; its last two axes should be query and key")
    return attention.shape[-1]
