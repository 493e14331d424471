"""A one-parameter family of saddles of the softmax action: branches, spinodals, first-order point.

Softmax attention has one order parameter, aG, and for each strength of the field that holds it there is
one P at which it is a saddle.  The saddles at all P therefore form a single curve; it runs back in P
between its two turning points, which are the spinodals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

Array = NDArray[np.float64]

COPY_THRESHOLD = 0.5
"""Where there is no coexistence, a saddle with aG above this is called copy."""


@dataclass(frozen=True)
class Transition:
    """First-order transition of one theory; P in sequences, aG dimensionless, barrier in nats.

    Spinodals: the copy branch exists from P_lower, the uniform one until P_upper; at P_c their actions
    are equal.  aG_at_P_c is (uniform, copy); the barrier is the unstable saddle's action above theirs.
    """

    P_c: float
    P_lower: float
    P_upper: float
    aG_at_P_c: tuple[float, float]
    barrier: float


NO_TRANSITION = Transition(*(float("nan"),) * 3, (float("nan"),) * 2, float("nan"))


@dataclass(frozen=True)
class SaddleCurve:
    """Saddles (P, aG, s2, action) along an increasing parameter; all arrays (points,).

    action is in nats, relative to uniform attention without noise at the same P.  `pinned`: the first
    saddle, which is uniform attention, is a local minimum at every P up to P[0] (a kink holds it there).
    """

    parameter: Array
    P: Array
    aG: Array
    s2: Array
    action: Array
    pinned: bool = False

    @cached_property
    def _splines(self) -> dict[str, CubicSpline]:
        return {
            name: CubicSpline(self.parameter, getattr(self, name)) for name in ("P", "aG", "s2", "action")
        }

    @cached_property
    def _turns(self) -> tuple[float, float] | None:
        """Parameters of the upper and the lower spinodal, or None where P only increases."""
        turns = self._splines["P"].derivative().roots(extrapolate=False)
        if self.pinned:
            # The curve starts level in its parameter; where it falls from there, its start is a spinodal.
            inside = turns[turns > self.parameter[1] / 2]
            turns = np.insert(inside, 0, self.parameter[0]) if self.P[1] < self.P[0] else inside
        return (float(turns[0]), float(turns[-1])) if len(turns) >= 2 else None

    def _find(self, P: float, lower: float, upper: float) -> float:
        """The parameter in [lower, upper] whose saddle is at P, or NaN."""
        spline = self._splines["P"]
        if (spline(lower) - P) * (spline(upper) - P) > 0:
            return float("nan")
        return float(brentq(lambda parameter: spline(parameter) - P, lower, upper, xtol=1e-12))

    def find_branches(self, P: float) -> tuple[float, float, float]:
        """Curve parameters of the uniform, copy and unstable saddle at P; NaN where one does not exist."""
        first, last = self.parameter[0], self.parameter[-1]
        held = self.pinned and self.P[0] >= P
        if self._turns is not None:
            top, bottom = self._turns
            uniform = float(first) if held else self._find(P, first, top)
            return uniform, self._find(P, bottom, last), self._find(P, top, bottom)
        only = float(first) if held else self._find(P, first, last)
        copies = self.read("aG", only) > COPY_THRESHOLD
        return (float("nan"), only, float("nan")) if copies else (only, float("nan"), float("nan"))

    def read(self, name: str, parameter: float) -> float:
        """`P`, `aG`, `s2` or `action` at a curve parameter; NaN at NaN."""
        return float(self._splines[name](parameter))

    def find_transition(self) -> Transition:
        """Spinodals as turning points of the curve, P_c by root finding in the difference of actions.

        All NaN (`NO_TRANSITION`) where P only increases along the curve.
        Source: arXiv 2606.12058 (the dominant saddle switches where two actions cross); the curve is our
        reconstruction, docs/theory/copyhead.md section 8.
        """
        if self._turns is None:
            return NO_TRANSITION
        P_upper, P_lower = (self.read("P", turn) for turn in self._turns)

        def difference(P: float) -> float:
            uniform, copy, _ = self.find_branches(P)
            return self.read("action", copy) - self.read("action", uniform)

        margin = 1e-6 * (P_upper - P_lower)
        last = min(P_upper - margin, float(self.P[-1]))
        P_c = float(brentq(difference, P_lower + margin, last, xtol=1e-9))
        uniform, copy, unstable = self.find_branches(P_c)
        barrier = self.read("action", unstable) - self.read("action", uniform)
        return Transition(P_c, P_lower, P_upper, (self.read("aG", uniform), self.read("aG", copy)), barrier)
