"""Exact conditional distributions of the chain and of the predictors that see its first groups alone."""

from __future__ import annotations

import numpy as np

from onset.papers.sparse.chain import Chain, Floats, Tokens

FLOOR = 1e-10
"""Least probability of a reference in a divergence (authors' code, facts)."""


def group_logits(chain: Chain, matrices: Floats, tokens: Tokens) -> Floats:
    """Each group's term A_k sum_{i in I(k)} alpha_i x_{t-i} of the logits, (h, n, T, d).

    Matrices (h, d, d) with gains, tokens (n, w+T).   Source: arXiv 2602.19143, equation of section 2.1.
    """
    logits = np.zeros((chain.h, len(tokens), chain.T, chain.d))
    for k, group in enumerate(chain.groups):
        columns = np.ascontiguousarray(matrices[k].T)
        for lag in group:
            past = tokens[:, chain.window - lag : chain.length - lag]
            logits[k] += chain.weights[k, lag - 1] * columns[past]
    return logits


def prefix_log_probabilities(chain: Chain, matrices: Floats, tokens: Tokens) -> Floats:
    """Log-probabilities of f_{A_1:i} for i = 1..h, (h, n, T, d); the last is the chain itself.

    The softmax of the first i groups' terms, nothing refitted.
    Source: arXiv 2602.19143, section 2.3, definition of f_{A_1:i}.
    """
    return normalise_logits(np.cumsum(group_logits(chain, matrices, tokens), axis=0))


def normalise_logits(logits: Floats) -> Floats:
    """Log-softmax over the last axis."""
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def entropy(log_p: Floats) -> Floats:
    """Entropy over the last axis, in nats."""
    return -(np.exp(log_p) * log_p).sum(-1)


def divergence(log_p: Floats, log_q: Floats, floor: float = FLOOR) -> Floats:
    """KL(p || q) over the last axis, in nats, with p clamped from below at `floor`.

    The clamp keeps the reference p as the paper's curves have it; it moves the value by less than
    d floor |log q|.   Source: the paper's KL curves, with direction and clamp of the authors' code (facts).
    """
    log_p = np.maximum(log_p, np.log(floor))
    return (np.exp(log_p) * (log_p - log_q)).sum(-1)


def cross_entropy(log_p: Floats, tokens: Tokens) -> float:
    """Mean of -log p over sequences and the T predicted tokens, in nats: log_p (n, T, d), tokens (n, w+T).

    Source: arXiv 2602.19143, section 2.3 (the prefix is excluded).
    """
    predicted = tokens[:, -log_p.shape[1] :, None]
    return float(-np.take_along_axis(log_p, predicted, -1).mean())
