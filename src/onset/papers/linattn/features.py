"""The features that linear attention is linear in, and their moments over a set of sequences.

With side blocks the prediction is linear in phi = G_ab x_qc, a <= b <= D+1, c <= D, where
G = (1/N) X X^T over all tokens, the query included.  Without them it is linear in the cubic feature
z = vec(beta x_q^T), beta = (1/N) sum_n y_n x_n, which is the part of phi with b = D+1 > a.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def pair_indices(D: int) -> tuple[np.ndarray, np.ndarray]:
    """Token entries (a, b), a <= b, of the symmetric matrix G, each ((D+1)(D+2)/2,); entry D is the label."""
    return np.triu_indices(D + 1)


def cubic_features(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """z = vec(beta x_q^T) (P, D^2), row-major, from inputs (P, N+1, D) and labels (P, N+1)."""
    beta = np.matmul(x[:, :-1].transpose(0, 2, 1), y[:, :-1, None]) / (x.shape[1] - 1)
    return (beta * x[:, -1, None, :]).reshape(len(x), -1)


def full_features(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """phi (P, (D+1)(D+2)/2 * D) from inputs (P, N+1, D) and labels (P, N+1); the query token has label 0."""
    P, length, D = x.shape
    tokens = np.zeros((P, length, D + 1))
    tokens[..., :D] = x
    tokens[:, :-1, D] = y[:, :-1]
    G = np.matmul(tokens.transpose(0, 2, 1), tokens) / (length - 1)
    a, b = pair_indices(D)
    return (G[:, a, b, None] * x[:, -1, None, :]).reshape(P, -1)


def next_token_features(x: np.ndarray, y: np.ndarray, scaling: str) -> np.ndarray:
    """vec(beta_n x_{n+1}^T) (P, N, D^2) of every context length n = 1..N.

    beta_n = s sum_{i<=n} y_i x_i with s = 1/n ("context") or 1/(n+1) ("tokens"); the target is y_{n+1}.
    """
    P, length, D = x.shape
    n = np.arange(1, length)
    divisor = n if scaling == "context" else n + 1
    beta = np.cumsum(x[:, :-1] * y[:, :-1, None], axis=1) / divisor[:, None]
    return (beta[..., :, None] * x[:, 1:, None, :]).reshape(P, length - 1, D * D)


@dataclass
class Moments:
    """Sums over sequences: S = sum phi phi^T (F, F), b = sum y phi (F,), c = sum y^2, of `count` terms."""

    S: np.ndarray
    b: np.ndarray
    c: float = 0.0
    count: int = 0

    @classmethod
    def empty(cls, features: int) -> Moments:
        """Nothing summed yet."""
        return cls(np.zeros((features, features)), np.zeros(features))

    def add(self, phi: np.ndarray, target: np.ndarray) -> None:
        """Add features (..., F) and targets (...)."""
        phi, target = phi.reshape(-1, phi.shape[-1]), target.reshape(-1)
        self.S += phi.T @ phi
        self.b += target @ phi
        self.c += float(target @ target)
        self.count += len(target)

    def mean(self) -> tuple[np.ndarray, np.ndarray, float]:
        """S, b and c as means: the loss of coefficients w is c - 2 w.b + w.S.w."""
        return self.S / self.count, self.b / self.count, self.c / self.count
