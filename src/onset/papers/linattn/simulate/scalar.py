"""The scalar equation of one head (Eq. 21) and where it is laid over trained runs."""

from __future__ import annotations

from functools import partial

import numpy as np

from onset.dynamics.integrate import integrate_flow
from onset.papers.linattn.simulate.starts import Run
from onset.papers.linattn.theory.fixed_points import compute_head_values, compute_optimal_map
from onset.papers.linattn.theory.flow import flow_aligned
from onset.papers.linattn.theory.landscape import Array, Landscape
from onset.papers.linattn.theory.scalar import compute_scalar_time

LOWEST = 1e-3
"""Share of v* from which the scalar equation is integrated."""


def _follow(d: int, landscape: Landscape, _: float, state: dict[str, Array]) -> dict[str, Array]:
    return {"v": flow_aligned(state["v"][..., None], landscape)[..., d]}


def simulate_scalar(landscape: Landscape, points: int, rtol: float, label: str) -> tuple[Array, Array]:
    """(time, value), each (D, points): Eq. 21 from 1e-3 v* until close to v*, with time 0 at v*/2.

    Times in units of tau; they are chosen so that values are evenly spread in the logit of v/v*.
    """
    star = compute_head_values(landscape)
    share = 1 / (1 + np.exp(-np.linspace(np.log(LOWEST), 12.0, points)))
    share[0] = LOWEST
    times, values = np.empty((2, len(star), points))
    for d in range(len(star)):
        times[d] = compute_scalar_time(share * star[d], star[d] / 2, d, landscape)
        found = integrate_flow(
            partial(_follow, d, landscape),
            {"v": LOWEST * star[d]},
            times[d],
            label=f"{label}, scalar equation of direction {d}",
            rtol=min(rtol, 1e-9),
            atol=1e-12,
        )
        values[d] = found["v"]
    return times, values


def find_learners(run: Run, seed: int) -> Array:
    """The head that carries most of A_dd at the end, for each direction (D,); -1 where A_dd is not learned.

    Learned is more than half of its optimum.   Reads the last snapshot of keys and queries.
    """
    last = run.dataset.isel(seed=seed, snapshot=-1)
    v = last["v"].isel(epoch=-1).values.astype(np.float64)
    keys, queries = (last[name].transpose("head", "rank", "direction").values for name in ("keys", "queries"))
    shares = v[:, None] * np.sum(keys * queries, axis=1, dtype=np.float64)
    learned = shares.sum(0) > np.diag(compute_optimal_map(run.landscape)) / 2
    return np.where(learned, shares.argmax(0), -1)


def _find_half(times: Array, v: Array, direction: int, landscape: Landscape) -> float:
    """The first time at which v reaches v*/2; NaN if never, or from the start.

    Records may be far apart on the scale of a drop: between two of them v is taken to follow the scalar
    flow's shape, at a pace that meets both.
    """
    star = compute_head_values(landscape)[direction]
    above = v >= star / 2
    if not above.any() or above[0]:
        return np.nan
    pair = slice(int(above.argmax()) - 1, int(above.argmax()) + 1)
    inside = np.clip(v[pair], 1e-9 * star, (1 - 1e-9) * star)
    return float(np.interp(0.0, compute_scalar_time(inside, star / 2, direction, landscape), times[pair]))


def locate_half(run: Run, seed: int, learners: Array) -> Array:
    """Time t/tau at which each direction is half learned, v = v*/2, (D,); NaN where it is not learned.

    Rank one: the |v| of the head that learns it.  Higher ranks, where a head may carry other directions
    already: the cube root of A_dd, which is the same for a head of its own.
    """
    one = run.dataset.isel(seed=seed)
    times = one["epoch"].values * float(one["time_per_epoch"].item())
    alone = int(one["rank_of"].item()) == 1
    found = np.full(len(learners), np.nan)
    for d, head in enumerate(learners):
        if head < 0:
            continue
        v = (
            np.abs(one["v"].isel(head=int(head)).values)
            if alone
            else np.cbrt(np.maximum(one["A_diagonal"].isel(direction=d).values, 0))
        )
        found[d] = _find_half(times, v.astype(np.float64), d, run.landscape)
    return found


def compare_with_scalar(
    run: Run, seed: int, learners: Array, half: Array, times: Array, values: Array
) -> Array:
    """Largest |v - v_scalar|/v* of each direction's head, the curves superposed at v*/2, (D,).

    Over records from 0.2 v* on, up to the end of the scalar curve; NaN where not learned.  `times`,
    `values` as from `simulate_scalar`.  Meant for rank one, NaN elsewhere.
    """
    one = run.dataset.isel(seed=seed)
    star, found = compute_head_values(run.landscape), np.full(len(half), np.nan)
    if int(one["rank_of"].item()) != 1:
        return found
    t = one["epoch"].values * float(one["time_per_epoch"].item())
    for d, head in enumerate(learners):
        if head < 0 or np.isnan(half[d]):
            continue
        v = np.abs(one["v"].isel(head=int(head)).values)
        kept = (np.cumsum(v > 0.2 * star[d]) > 0) & (t - half[d] < times[d, -1])
        expected = np.interp(t[kept] - half[d], times[d], values[d])
        found[d] = np.abs(v[kept] - expected).max() / star[d]
    return found
