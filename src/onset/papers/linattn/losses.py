"""The loss as a quadratic form in the coefficients of the features; members of a batch come first."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Loss(Protocol):
    """Mean squared error as a function of coefficients (B, F), one row for each member."""

    def value(self, coefficients: np.ndarray) -> np.ndarray:
        """Loss of each member (B,)."""

    def gradient(self, coefficients: np.ndarray) -> np.ndarray:
        """Gradient with respect to the coefficients (B, F)."""


@dataclass(frozen=True)
class SetLoss:
    """Loss over a training set: c - 2 w.b + w.S.w, from S (B, F, F), b (B, F) and c (B,).

    Equals the mean of (y - w.phi)^2 over the set, so a step costs F^2 whatever the number of sequences.
    """

    S: np.ndarray
    b: np.ndarray
    c: np.ndarray

    def value(self, coefficients: np.ndarray) -> np.ndarray:
        image = np.matmul(self.S, coefficients[..., None])[..., 0]
        return self.c + ((image - 2 * self.b) * coefficients).sum(-1)

    def gradient(self, coefficients: np.ndarray) -> np.ndarray:
        found = np.matmul(self.S, coefficients[..., None])[..., 0]
        found -= self.b
        found *= 2
        return found


class PopulationLoss:
    """Expected loss of yhat = beta^T A x_q: T - 2 r1 sum_d lam_d^2 A_dd + sum_ij m_i lam_j A_ij^2.

    A is in the eigenbasis, flattened row-major (B, D^2); T = sum_d lam_d.  lam are the eigenvalues, m those
    of the second moment of the context covariance (`square_context_covariance`, or its next-token average),
    r1 the factor in E[beta w^T] = r1 Lambda.  Source: arXiv 2501.16265, the population loss.
    """

    def __init__(self, eigenvalues: np.ndarray, second: np.ndarray, r1: float = 1.0) -> None:
        self.trace: np.ndarray | float = float(eigenvalues.sum())
        self.target = np.diag(r1 * eigenvalues**2).ravel()
        self.weight = np.outer(second, eigenvalues).ravel()

    def value(self, coefficients: np.ndarray) -> np.ndarray:
        return self.trace + ((self.weight * coefficients - 2 * self.target) * coefficients).sum(-1)

    def gradient(self, coefficients: np.ndarray) -> np.ndarray:
        found = self.weight * coefficients
        found -= self.target
        found *= 2
        return found


def join_losses(losses: Sequence[Loss], counts: Sequence[int]) -> Loss:
    """One loss for all members, those of the first loss first; `counts` says how many each has.

    All losses are of one kind.
    """
    sets = [loss for loss in losses if isinstance(loss, SetLoss)]
    if len(sets) == len(losses):
        return SetLoss(*(np.concatenate([getattr(one, name) for one in sets]) for name in "Sbc"))
    populations = [loss for loss in losses if isinstance(loss, PopulationLoss)]
    if len(populations) != len(losses):
        raise TypeError("losses of different kinds cannot be joined")
    if all(one is populations[0] for one in populations):
        return populations[0]
    found = copy(populations[0])
    for name in ("trace", "target", "weight"):
        setattr(found, name, np.repeat([getattr(one, name) for one in populations], counts, axis=0))
    return found
