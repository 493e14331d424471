"""Saddles of the linear-attention action against P: the global one and the metastable one (c1 cG < 0)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter
from scipy.optimize import minimize

from onset.papers.copyhead.theory.linear import (
    Expansion,
    expand_linear_action,
    find_noise,
    find_trivial_state,
    reduce_linear_action,
)
from onset.papers.copyhead.theory.model import Form, Model
from onset.papers.copyhead.theory.nuclear import descend_in_quadrant

Array = NDArray[np.float64]


ORDERED = -1e-9
"""Action below which a minimum is below the trivial state; actions sum thousands of nats, so the rest is
rounding."""


class Saddle(NamedTuple):
    """A minimum of the action: variables z, and action in nats relative to the trivial state."""

    z: Array
    action: float


def _descend(start: Array, P: float, model: Model, form: Form) -> Array:
    """The local minimum below `start` (trust-region Newton, or bounded descent where there are kinks)."""
    if form == "map" and model.finite_width:
        return descend_in_quadrant(start, P, model)
    last: tuple[bytes, Expansion] | None = None

    def expand(z: Array) -> Expansion:
        nonlocal last
        if last is None or last[0] != z.tobytes():
            last = (z.tobytes(), expand_linear_action(z, P, model, form))
        return last[1]

    result = minimize(
        lambda z: expand(z).value,
        start,
        jac=lambda z: expand(z).gradient,
        hess=lambda z: expand(z).hessian,
        method="trust-exact",
        options={"gtol": 1e-7, "initial_trust_radius": 0.02, "max_trust_radius": 0.1},
    )
    return np.asarray(result.x)


def _start_at(c1: float, cG: float, P: float, model: Model, form: Form) -> Array:
    if form != "dressed":
        return np.array([c1, cG])
    return np.array([c1, cG, *np.log(find_noise(c1, cG, P, model))])


def _relative_action(z: Array, P: float, model: Model, form: Form) -> float:
    trivial = find_trivial_state(P, model, form)
    return expand_linear_action(z, P, model, form).value - expand_linear_action(trivial, P, model, form).value


def follow_saddle(z: Array, P: float, model: Model, form: Form) -> Saddle:
    """The minimum that a minimum `z` of a nearby P becomes at P."""
    z = _descend(z, P, model, form)
    return Saddle(z, _relative_action(z, P, model, form))


def minimise_action(P: Array, model: Model, form: Form) -> list[Saddle]:
    """Global minimum of the action with c1 >= 0 at each of the increasing P.

    The ordered minimum is followed from the largest P downwards (from there it has a large basin) and
    gives way to the trivial state where its action is not below.  Where the saddle has c1 > 0, cG > 0.
    At finite d_k there can be several ordered minima: the lowest below wells of a lattice is taken.
    Source: reconstruction, docs/theory/copyhead.md section 6.
    """
    found: list[Saddle] = []
    z = _start_at(1.2 * model.balance, 0.9 * model.balance, P[-1], model, form)
    for value in reversed(P):
        starts = [z, *(_list_wells(value, model, form, 1.0) if model.finite_width else ())]
        minima = [_descend(start, value, model, form) for start in starts]
        z = min(minima, key=lambda minimum: expand_linear_action(minimum, value, model, form).value)
        z[:2] *= np.sign(z[0]) or 1.0
        action = _relative_action(z, value, model, form)
        trivial = Saddle(find_trivial_state(value, model, form), 0.0)
        found.append(Saddle(z.copy(), action) if action < ORDERED else trivial)
    return found[::-1]


def _enter_quadrant(start: Array, P: float, model: Model, form: Form) -> Array | None:
    """The minimum with c1 > 0 > cG below `start`, or None where the descent leaves that quadrant."""
    z = _descend(start, P, model, form)
    return z if z[0] > 0 > z[1] else None


def _list_wells(P: float, model: Model, form: Form, sign: float) -> list[Array]:
    """Local minima of the action on a lattice over c1 > 0, cG of the given sign: starts for a descent.

    Wells on the edge count only where cG > 0: next to an axis they are kinks' minima.
    """
    # At finite width singular values outgrow the balance of the Gaussian costs.
    end, points = (2.4, 97) if model.finite_width else (1.2, 49)
    line = np.linspace(0, end, points)[1 if sign < 0 else 0 :]
    c1, cG = np.meshgrid(*model.balance * np.array([line, sign * line]), indexing="ij")
    action = reduce_linear_action(c1, cG, P, model, form)
    edge = "constant" if sign < 0 else "nearest"
    lowest = (minimum_filter(action, 3, mode=edge, cval=-np.inf) == action).nonzero()
    return [_start_at(a, b, P, model, form) for a, b in zip(c1[lowest], cG[lowest], strict=True)]


def follow_metastable(P: Array, model: Model, form: Form) -> tuple[list[Saddle | None], float]:
    """The second minimum, c1 > 0 > cG, at each of the increasing P, and the P from which it exists.

    Signs of c1 and cG are broken separately, so attention that pools with one sign and copies with the
    other is a local minimum of higher action.  None where it does not exist (which may be again at
    larger P: in the bare theory its valley opens and closes); the P of its first appearance is found to
    1e-3; it is the least P where it exists there already, and NaN where it exists nowhere on the grid.
    Source: reconstruction, docs/theory/copyhead.md section 6.
    """
    found: list[Array | None] = [None] * len(P)
    for i, value in enumerate(P):
        starts = [z for z in (found[i - 1] if i else None,) if z is not None]
        for start in starts or _list_wells(value, model, form, -1.0):
            if found[i] is None:
                found[i] = _enter_quadrant(start, value, model, form)
    # A shallow well can slip through the lattice; a neighbour's minimum finds it.
    for i in range(len(P) - 2, -1, -1):
        neighbour = found[i + 1]
        if found[i] is None and neighbour is not None:
            found[i] = _enter_quadrant(neighbour, P[i], model, form)

    saddles = [
        None if z is None else Saddle(z, _relative_action(z, value, model, form))
        for z, value in zip(found, P, strict=True)
    ]
    existing = [(i, z) for i, z in enumerate(found) if z is not None]
    if not existing:
        return saddles, float("nan")
    first, best = existing[0]
    if first == 0:
        return saddles, float(P[0])
    lower, upper = P[first - 1], P[first]
    while upper - lower > 1e-3:
        middle = (lower + upper) / 2
        if (inside := _enter_quadrant(best, middle, model, form)) is None:
            lower = middle
        else:
            upper, best = middle, inside
    return saddles, float(upper)
