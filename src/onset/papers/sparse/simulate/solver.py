"""How all flows are solved: RK45 first, LSODA once the flow is slow and stability would hold RK45 up."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from onset.dynamics.integrate import State, integrate_flow
from onset.errors import OnsetError
from onset.papers.sparse.flows.features import Array

if TYPE_CHECKING:
    from onset.params.sparse import FlowSolver, FlowTimes

MOST_EVALUATIONS = 500_000
"""Evaluations of the rates after which an integration is given up; a flow takes about 10 000."""


def list_times(given: FlowTimes) -> Array:
    """0 and `points` times from `first_time` to `time`, evenly spaced in their logarithm."""
    return np.concatenate([[0.0], np.geomspace(given.first_time, given.time, given.points)])


def follow_flow(
    flow: Callable[..., State], start: State, times: Array, solver: FlowSolver, label: str
) -> dict[str, Array]:
    """The states at `times`, each array (len(times), *shape); the first time is the start's.

    `flow` takes the arrays of a state by name and gives their rates.  Absolute tolerances are 1e-3 of the
    relative ones.   Raises OnsetError with `label`, the solver's message and the time reached where it fails,
    where rates are not finite, and after MOST_EVALUATIONS: at a singularity LSODA steps on for ever.
    """
    evaluations = 0

    def rate(t: float, state: dict[str, Array]) -> State:
        nonlocal evaluations
        evaluations += 1
        rates = flow(**state)
        finite = all(isfinite(value.sum()) for value in rates.values())
        if not finite or evaluations > MOST_EVALUATIONS:
            why = f"no end after {MOST_EVALUATIONS} evaluations" if finite else "rates are not finite"
            raise OnsetError(f"{label}: the integration stopped at time {t:.6g} of {times[-1]:.6g}: {why}")
        return rates

    def integrate(begin: State, at: Array, method: str, rtol: float) -> dict[str, Array]:
        return integrate_flow(
            rate,
            begin,
            at,
            label=label,
            rtol=rtol,
            atol=1e-3 * rtol,
            method=method,
        )

    switch = solver.switch_time
    if times[-1] <= switch:
        return integrate(start, times, "RK45", solver.rtol)
    if times[0] >= switch:
        return integrate(start, times, "LSODA", solver.late_rtol)
    before, after = times[times <= switch], times[times > switch]
    knots = before if before[-1] == switch else np.append(before, switch)
    early = integrate(start, knots, "RK45", solver.rtol)
    turn = {name: value[-1] for name, value in early.items()}
    late = integrate(turn, np.concatenate([[switch], after]), "LSODA", solver.late_rtol)
    return {name: np.concatenate([early[name][: len(before)], late[name][1:]]) for name in early}
