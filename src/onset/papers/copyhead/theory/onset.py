"""Where pooling sets in at any width: by instability of the trivial state, or before it by a jump."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onset.papers.copyhead.theory.linear import expand_linear_action, find_pooling_onset
from onset.papers.copyhead.theory.linear_saddles import ORDERED, Saddle, follow_saddle
from onset.papers.copyhead.theory.model import Form, Model

Array = NDArray[np.float64]


def locate_onset(P: Array, saddles: list[Saddle], model: Model, form: Form) -> float:
    """P at which the lowest state of linear attention leaves the trivial one.

    `saddles` are the global minima at the increasing P (`minimise_action`).  At infinite d_k it is the
    instability of the trivial state (`find_pooling_onset`).  At finite d_k the ordered state may reach
    the trivial one's action before: a first-order point, found to 1e-3.  NaN where no state on the grid
    is ordered and the trivial one stays stable.
    Source: reconstruction, docs/theory/copyhead.md section 6.
    """
    instability = find_pooling_onset(model, form)
    if not model.finite_width:
        return instability
    ordered = [i for i, saddle in enumerate(saddles) if saddle.action < ORDERED]
    if not ordered:
        return math.nan if math.isinf(instability) else instability
    first = ordered[0]
    lower, upper, z = (P[first - 1] if first else 0.0), P[first], saddles[first].z
    while upper - lower > 1e-3:
        middle = (lower + upper) / 2
        below = follow_saddle(z, middle, model, form)
        if below.action < ORDERED:
            upper, z = middle, below.z
        else:
            lower = middle
    return float(min(upper, instability))


def find_tricritical_width(model: Model) -> float:
    """d_k below which pooling sets in by a jump, in the bare theory.

    Along the soft mode (1, b) of the Hessian at the onset the action has no cubic terms; its quartic
    coefficient is the data's, T, less [1 + (L-1) b⁴]/(4 d_k tau²) from phi, and vanishes at
    d_k = [1 + (L-1) b⁴]/(4 tau² T).  Infinite where T <= 0.  The model's own d_k does not enter.
    Source: reconstruction, docs/theory/copyhead.md section 6.
    """
    P, L, V = find_pooling_onset(model, "bare"), model.L, model.V
    (_, H12), (_, H22) = expand_linear_action(np.zeros(2), P, model, "bare").hessian
    b, x = -H12 / H22, model.signal(P)
    s2, t = 1 + (L - 1) * b**2, 1 + (L - 1) * b
    traceless = P * model.pull * x**2 * t**2 * s2 - V * (V - 1) / 4 * (x * s2) ** 2
    uniform = P * model.pull / (V - 1) * x**2 * L**3 - V / 4 * (x * L) ** 2
    data = traceless + uniform
    return float((1 + (L - 1) * b**4) / (4 * model.tau**2 * data)) if data > 0 else math.inf
