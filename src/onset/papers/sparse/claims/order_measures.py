"""What the claims about the order of learning measure: minima of divergences, times of acquisition."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.measures.group_mass import APART, acquisition_steps, count_head_stages
from onset.papers.sparse.claims.seeds import (
    Inputs,
    judge_share,
    lack_run,
    list_increasing,
    take_extreme,
    take_median,
)
from onset.papers.sparse.selection import (
    count_switches,
    has_run,
    nearest_reference,
    nearest_steps,
    record_at,
    take_KL,
    take_mass,
    take_run,
)

ARRIVED = 0.1
"""A model has arrived at a reference where its KL has fallen to this share of that before training."""


def order_of_minima(
    inputs: Inputs, run: str = "main", role: str = "runs", dim: str = "prefix", least: float = 1.0
) -> Measured:
    """Share of seeds whose KL to the references along `dim` are least in turn, none at the start.

    Not known of a seed that at its last record is nearest to a reference but the last, unless it has arrived
    at the last one by then: it may come nearer.
    """
    if not has_run(inputs[role], run):
        return lack_run(run)
    KL = take_KL(take_run(inputs[role], run), dim)
    steps = nearest_steps(KL)
    holds = list_increasing(steps, dim) & (steps.isel({dim: 0}, drop=True) > 0)
    last = float(KL["step"][-1])
    waiting = (steps.isel({dim: slice(None, -1)}) == last).any(dim)
    ends = KL.isel({dim: -1}, drop=True)
    arrived = ends.isel(step=-1, drop=True) < ARRIVED * ends.isel(step=0, drop=True)
    return judge_share(holds, holds | arrived | ~waiting, least, f"minima at {describe_steps(steps, dim)}")


def describe_steps(steps: xr.DataArray, dim: str) -> str:
    """Steps of all references, seeds apart by semicolons."""
    rows = steps.transpose("seed", dim).values
    return "; ".join(", ".join(f"{step:.4g}" for step in row) for row in rows)


def order_of_acquisition(
    inputs: Inputs, run: str = "main", role: str = "runs", least: float = 0.8
) -> Measured:
    """Share of seeds in which heads acquire the groups in the order of their importance.

    Not known of a seed that has not acquired the last ones yet.
    """
    if not has_run(inputs[role], run):
        return lack_run(run)
    steps = acquisition_steps(take_mass(take_run(inputs[role], run)))
    holds = list_increasing(steps, "group")
    late = steps.fillna(np.inf).transpose("seed", "group").values
    # One group after another that is not there yet is out of order, whatever comes.
    broken = ((late[:, 1:] <= late[:, :-1]) & np.isfinite(late[:, 1:])).any(-1)
    known = holds | holds.copy(data=broken)
    return judge_share(holds, known, least, f"acquired at {describe_steps(steps, 'group')}")


def nearest_at_first_end(inputs: Inputs, run: str = "main", role: str = "runs") -> Measured:
    """Least KL to a predictor of more groups less KL to f_{A_1}, where the latter is least; median.

    Undecided where seeds do not agree on the sign.
    """
    KL = take_KL(take_run(inputs[role], run))
    at = nearest_steps(KL).isel(prefix=0, drop=True)
    if (at == 0).any():
        return Measured(None, undecided="a seed is nearest to f_{A_1} before training")
    found = record_at(KL, at)
    lead = found.isel(prefix=slice(1, None)).min("prefix") - found.isel(prefix=0, drop=True)
    measured = take_median(lead)
    if len(set(np.sign(lead.values))) > 1:
        return Measured(measured.value, undecided=f"seeds disagree; {measured.detail}")
    return measured


def nearest_in_turn(inputs: Inputs, run: str = "main", role: str = "runs", least: float = 1.0) -> Measured:
    """Share of seeds whose nearest restricted model goes from the shortest context to the longest.

    Every one has its turn and none comes back.  Not known of a seed that has not reached the last one.
    """
    KL = take_KL(take_run(inputs[role], run), "context")
    nearest = nearest_reference(KL, "context")
    turns = nearest.diff("step")
    forward = (turns >= 0).all("step") & (turns <= 1).all("step")
    begins = nearest.isel(step=0, drop=True) == 0
    arrived = nearest.isel(step=-1, drop=True) == KL.sizes["context"] - 1
    switches = count_switches(nearest)
    at = "; ".join(
        ", ".join(f"{step:g}" for step in nearest["step"].values[1:][row != 0])
        for row in turns.transpose("seed", "step").values
    )
    holds = begins & forward & arrived
    known = arrived | ~(begins & forward)
    return judge_share(holds, known, least, f"{switches.values.max()} switches at most, at {at}")


def switch_step(inputs: Inputs, number: int, run: str = "main", role: str = "runs") -> Measured:
    """First step at which the nearest restricted model has this number (from 0) or more; median."""
    nearest = nearest_reference(take_KL(take_run(inputs[role], run), "context"), "context")
    reached = (nearest >= number).transpose("seed", "step")
    steps = np.where(reached.any("step"), nearest["step"].values[reached.argmax("step")], np.nan)
    return take_median(reached.isel(step=0, drop=True).copy(data=steps))


def head_stages(inputs: Inputs, run: str, role: str, least: float, stages: int) -> Measured:
    """Share of seeds whose heads acquire the groups in so many stages; not known if unfinished."""
    if not has_run(inputs[role], run):
        return lack_run(run)
    steps = acquisition_steps(take_mass(take_run(inputs[role], run)))
    count = count_head_stages(steps)
    return judge_share(
        count == stages, count.notnull(), least, f"acquired at {describe_steps(steps, 'group')}"
    )


def median_stages(inputs: Inputs, run: str, role: str) -> Measured:
    """Number of stages in which heads acquire the groups, median over seeds; undecided if half do not end."""
    if not has_run(inputs[role], run):
        return lack_run(run)
    steps = acquisition_steps(take_mass(take_run(inputs[role], run)))
    return take_median(count_head_stages(steps), f"acquired at {describe_steps(steps, 'group')}")


def one_then_the_rest(inputs: Inputs, run: str, role: str, least: float = 0.8) -> Measured:
    """Share of seeds that acquire one group first, and all others together later."""
    if not has_run(inputs[role], run):
        return lack_run(run)
    steps = acquisition_steps(take_mass(take_run(inputs[role], run)))
    ordered = np.sort(steps.transpose("seed", "group").values, -1)
    later = ordered[:, 1:] > APART * ordered[:, :-1]
    holds = later[:, 0] & ~later[:, 1:].any(-1) & np.isfinite(ordered).all(-1)
    template = steps.isel(group=0, drop=True)
    known = template.copy(data=np.isfinite(ordered).all(-1))
    detail = f"acquired at {describe_steps(steps, 'group')}"
    return judge_share(template.copy(data=holds), known, least, detail)


def separation(inputs: Inputs, runs: tuple[str, ...], role: str) -> Measured:
    """Least ratio, from one run to the next, of medians of (last acquisition over the one before)."""
    medians: list[float] = []
    for label in runs:
        if not has_run(inputs[role], label):
            return lack_run(label)
        steps = acquisition_steps(take_mass(take_run(inputs[role], label)))
        ordered = np.sort(steps.transpose("seed", "group").values, -1)
        medians.append(float(np.median(ordered[:, -1] / ordered[:, -2])))
    if not np.isfinite(medians).all():
        return Measured(None, undecided="half of the seeds of a run have not acquired all groups")
    ratios = np.divide(medians[1:], medians[:-1])
    each = ", ".join(f"{label}: {value:.3g}" for label, value in zip(runs, medians, strict=True))
    return Measured(float(ratios.min()), f"last over last but one, {each}")


def slower_starts(inputs: Inputs, runs: tuple[str, ...], role: str) -> Measured:
    """Least ratio, from one run to the next, of the median steps at which a second group is acquired.

    A run that never acquires one is later than all.
    """
    present = [label for label in runs if has_run(inputs[role], label)]
    if len(present) < 2:
        return Measured(None, absent=f"fewer than two of the runs {', '.join(runs)} at this scale")
    medians = []
    for label in present:
        steps = acquisition_steps(take_mass(take_run(inputs[role], label)))
        second = np.sort(steps.fillna(np.inf).transpose("seed", "group").values, -1)[:, 1]
        medians.append(float(np.median(second)))
    each = ", ".join(f"{label}: {value:.4g}" for label, value in zip(present, medians, strict=True))
    if not np.isfinite(medians[:-1]).all():
        return Measured(None, undecided=f"a run but the last never acquires a second group; {each}")
    return Measured(float(np.divide(medians[1:], medians[:-1]).min()), each)


def change_of_last(inputs: Inputs, run: str, base: str, role: str) -> Measured:
    """Largest over seeds of |log| of the ratio of the steps at which the last group is acquired.

    Runs of equal seed share start and batches.
    """
    for label in (run, base):
        if not has_run(inputs[role], label):
            return lack_run(label)
    last = [
        acquisition_steps(take_mass(take_run(inputs[role], label))).max("group", skipna=False)
        for label in (run, base)
    ]
    text = ", ".join(f"{a:.4g} for {b:.4g}" for a, b in zip(last[0].values, last[1].values, strict=True))
    return take_extreme(abs(xr.apply_ufunc(np.log, last[0] / last[1])), largest=True, detail=text)
