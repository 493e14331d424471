"""Theory against experiment, figure by figure: levels, times, values and maps that the theory predicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import xarray as xr
from scipy.interpolate import CubicSpline

from onset.claims.theory import Comparison, Point
from onset.measures.drops import half_drop_step, map_curves
from onset.papers.linattn.claims import timing_measures
from onset.papers.linattn.claims.level_measures import level_errors
from onset.papers.linattn.claims.map_measures import GROWING, merged_runs
from onset.papers.linattn.claims.measures import (
    Inputs,
    first_learning_times,
    half_drop_times,
    plateau_errors,
    take_runs,
    theory_of,
)
from onset.papers.linattn.claims.mixture_measures import TASK, take_share
from onset.papers.linattn.claims.next_token_measures import next_token_theory
from onset.papers.linattn.maps import flattest_epochs
from onset.papers.linattn.selection import crossing_epochs, has_run, take_task, take_winners
from onset.papers.linattn.theory.scalar import STEEPEST_SHARE

Points = Iterator[Point]
TheoryOf = Callable[[Inputs, xr.Dataset], xr.Dataset]
SQUARED = "squared target units"
RECORDS = 8
"""Records that a rise must take for its length to be told."""


def _every_run(
    inputs: Inputs, roles: tuple[str, ...], **settings: object
) -> Iterator[tuple[str, xr.Dataset]]:
    """The runs of several roles with the given settings, and their labels."""
    present = [role for role in roles if role in inputs]
    for role in present:
        for run in take_runs(inputs[role], **settings):
            size, prefix = int(run.samples), f"{role}/" if len(present) > 1 else ""
            yield f"{prefix}{run.run.values} ({f'P = {size}' if size else 'population'})", run


def compare_plateaus(
    inputs: Inputs,
    roles: tuple[str, ...] = ("runs",),
    theory: TheoryOf = theory_of,
    by_loss: bool = False,
    **settings: object,
) -> Points:
    """Loss on each plateau of ATTN_S at multiples of its rank, against Eq. 19 (or `theory`).

    `by_loss` finds plateaus by the loss alone, where ranks or repeated eigenvalues mix directions.
    """
    for label, run in _every_run(inputs, roles, model="separate", **settings):
        task = theory(inputs, run)
        levels = task.plateau_loss.sel(plateau=slice(1, None))
        errors = (level_errors if by_loss else plateau_errors)(run, task)
        for m in levels.plateau.values:
            if int(m) % max(int(run.rank_of), 1) == 0 or m == levels.plateau[-1]:
                level = float(levels.sel(plateau=m))
                yield Point(f"{label}, m = {int(m)}", level, level * (1 + errors.sel(plateau=m).values))


def compare_ends(inputs: Inputs, theory: TheoryOf = theory_of, **settings: object) -> Points:
    """Loss at the end against the floor, that with all directions learned."""
    for label, run in _every_run(inputs, ("runs",), **settings):
        yield Point(label, theory(inputs, run).plateau_loss[-1], run.loss.isel(epoch=-1))


def compare_time_course(inputs: Inputs) -> Points:
    """Time at which A has risen to shares of its limit on white inputs, against Eq. 10; seeds integrated."""
    flow = inputs["flow"]
    for label, run in _every_run(inputs, ("runs",), model="merged", task=TASK):
        name = str(run.run.values)
        if not has_run(flow, name):
            continue
        run = run.sel(seed=flow.seed)
        limit = float(theory_of(inputs, run).late_map[0])
        fine = np.linspace(float(flow.time[0]), float(flow.time[-1]), 20 * flow.sizes["time"])
        sigma = CubicSpline(flow.time.values, flow.sigma.sel(run=name).transpose("time", "seed").values)(fine)
        mean = run.A_diagonal.astype(np.float64).mean("direction")
        for share in (0.1, 0.5, 0.9):
            expected = [np.interp(share * limit, np.maximum.accumulate(one), fine) for one in sigma.T]
            found = crossing_epochs(mean, share * limit) * float(run.time_per_epoch)
            yield Point(f"{label}, {share:g} of the limit", expected, found)


def compare_half_drops(inputs: Inputs, **settings: object) -> Points:
    """Time at which the loss is half-way down, against the exact population flow from the same start."""
    flow = inputs["flow"]
    for label, run in _every_run(inputs, ("runs",), **settings):
        name = str(run.run.values)
        if has_run(flow, name) and bool(flow.loss.sel(run=name).notnull().any()):
            run = run.sel(seed=flow.seed)
            fine = np.linspace(float(flow.time[0]), float(flow.time[-1]), 20 * flow.sizes["time"])
            curves = flow.loss.sel(run=name).transpose("time", "seed").values
            if np.isfinite(curves).all():
                curves = CubicSpline(flow.time.values, curves)(fine)
                yield Point(label, [half_drop_step(fine, one) for one in curves.T], half_drop_times(run))


def compare_values(inputs: Inputs) -> Points:
    """Value |v| at the end of the head that learned each direction, against v*."""
    for label, run in _every_run(inputs, ("population", "runs"), model="separate", rank_of=1):
        theory = theory_of(inputs, run)
        found = take_winners(run, theory).isel(epoch=-1)
        for d in range(run.sizes["direction"]):
            yield Point(f"{label}, direction {d + 1}", theory.value[d], found.isel(direction=d))


def compare_rises(inputs: Inputs) -> Points:
    """Time from v*/2 to 0.9 v* of the head that learned each direction, against the scalar equation.

    Rises that take fewer than RECORDS records are left out: straight lines between those would widen them.
    """
    flow = inputs["flow"]
    for label, run in _every_run(inputs, ("population",)):
        theory = theory_of(inputs, run)
        winners = take_winners(run, theory)
        for d in range(run.sizes["direction"]):
            star, one = float(theory.value[d]), winners.isel(direction=d)
            half, high = (crossing_epochs(one, share * star) for share in (0.5, 0.9))
            ode_time, ode_value = (flow[name].isel(direction=d).values for name in ("ode_time", "ode_value"))
            expected = np.diff(np.interp([0.5 * star, 0.9 * star], ode_value, ode_time))
            if expected < RECORDS * float(np.diff(run.epoch.values).max()) * float(run.time_per_epoch):
                continue
            yield Point(f"{label}, direction {d + 1}", expected, (high - half) * float(run.time_per_epoch))


def compare_first_drops(inputs: Inputs) -> Points:
    """Time at which the first direction rises fastest, against that predicted from each start."""
    role = "population" if "population" in inputs else "runs"
    for label, run in _every_run(inputs, (role,), model="separate"):
        theory = theory_of(inputs, run)
        expected = [winner.time for winner in timing_measures.predict_from_starts(run, theory)]
        yield Point(label, expected, first_learning_times(run, theory, STEEPEST_SHARE**3))


def compare_growth(inputs: Inputs) -> Points:
    """Rate at which A grows along Λ² before the drop, against 2 |Λ²|; population runs."""
    for run in merged_runs(inputs):
        if int(run.samples):
            continue
        theory = theory_of(inputs, run)
        squared = theory.eigenvalue**2
        part = (run.A_diagonal.astype(np.float64) * squared).sum("direction") / np.sqrt((squared**2).sum())
        part = part / float(np.sqrt((theory.late_map**2).sum()))
        times, slopes = run.epoch.values * float(run.time_per_epoch), []
        for curve in part.transpose("seed", "epoch").values:
            inside = (curve > GROWING[0]) & (curve < GROWING[1])
            enough = inside.sum() >= 5
            slopes.append(np.polyfit(times[inside], np.log(curve[inside]), 1)[0] if enough else np.nan)
        yield Point(str(run.run.values), 2 * float(theory.growth_rate), slopes)


def compare_late_maps(inputs: Inputs) -> Points:
    """Diagonal of A at the end of ATTN_M, against the optimal map λ/a."""
    for label, run in _every_run(inputs, ("runs",), model="merged", task="base_task"):
        late = theory_of(inputs, run).late_map
        for d in range(run.sizes["direction"]):
            end = run.A_diagonal.isel(epoch=-1, direction=d)
            yield Point(f"{label}, direction {d + 1}", late[d], end)


def compare_regression_maps(inputs: Inputs) -> Points:
    """A_mm where the loss is flattest with m directions learned, against Eq. 22 (principal components)."""
    for label, run in _every_run(inputs, ("population", "runs"), rank_of=1):
        theory = theory_of(inputs, run)
        at = flattest_epochs(run, theory).transpose("seed", "direction").values
        diagonal = run.A_diagonal.transpose("seed", "epoch", "direction").astype(np.float64)
        for d in range(run.sizes["direction"]):
            found = [
                float(diagonal.isel(seed=k, direction=d).sel(epoch=at[k, d]))
                if np.isfinite(at[k, d])
                else np.nan
                for k in range(len(at))
            ]
            yield Point(f"{label}, m = {d + 1}", theory.late_map[d], found)


def compare_flow_half_times(inputs: Inputs) -> Points:
    """Half-way time of the loss of higher ranks on a set, against the population flow from the same start."""
    flow = inputs["flow"]
    for label, run in _every_run(inputs, ("runs",), model="separate"):
        name = str(run.run.values)
        if has_run(flow, name):
            expected = map_curves(flow.loss.sel(run=name), half_drop_step, dim="time").values
            yield Point(label, expected, half_drop_times(run.sel(seed=flow.seed)))


def compare_mixtures(inputs: Inputs) -> Points:
    """Losses at the end of runs of one kind of sequences, against what each kind of learning leaves."""
    theory = take_task(inputs["theory"], TASK)
    expected = {
        (0.0, "in_weight"): theory.in_weight_floor,
        (0.0, "in_context"): theory.in_weight_in_context_loss,
        (1.0, "in_context"): theory.plateau_loss[-1],
        (1.0, "in_weight"): theory.in_context_in_weight_loss,
    }
    for (share, kind), level in expected.items():
        runs = take_share(inputs, share)
        if runs is not None:
            name = kind.replace("_", "-")
            yield Point(f"share {share:g}, {name} loss", level, runs[f"loss_{kind}"].isel(epoch=-1))


def take_next_token_theory(inputs: Inputs, run: xr.Dataset) -> xr.Dataset:
    """The next-token theory of a run's task."""
    return next_token_theory(inputs, run)


