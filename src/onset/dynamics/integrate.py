"""Ordinary differential equations of named arrays, solved by scipy.integrate.solve_ivp."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from onset.errors import OnsetError

Array = NDArray[np.float64]
State = Mapping[str, Array]
"""Arrays by name; a flow returns the time derivative of each under the same names and shapes."""


def pack(state: State) -> Array:
    """All arrays of a state as one vector, in the order of the mapping."""
    return np.concatenate([np.ravel(np.asarray(value, dtype=np.float64)) for value in state.values()])


def unpack(vector: Array, like: State) -> dict[str, Array]:
    """Inverse of `pack`: vectors (..., n) as arrays (..., *shape), names and shapes as in `like`."""
    found, begin = {}, 0
    for name, value in like.items():
        shape, size = np.shape(value), int(np.size(value))
        found[name] = vector[..., begin : begin + size].reshape((*vector.shape[:-1], *shape))
        begin += size
    return found


def integrate_flow(
    flow: Callable[[float, dict[str, Array]], State],
    start: State,
    times: Sequence[float] | Array,
    *,
    label: str,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    method: str = "DOP853",
) -> dict[str, Array]:
    """The state at each of `times`, as arrays (len(times), *shape); the first time is the start's.

    `flow(t, state)` is the time derivative; `times` increase.  `label` names the run in messages: the
    experiment, and the member where there is one.  Raises OnsetError with the label, the solver's own
    message and the time reached where the solver gives up or the state stops being finite, and
    ValueError where `times` do not increase.
    """
    times = np.asarray(times, dtype=np.float64)
    if times.ndim != 1 or len(times) < 2 or np.any(np.diff(times) <= 0):
        raise ValueError("times should be at least two, strictly increasing")
    vector = pack(start)
    if not np.all(np.isfinite(vector)):
        raise OnsetError(f"{label}: the state is not finite at the start of the integration")

    places, begin = [], 0
    for name, value in start.items():
        places.append((name, slice(begin, begin + int(np.size(value))), np.shape(value)))
        begin = places[-1][1].stop

    def derivative(t: float, y: Array) -> Array:
        rates = flow(t, {name: y[place].reshape(shape) for name, place, shape in places})
        return np.concatenate([np.ravel(rates[name]) for name, _, _ in places])

    # Dense output instead of t_eval, so that the last time is the last accepted step.
    with np.errstate(over="ignore", invalid="ignore"):
        solution = solve_ivp(
            derivative,
            (times[0], times[-1]),
            vector,
            method=method,
            dense_output=True,
            rtol=rtol,
            atol=atol,
        )
    reached = f"at time {solution.t[-1]:.6g} of {times[-1]:.6g}"
    if not solution.success:
        raise OnsetError(f"{label}: the integration stopped {reached}: {solution.message}")
    values = solution.sol(times).T
    if not np.all(np.isfinite(values)):
        first = times[~np.all(np.isfinite(values), axis=1)][0]
        raise OnsetError(f"{label}: the state is not finite from time {first:.6g} of {times[-1]:.6g} on")
    return unpack(values, start)
