"""Attention on a plateau as principal component regression (Eq. 22), and how far it is from it."""

from __future__ import annotations

import numpy as np

from onset.papers.linattn.theory.fixed_points import compute_saddle_map
from onset.papers.linattn.theory.landscape import Array, Landscape, describe_query_loss, rank_directions


def compute_regression_map(components: int, landscape: Landscape) -> Array:
    """The map (D, D) on the plateau with `components` directions learned: sum_d e_d e_d^T/(lam_d c_d).

    Source: arXiv 2501.16265, Eq. 22.   Raises ValueError unless 0 <= components <= D.
    """
    D = len(landscape.lam)
    if not 0 <= components <= D:
        raise ValueError(f"there are 0 to {D} components, not {components}")
    return compute_saddle_map(rank_directions(landscape.lam)[:components], landscape)


def draw_covariances(lam: Array, context: int, samples: int, generator: np.random.Generator) -> Array:
    """Covariances Lhat (samples, D, D) of `context` inputs with eigenvalues lam (D,), without drawing these.

    N Lhat is a Wishart matrix L T T^T L, L = diag(sqrt(lam)): T is lower triangular with N(0, 1) below the
    diagonal and chi variables of N, N-1, ... degrees of freedom on it (Bartlett's decomposition).  Where the
    context is shorter than D, the inputs are drawn.
    """
    D = len(lam)
    if context < D:
        x = generator.standard_normal((samples, context, D)) * np.sqrt(lam)
        return np.swapaxes(x, 1, 2) @ x / context
    T = np.tril(generator.standard_normal((samples, D, D)), -1)
    T[:, range(D), range(D)] = np.sqrt(generator.chisquare(context - np.arange(D), (samples, D)))
    T *= np.sqrt(lam / context)[:, None]
    return T @ np.swapaxes(T, 1, 2)


def estimate_regression_distance(
    eigenvalues: Array, context: int, samples: int, generator: np.random.Generator
) -> Array:
    """Mean squared difference between the plateau's prediction and PCR, over PCR's mean square: (D,).

    Entry m-1 is for m components.  PCR projects on the m leading eigenvectors of the *empirical* Lhat of each
    sequence; `samples` of these are drawn, w and the query are averaged over exactly.  Goes to 0 as 1/N, so
    the two are equal for long contexts only.   Source: ours, docs/theory/linattn.md section 10.
    """
    landscape = describe_query_loss(eigenvalues, context)
    order = rank_directions(landscape.lam)
    lam = landscape.lam[order]
    D = len(lam)
    empirical = draw_covariances(lam, context, samples, generator)
    vectors = np.linalg.eigh(empirical)[1][:, :, ::-1]
    inverse = (landscape.b / landscape.pull)[order]
    distances = np.empty(D)
    for m in range(1, D + 1):
        projector = vectors[:, :, :m] @ np.swapaxes(vectors[:, :, :m], 1, 2)
        learned = np.where(np.arange(D) < m, inverse, 0.0)[:, None] * empirical
        difference = np.einsum("sij,i->", np.square(learned - projector), lam)
        distances[m - 1] = difference / np.einsum("sij,i->", np.square(projector), lam)
    return distances
