"""Many initial conditions of one differential equation at once, by Runge-Kutta steps fixed in advance.

An adaptive solver follows one state at a time, or all at the pace of the stiffest; where a derivative costs
little more for 64 states than for one, steps that all of them share are many times faster.
Sources of the coefficients: Kutta (1901) and Dormand and Prince (1980), as in Hairer, Norsett and Wanner,
Solving Ordinary Differential Equations I, section II.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onset.dynamics.integrate import Array, State, pack, unpack
from onset.errors import OnsetError


@dataclass(frozen=True)
class Tableau:
    """An explicit method: `stages[i]` are the weights of the i earlier rates, `weights` those of the step."""

    order: int
    stages: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]

    @property
    def nodes(self) -> tuple[float, ...]:
        """Where in the step each rate is taken, as a share of the step."""
        return tuple(sum(row) for row in self.stages)


CLASSICAL = Tableau(4, ((), (1 / 2,), (0, 1 / 2), (0, 0, 1)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
DORMAND_PRINCE = Tableau(
    5,
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
METHODS = {"rk4": CLASSICAL, "dopri5": DORMAND_PRINCE}


def plan_times(segments: Sequence[tuple[float, float]], first: float = 0.0) -> Array:
    """All times from `first` on: up to each segment's `until`, by steps no longer than its `step`.

    Steps of one segment are equal.  Raises ValueError where a segment ends before it begins or a step is not
    positive.
    """
    found = [np.array([first])]
    for until, step in segments:
        begin = float(found[-1][-1])
        if not (until > begin and step > 0):
            raise ValueError(f"steps of {step:g} up to {until:g} do not lead on from time {begin:g}")
        # A share of a step that is rounding alone is no further step.
        count = int(np.ceil((until - begin) / step - 1e-9))
        found.append(np.linspace(begin, until, count + 1)[1:])
    return np.concatenate(found)


def choose_records(times: Array, wanted: Sequence[float] | Array) -> NDArray[np.intp]:
    """Indices of the times nearest to those wanted, increasing, each once; 0 and the last among them."""
    after = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
    nearer = after - (np.asarray(wanted) - times[after - 1] < times[after] - wanted)
    return np.unique([0, *nearer, len(times) - 1])


def integrate_steps(
    flow: Callable[[float, dict[str, Array]], State],
    start: State,
    times: Array,
    records: Sequence[int] | NDArray[np.intp],
    *,
    label: str,
    method: str = "rk4",
) -> dict[str, Array]:
    """The states at `times[records]`, as arrays (len(records), *shape), from `start` at `times[0]`.

    One step leads from each of `times` to the next.  `flow(t, state)` is the time derivative; a leading axis
    that it leaves alone holds independent initial conditions, which then differ from runs of their own by
    rounding alone.  `method` is a key of METHODS.  The error is not controlled: compare with half the steps.
    Raises OnsetError with `label` and the time reached where a state is not finite at a record, and
    ValueError where times or records do not increase.
    """
    if np.any(np.diff(times) <= 0) or np.any(np.diff(records) <= 0):
        raise ValueError("times and records should be strictly increasing")
    tableau, y = METHODS[method], pack(start)
    moved, rates = np.empty_like(y), np.empty((len(tableau.weights), len(y)))
    parts = [unpack(rate, start) for rate in rates]

    def evaluate(j: int, t: float, at: Array) -> None:
        found = flow(t, unpack(at, start))
        for name, part in parts[j].items():
            part[...] = found[name]

    stage_weights, weights = [np.array(row) for row in tableau.stages], np.array(tableau.weights)
    kept = np.empty((len(records), len(y)))
    place = {int(index): k for k, index in enumerate(records)}
    if 0 in place:
        kept[place[0]] = y
    with np.errstate(over="ignore", invalid="ignore"):
        for i, (t, step) in enumerate(zip(times[:-1], np.diff(times), strict=True)):
            evaluate(0, t, y)
            for j in range(1, len(rates)):
                np.dot(step * stage_weights[j], rates[:j], out=moved)
                moved += y
                evaluate(j, t + tableau.nodes[j] * step, moved)
            np.dot(step * weights, rates, out=moved)
            y += moved
            if i + 1 in place:
                if not np.all(np.isfinite(y)):
                    raise OnsetError(
                        f"{label}: the state is not finite at time {times[i + 1]:.6g} of {times[-1]:.6g}; "
                        "take shorter steps"
                    )
                kept[place[i + 1]] = y
    return unpack(kept, start)