PLATEAU = "loss on the plateau with m directions learned, Eq. 19"
FLOOR = "loss at the end, Eq. 19 with all directions learned"
FIRST = "first drop, predicted from each start"
BY_LOSS = Comparison(PLATEAU, partial(compare_plateaus, by_loss=True), SQUARED)
MERGED_END = Comparison(FLOOR, partial(compare_ends, model="merged"), SQUARED)

FIG1 = (
    Comparison(FLOOR, compare_ends, SQUARED),
    Comparison("time to a share of the limit, Eq. 10", compare_time_course, "τ"),
    Comparison("loss half-way down, exact flow", partial(compare_half_drops, samples=0), "τ"),
)
FIG3 = (
    Comparison(PLATEAU, partial(compare_plateaus, roles=("population", "runs")), SQUARED),
    Comparison("value of the head of a direction, v*", compare_values),
    Comparison("time from v*/2 to 0.9 v*, scalar equation", compare_rises, "τ"),
    Comparison(FIRST, compare_first_drops, "τ"),
)
FIG4 = (Comparison(PLATEAU, partial(compare_plateaus, roles=("population", "runs"), by_loss=True), SQUARED),)
FIG6 = (MERGED_END, Comparison(PLATEAU, compare_plateaus, SQUARED))
FIG7 = (
    Comparison(
        "next-token loss on the plateau with m directions learned, Eq. 23",
        partial(compare_plateaus, theory=take_next_token_theory),
        SQUARED,
    ),
    Comparison(
        "next-token loss at the end, Eq. 23",
        partial(compare_ends, theory=take_next_token_theory, model="merged"),
        SQUARED,
    ),
)
FIG8 = (MERGED_END, BY_LOSS)
FIG9 = (
    Comparison("growth rate of A along Λ², 2 |Λ²|", compare_growth, "1/τ"),
    Comparison("diagonal of A at the end, optimal map", compare_late_maps),
)
FIG10 = (Comparison("A_mm with m directions learned, Eq. 22", compare_regression_maps),)
FIG11 = (
    Comparison(
        "loss on the plateau at multiples of the rank, Eq. 19",
        partial(compare_plateaus, by_loss=True),
        SQUARED,
    ),
    Comparison("loss half-way down, exact flow", compare_flow_half_times, "τ"),
)
FIG12 = (Comparison(FIRST, compare_first_drops, "τ"),)
FIG13 = (BY_LOSS,)
FIG14 = (Comparison("loss at the end", compare_mixtures, SQUARED),)
