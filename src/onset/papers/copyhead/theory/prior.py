"""Prior of a logit matrix that is a product of Gaussian factors, omega = sqrt(variance/d_k) Q Kᵀ.

Its log moment-generating function is a log-determinant; its Legendre transform is the cost of a
matrix, a sum over singular values.  Infinite d_k gives independent Gaussian entries.  Where the factors
are maximised instead of integrated (MAP, Adam) the cost is the nuclear norm.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def compute_generating_function(H: NDArray[np.float64], variance: float, d_k: float) -> float:
    """ln E exp(Tr Hᵀomega) = -(d_k/2) ln det(1 - (variance/d_k) HᵀH), in nats.

    H is the source, of omega's shape (n, n); `variance` is that of an entry of omega.
    Raises ValueError where the expectation diverges (largest singular value of H >= sqrt(d_k/variance)).
    Source: arXiv 2606.12058, QK prior (its expansion in powers of HᵀH); docs/theory/copyhead.md section 5.
    """
    squares = np.linalg.svd(H, compute_uv=False) ** 2
    if math.isinf(d_k):
        return float(variance * squares.sum() / 2)
    if squares.max() * variance >= d_k:
        raise ValueError(
            f"the largest singular value of H is {math.sqrt(squares.max()):.4g}; the expectation is "
            f"finite below sqrt(d_k/variance) = {math.sqrt(d_k / variance):.4g}"
        )
    return float(-d_k / 2 * np.log1p(-variance / d_k * squares).sum())


def expand_singular_cost(s: Any, variance: float, d_k: float = math.inf) -> tuple[Any, Any, Any]:
    """phi(s), phi'(s) and phi''(s): cost in nats of one singular value s (sign allowed, phi is even).

    phi = h s + (d_k/2) ln(1 - k h²), h = 2 s/(variance + R), R = sqrt(variance² + 4 k s²), k = variance/d_k.
    Limits: s²/(2 variance) for s² << d_k variance, |s|/sqrt(k) far above.
    Leading order in large matrices: fluctuations of the other entries are left out.
    Source: Legendre transform of `compute_generating_function`; docs/theory/copyhead.md section 5.
    """
    s = np.asarray(s, dtype=float)
    k = variance / d_k
    root = np.sqrt(variance**2 + 4 * k * s**2)
    h = 2 * s / (variance + root)
    curvature = 2 * variance / (root * (variance + root))
    if math.isinf(d_k):
        return s**2 / (2 * variance), h, curvature
    return h * s + d_k / 2 * np.log1p(-k * h**2), h, curvature


def compute_nuclear_cost(s: Any, variance: float, d_k: float) -> Any:
    """|s| sqrt(d_k/variance): least cost of a singular value when both factors are at their maximum (MAP).

    It is min (|q|² + |k|²)/2 over factors with sqrt(variance/d_k) q k = s.
    Source: reconstruction, docs/theory/copyhead.md section 5.
    """
    return np.abs(s) * math.sqrt(d_k / variance)


def expand_matrix_cost(s: Any, variance: float, d_k: float, integrated: bool) -> tuple[Any, Any, Any]:
    """Cost in nats of one singular value s (sign allowed), with slope and curvature.

    `integrated`: phi of `expand_singular_cost`.  Otherwise the factors are at their maximum: the nuclear
    cost |s| sqrt(d_k/variance) at finite d_k (slope sign(s) sqrt(d_k/variance), 0 at its kink in s = 0),
    and s²/(2 variance) at infinite d_k, where logits are the parameters.
    Source: reconstruction, docs/theory/copyhead.md section 5.
    """
    if integrated or math.isinf(d_k):
        return expand_singular_cost(s, variance, d_k)
    s = np.asarray(s, dtype=float)
    return compute_nuclear_cost(s, variance, d_k), np.sign(s) * math.sqrt(d_k / variance), np.zeros_like(s)
