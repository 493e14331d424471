"""The likelihood averaged over the data: it sees the attention matrix through four numbers.

For P L >> V the moments M and N are close to their means, which split the vocabulary into a traceless
sector (V-1 directions, where copying can be learned) and the uniform direction (pooling only).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onset.papers.copyhead.theory.model import Model

Array = NDArray[np.float64]


class Overlaps(NamedTuple):
    """What the averaged likelihood sees of A (L x L): scalars or arrays of one shape.

    s2 = |A|², t = sum_a A[a, a-1] (copy entries), m = |A 1|² (row sums), u = 1ᵀA1.
    """

    s2: Any
    t: Any
    m: Any
    u: Any


def measure_overlaps(A: Array) -> Overlaps:
    """The four overlaps of attention matrices A (..., query, key)."""
    copy = np.roll(np.eye(A.shape[-1]), 1, axis=0)
    rows = A.sum(-1)
    return Overlaps((A**2).sum((-2, -1)), (A * copy).sum((-2, -1)), (rows**2).sum(-1), rows.sum(-1))


def average_moments(overlaps: Overlaps, P: float, V: int) -> tuple[Array, Array]:
    """E[M] and E[N], each V x V, for i.i.d. uniform tokens and a fixed A.

    E[M]/P = (s2/V)(1 - J/V) + (m/V) J/V and E[N]/P = (t/V)(1 - J/V) + (u/V) J/V, with J all ones.
    Exact.  Source: reconstruction, docs/theory/copyhead.md section 4.
    """
    uniform = np.full((V, V), 1 / V)
    traceless = np.eye(V) - uniform
    s2, t, m, u = overlaps
    return P / V * (s2 * traceless + m * uniform), P / V * (t * traceless + u * uniform)


class DataAction(NamedTuple):
    """S_data with its first and second derivatives in each sector; the two sectors do not mix.

    value has the overlaps' shape; slopes are (dS/ds2, dS/dt, dS/dm, dS/du); curvatures are
    (ss, st, tt) for the traceless sector and (mm, mu, uu) for the uniform one.
    """

    value: Any
    slopes: tuple[Any, Any, Any, Any]
    curvatures: tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]


def _sector(size: Any, overlap: Any, x: Any, entropy: float, pull: Any) -> tuple[Any, ...]:
    """entropy ln(1 + x size) - pull overlap² x/(1 + x size), two slopes and three curvatures."""
    gain = x / (1 + x * size)
    drive = pull * overlap**2 * gain
    value = entropy * np.log1p(x * size) - drive
    slopes = entropy * gain + drive * gain, -2 * pull * overlap * gain
    curvatures = -entropy * gain**2 - 2 * drive * gain**2, 2 * pull * overlap * gain**2, -2 * pull * gain
    return value, slopes, curvatures


def expand_data_action(overlaps: Overlaps, P: Any, model: Model, integrated: bool = True) -> DataAction:
    """S_data(s2, t, m, u; P), the data-averaged -log p(D|A) less its value at A = 0, in nats.

    V(V-1)/2 ln(1+x s2) - P(V-1)/(2 sigma2 V) t² x/(1+x s2) + V/2 ln(1+x m) - P/(2 sigma2 V) u² x/(1+x m).
    `integrated=False` drops the two logarithms: W at its maximum instead of integrated (MAP, Adam).
    P and the overlaps broadcast.  Holds for P L >> V.
    Source: reconstruction, docs/theory/copyhead.md section 4.
    """
    s2, t, m, u = overlaps
    V, x = model.V, model.signal(P)
    on = float(integrated)
    traceless = _sector(s2, t, x, on * V * (V - 1) / 2, P * model.pull)
    uniform = _sector(m, u, x, on * V / 2, P * model.pull / (V - 1))
    return DataAction(traceless[0] + uniform[0], (*traceless[1], *uniform[1]), (traceless[2], uniform[2]))
