"""Minima of the linear MAP action at finite width, where Adam on queries and keys should end.

The nuclear cost |c1| + (L-1) |cG| has kinks on both axes: minima may lie on them, and the trivial state
is one at every P.  Within a quadrant the action is smooth, so that bounded descent finds them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from onset.papers.copyhead.theory.linear import expand_linear_action
from onset.papers.copyhead.theory.model import Model

Array = NDArray[np.float64]

SCALE = 1e-2
"""Unit of |c1| and |cG| in the descent: the action changes by nats over it."""


def descend_in_quadrant(start: Array, P: float, model: Model) -> Array:
    """The local minimum (c1, cG) of the MAP action below `start`, in the closed quadrant of its signs.

    A zero start counts as positive.  On an axis the slope is that of the kink's inner side.
    Source: reconstruction, docs/theory/copyhead.md section 6.
    """
    signs = np.where(start < 0, -1.0, 1.0)

    def expand(y: Array) -> tuple[float, Array]:
        # Just off the axis, where the slope of the cost is that of the quadrant.
        c = signs * np.maximum(SCALE * y, 1e-300)
        expansion = expand_linear_action(c, P, model, "map")
        return expansion.value, SCALE * signs * expansion.gradient

    result = minimize(
        expand,
        np.abs(start) / SCALE,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * 2,
        options={"ftol": 1e-15, "gtol": 1e-8, "maxiter": 500},
    )
    return np.asarray(signs * SCALE * result.x)
