"""The target of the regression variant, its loss, and the projection that a softmax puts into the flow.

Value matrices that start at 0 stay in the span of the orthonormal targets V_j*, so that V_k is held by its
h components <V_k, V_j*>, and the embedding dimension drops out.  Feature j sits at position j of s.
Source: arXiv 2602.19143, section 3.1; components in docs/theory/sparse.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onset.params.sparse import Features as Section

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Features:
    """G = sum_k m_k V_k* (x) s_k*: `strengths` m_k (h,), decreasing, at the first h of `T` positions."""

    strengths: Array
    T: int

    @property
    def h(self) -> int:
        """Number of features, and of heads."""
        return len(self.strengths)

    @cached_property
    def block(self) -> Array:
        """G on the first h positions (h, h); it is 0 on the others."""
        return np.diag(self.strengths)

    @property
    def square(self) -> float:
        """||G||_F^2 / 2, the loss at V = 0."""
        return 0.5 * float(np.sum(self.strengths**2))


def read_features(section: Section) -> Features:
    """Features of a section of params.yaml: m_k = m^(h-k), one position each."""
    return Features(section.m ** np.arange(section.h - 1.0, -1.0, -1.0), section.T)


def compute_residual(V: Array, s: Array, features: Features) -> Array:
    """G - sum_k V_k (x) s_k (..., h, T), from V (..., heads, h) and s (..., heads, T)."""
    residual = -np.swapaxes(V, -1, -2) @ s
    residual[..., : features.h] += features.block
    return residual


def compute_loss(residual: Array) -> Array:
    """L = ||G - P||_F^2 / 2 (...), without the noise of the labels.

    The ½, which the printed flow needs, makes L half the mean squared error.
    """
    return 0.5 * np.sum(residual**2, axis=(-1, -2))


def compute_loss_terms(residual: Array) -> Array:
    """Parts of the loss at the features' own positions, (G - P)_jj^2 / 2 (..., h)."""
    return 0.5 * np.diagonal(residual, axis1=-2, axis2=-1) ** 2


def project(s: Array, u: Array) -> Array:
    """Pi(s) u = s * (u - <s, u>), Pi(s) = diag(s) - s s^T, over the last axis.   s sums to 1."""
    return s * (u - np.vecdot(s, u)[..., None])


def measure_contributions(V: Array, s: Array, features: Features) -> Array:
    """C_kj = V_kj s_k(p_j) / m_j (..., heads, h): the share of feature j that head k delivers."""
    return V * s[..., : features.h] / features.strengths
