"""In-weight and in-context learning: losses known in closed form at the two ends of the mixture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onset.papers.linattn.theory.fixed_points import compute_optimal_map, compute_plateau_losses
from onset.papers.linattn.theory.landscape import Array, Landscape


class MixtureLosses(NamedTuple):
    """Test losses, in squared target units, on sequences of either kind."""

    in_weight: float
    in_context: float


def predict_in_weight_end(w_fixed: Array, landscape: Landscape, context: int) -> MixtureLosses:
    """Losses after the drop at share 0: context labels are pure noise N(0, 1), y_q = w_fixed.x_q always.

    The mode that grows first predicts alpha (1/N sum y_n^2) w_fixed.x_q, alpha = 1/(1 + 2/N): the mean
    square of the labels stands in for the constant 1.  In-weight: (1 - alpha) w_fixed^T Lambda w_fixed.
    On in-context sequences, w ~ N(0, I): T + alpha w_fixed^T Lambda w_fixed (T^2 + 2 tr Lambda^2).
    For Lambda = I/D and |w_fixed|^2 = D: 1 - alpha and 1 + alpha (D+2)/D.
    A plateau, not the least loss: see `compute_in_weight_floor`.
    Source: ours, docs/theory/linattn.md section 12, for figure 14 of arXiv 2501.16265.
    """
    alpha = 1 / (1 + 2 / context)
    variance = float(np.square(w_fixed) @ landscape.lam)
    fourth = landscape.trace**2 + 2 * float(np.sum(landscape.lam**2))
    return MixtureLosses((1 - alpha) * variance, landscape.trace + alpha * variance * fourth)


def compute_in_weight_floor(w_fixed: Array, landscape: Landscape, context: int) -> float:
    """Least in-weight loss at share 0, which is approached long after the drop.

    Besides the labels' mean square, those of the D coordinates of x can stand in for the constant: D + 1
    independent estimates of relative variance 2/N, hence w_fixed^T Lambda w_fixed/(1 + (D+1) N/2).  The
    query's own coordinates, which enter them at relative order 1/N, are neglected.   Source: as above.
    """
    variance = float(np.square(w_fixed) @ landscape.lam)
    return variance / (1 + (len(landscape.lam) + 1) * context / 2)


def predict_in_context_end(w_fixed: Array, landscape: Landscape, context: int) -> MixtureLosses:
    """Losses after training at share 1, where every sequence has a w of its own.

    In-context: the floor of the plateau losses.  On in-weight sequences the prediction is noise from noisy
    labels: w_fixed^T Lambda w_fixed + tr(A^T Lambda A Lambda)/N, A the optimal map.
    Source: ours, docs/theory/linattn.md section 12.
    """
    A, lam = np.diag(compute_optimal_map(landscape)), landscape.lam
    variance = float(np.square(w_fixed) @ lam)
    noise = float(np.sum(np.square(A * lam))) / context
    return MixtureLosses(variance + noise, float(compute_plateau_losses(landscape)[-1]))
