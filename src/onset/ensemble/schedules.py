"""Learning rates as functions of the step."""

from __future__ import annotations

import math


def cosine(initial: float, step: int, total: int) -> float:
    """Learning rate of `step` (0..total-1): initial/2 (1 + cos(pi step/total)).

    Starts at `initial`; would reach 0 at `total`, one step past the last.
    """
    return 0.5 * initial * (1 + math.cos(math.pi * step / total))
