"""The best predictor of the task: the posterior over the match, and the losses that can be reached.

If t is the match, the query is N(C e_t, sigma_token^2/d_in (I - C C^T)) given the tokens, and nothing else
depends on the match; so the posterior is a softmax of Mahalanobis distances, and the best prediction under
squared error the posterior mean of the successors' images.
Source: our derivation, for any C.  The paper (arXiv 2602.07562) states the noise floor sigma_noise^2 alone,
which no predictor reaches where the match cannot be told.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onset.papers.gmc.task import GMC, draw_sequences

SMALLEST = 1e-12
"""Least variance of the query about its match that is counted, as a share of a token's own.

Where the query equals C e_t exactly, residuals of the match are float32 rounding, about 1e-7 of an entry:
this is above their square, and leaves every other candidate without weight."""
CHUNK = 4000  # sequences in memory at once


def match_posterior(tokens: np.ndarray, task: GMC) -> np.ndarray:
    """Posterior weights (n, T-1) of t0 = 0..T-2, float64, for tokens (n, T+1, d_in).

    w_t is proportional to exp(-|P (e - C e_t)|^2 d_in / (2 sigma_token^2)), P the inverse root of I - C C^T;
    for C = I/c^2 to exp(-d_in |e - e_t/c^2|^2 / (2 sigma_token^2 (1 - c^-4))).
    """
    tokens = np.asarray(tokens, dtype=np.float64)
    values, vectors = np.linalg.eigh(np.eye(task.d_in) - task.C @ task.C.T)
    inverse_root = vectors / np.sqrt(np.maximum(values, SMALLEST))
    residual = (tokens[:, -1:] - tokens[:, : task.T - 1] @ task.C.T) @ inverse_root
    logits = -0.5 * (residual**2).sum(-1) / task.deviation**2
    weights = np.exp(logits - logits.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


def list_successors(tokens: np.ndarray, task: GMC) -> np.ndarray:
    """What may be copied, (n, T-1, d_in): the tokens that follow each candidate."""
    return np.asarray(tokens, dtype=np.float64)[:, 1 : task.T]


def predict_bayes(tokens: np.ndarray, task: GMC, value_map: np.ndarray) -> np.ndarray:
    """Posterior mean of the target (n, d_out): W_V sum_t w_t e_{t+1}."""
    weights = match_posterior(tokens, task)
    return np.einsum("nt,ntd->nd", weights, list_successors(tokens, task)) @ value_map.T


def predict_uniform(tokens: np.ndarray, task: GMC, value_map: np.ndarray) -> np.ndarray:
    """Mean of all candidates' images (n, d_out): the best prediction that ignores the query."""
    return list_successors(tokens, task).mean(1) @ value_map.T


def mean_squared_error(predicted: np.ndarray | float, targets: np.ndarray) -> float:
    """Squared error averaged over sequences and entries, the paper's loss."""
    return float(np.mean((np.asarray(targets, dtype=np.float64) - predicted) ** 2))


def uniform_loss(task: GMC, value_map: np.ndarray) -> float:
    """Population loss of the uniform average.

    |W_V|_F^2 sigma_token^2/(d_in d_out) (1 - 1/(T-1)) + sigma_noise^2, for any C: the query is not used.
    """
    return _signal(task, value_map) * (1 - 1 / (task.T - 1)) + task.sigma_noise**2


def zero_loss(task: GMC, value_map: np.ndarray) -> float:
    """Population loss of predicting 0: |W_V|_F^2 sigma_token^2/(d_in d_out) + sigma_noise^2."""
    return _signal(task, value_map) + task.sigma_noise**2


def _signal(task: GMC, value_map: np.ndarray) -> float:
    """Variance of a target's entry without noise, averaged over entries."""
    return float((value_map**2).mean() * task.sigma_token**2)


class Population(NamedTuple):
    """Monte Carlo estimates of the Bayes predictor in the population, each with its standard error."""

    loss: float
    loss_se: float
    match_weight: float
    match_weight_se: float
    top1: float
    top1_se: float


def estimate_population(
    generator: np.random.Generator, task: GMC, value_map: np.ndarray, draws: int
) -> Population:
    """Bayes loss, E[w at t0], and P(the largest weight is the match's).

    For each drawn sequence the expectation over match and noise given the tokens is exact: the posterior
    variance of the successors' images, sum_t w_t^2, and max_t w_t.  That varies less than what is realised.
    """
    found: list[np.ndarray] = []
    for first in range(0, draws, CHUNK):
        tokens = draw_sequences(generator, task, value_map, min(CHUNK, draws - first)).tokens
        weights = match_posterior(tokens, task)
        images = list_successors(tokens, task) @ value_map.T
        mean = np.einsum("nt,ntd->nd", weights, images)
        spread = np.einsum("nt,ntd->n", weights, (images - mean[:, None]) ** 2) / len(value_map)
        found.append(np.stack([spread + task.sigma_noise**2, (weights**2).sum(1), weights.max(1)]))
    values = np.concatenate(found, 1)
    means, errors = values.mean(1), values.std(1, ddof=1) / np.sqrt(draws)
    return Population(*(float(x) for pair in zip(means, errors, strict=True) for x in pair))
