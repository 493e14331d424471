"""Fixed points of gradient flow and the losses of the plateaus that they cause."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations

import numpy as np

from onset.papers.linattn.theory.landscape import Array, Landscape, rank_directions


def compute_optimal_map(landscape: Landscape) -> Array:
    """The map (D, D) of least loss, A* = E[beta beta^T]^-1 E[beta w^T]: diagonal, b_d/(a_d lam_d).

    The only fixed point of ATTN_M besides zero weights.  For the query loss it is
    (Lambda + (Lambda + T I)/N)^-1.   Source: arXiv 2501.16265 (fixed points of merged key-query attention).
    """
    return np.diag(landscape.b / landscape.pull)


def compute_saddle_map(learned: Iterable[int], landscape: Landscape) -> Array:
    """The map (D, D) with the directions `learned` at their optimum and the others at 0.

    Source: arXiv 2501.16265 (fixed points of ATTN_S).   Raises IndexError on a direction out of range.
    """
    A = np.zeros((len(landscape.lam), len(landscape.lam)))
    for d in learned:
        A[d, d] = landscape.b[d] / landscape.pull[d]
    return A


def list_saddle_sets(dimension: int) -> list[tuple[int, ...]]:
    """All 2^D sets of directions, smallest first.

    Each gives a fixed point of ATTN_S in function space (its gradient vanishes, tested); that there is no
    other is the paper's statement, of which we have not seen the proof.
    """
    directions = range(dimension)
    return list(chain.from_iterable(combinations(directions, m) for m in range(dimension + 1)))


def compute_plateau_drops(landscape: Landscape) -> Array:
    """How much the loss falls when direction d is learned: b_d^2/(a_d lam_d), (D,); lam_d/c_d on a query."""
    return landscape.b**2 / landscape.pull


def compute_plateau_losses(landscape: Landscape) -> Array:
    """Losses at the saddles met on the way, none to all D directions learned: (D + 1,), decreasing.

    Entry m is T - sum of the drops of the m largest eigenvalues, in squared target units; the last one is
    the floor that every model shares.
    Source: arXiv 2501.16265, Eq. 19 (query loss) and Eq. 23 (next-token loss).
    Holds for: small starts, Gaussian inputs, population gradient.
    """
    drops = compute_plateau_drops(landscape)[rank_directions(landscape.lam)]
    return landscape.trace - np.concatenate([[0.0], np.cumsum(drops)])


def compute_head_values(landscape: Landscape) -> Array:
    """Value v* = (b_d/(a_d lam_d))^(1/3) of a rank-one head that carries direction d alone, (D,).

    Its key and query are then of norm v* too.   Source: arXiv 2501.16265, Eq. 20 and 21.
    """
    return np.cbrt(landscape.b / landscape.pull)


def compute_group_value(directions: Iterable[int], landscape: Landscape) -> float:
    """Value v of a head of rank R that carries a set of at most R directions: cube root of a sum.

    From v k_d q_d = A*_dd, k_d^2 = q_d^2 (balance) and sum_d k_d^2 = v^2 (conservation):
    v = (sum_d b_d/(a_d lam_d))^(1/3).   Source: ours, docs/theory/linattn.md section 9.
    """
    return float(np.cbrt(sum(landscape.b[d] / landscape.pull[d] for d in directions)))
