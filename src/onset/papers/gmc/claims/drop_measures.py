"""What the claims about plateau, drop and coincidence measure (figures 2 and 5)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.measures.emergence import crossing_step, drop_span, drop_start, progress_at
from onset.papers.gmc.claims.measures import Inputs, emergence_of, take_median, take_worst
from onset.papers.gmc.selection import NAMES, SCORES, loss_progress, score_progress, take_levels

PLATEAU_STEP, SOLVED_STEP = 100, 200
"""Steps of the paper's own setting that lie before and after its drop."""


def progress_of(inputs: Inputs, role: str) -> xr.DataArray:
    """Progress of the loss of a role's runs (seed, step)."""
    return loss_progress(inputs[role].test_loss, take_levels(inputs["floors"], role))


def drop_of(inputs: Inputs, role: str) -> xr.DataArray:
    """Progress cut to the first half of the drop: 0 above the uniform average, ½ at the end.

    The first fall, to the average, is not the drop; and late in training a single noisy record can change
    faster than the drop itself.
    """
    return progress_of(inputs, role).clip(min=0, max=0.5)


def plateau_excess(inputs: Inputs) -> Measured:
    """|loss / uniform average - 1| where the drop begins."""
    runs, levels = inputs["runs"], take_levels(inputs["floors"], "runs")
    begin = drop_start(drop_of(inputs, "runs")).where(np.isfinite(emergence_of(inputs, "runs")))
    level = progress_at(runs.test_loss.astype(np.float64), begin)
    uniform = float(levels.uniform_loss)
    return take_median(abs(level / uniform - 1), f"uniform average {uniform:.3f}; begin at {_list(begin)}")


def relative_span(inputs: Inputs) -> Measured:
    """Steps that the whole way takes at the steepest rate, over the emergence step."""
    progress = drop_of(inputs, "runs")
    return take_median(drop_span(progress) / crossing_step(progress))


def solved_over_plateau(inputs: Inputs) -> Measured:
    """Loss at step 200 over that at step 100."""
    loss = inputs["runs"].test_loss.astype(np.float64)
    if loss["step"].values[-1] < SOLVED_STEP:
        return Measured(None, absent=f"runs end before step {SOLVED_STEP}")
    late, early = (loss.interp(step=step) for step in (SOLVED_STEP, PLATEAU_STEP))
    return take_median(late / early, f"losses {_list(early)} and {_list(late)}")


def emergence_step(inputs: Inputs) -> Measured:
    """Step at which the loss is half-way from the uniform average to the Bayes floor."""
    return take_median(emergence_of(inputs, "runs"))


def half_crossings(inputs: Inputs, role: str) -> dict[str, xr.DataArray]:
    """Step at which each score of the best head is half-way from random to its ceiling: (seed,) each."""
    found = score_progress(inputs[role], take_levels(inputs["floors"], role))
    return {name: crossing_step(one) for name, one in found.items()}


def lag_steps(inputs: Inputs) -> Measured:
    """Largest distance between half-crossings of loss and a score, in steps."""
    emerged = emergence_of(inputs, "runs")
    steps = half_crossings(inputs, "runs")
    return take_worst({NAMES[name]: abs(emerged - one) for name, one in steps.items()})


def coincidence(
    inputs: Inputs, roles: tuple[str, ...] = ("runs",), names: tuple[str, ...] = SCORES
) -> Measured:
    """How far the loss is from half of its way when a score is half-way, the largest over scores and roles.

    Roles whose loss never is half-way are left out and named.
    """
    values: dict[str, xr.DataArray] = {}
    never = []
    for role in roles:
        if not np.isfinite(emergence_of(inputs, role).values).any():
            never.append(role)
            continue
        progress, prefix = progress_of(inputs, role), f"{role}, " if len(roles) > 1 else ""
        for name, step in half_crossings(inputs, role).items():
            if name in names:
                values[f"{prefix}{NAMES[name]}"] = abs(progress_at(progress, step) - 0.5)
    if not values:
        return Measured(None, undecided="no loss is half-way")
    found = take_worst(values)
    text = f"{found.detail}; never half-way: {', '.join(never)}" if never else found.detail
    return Measured(found.value, text, found.undecided)


def _list(values: xr.DataArray) -> str:
    return ", ".join(f"{value:.3g}" for value in values.values)
