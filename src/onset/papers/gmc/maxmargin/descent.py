"""Full-batch gradient descent of all seeds at once, with all diagnostics of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.errors import OnsetError
from onset.job.loop import run_resumable
from onset.papers.gmc.maxmargin.geometry import Array, describe_geometry
from onset.papers.gmc.maxmargin.gradient import LOSS_FACTOR, follow_descent
from onset.papers.gmc.maxmargin.layout import gather_rivals, read_problems
from onset.papers.gmc.maxmargin.records import Records, list_records
from onset.papers.gmc.maxmargin.results import build_dataset

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job
    from onset.params.gmc import MaxMarginDescent

CHUNK = 1000  # iterations between two possible saves, and whose margins are in memory
FROZEN = 1e-9
"""Growth of |W| in the last decade, over that of the theory, which is 1, from which W counts as moving."""


def require_finite(job: Job, history: Array, begin: int) -> None:
    """Raise OnsetError, naming seed and iteration, where a margin (iteration, seed, n, R) is not finite."""
    bad = ~np.isfinite(history).all((-2, -1))
    if not bad.any():
        return
    place, member = (int(index) for index in np.argwhere(bad)[0])
    seed = job.inputs["data"]["seed"].values[member]
    raise OnsetError(
        f"{job.paper}/{job.name}: the margins of seed {seed} are not finite at iteration {begin + place} "
        f"(learning_rate is {job.own.learning_rate:g}); lower learning_rate or maxmargin_task.sigma_token, "
        "of which learning_rate x sigma_token^6 is all that matters"
    )


def warn_frozen(job: Job, dataset: xr.Dataset) -> None:
    """Tell of seeds whose W_KQ no longer moves: their first steps jumped over the asymptotic regime."""
    moving = np.abs(dataset["growth_ratio"].values) > FROZEN
    frozen = dataset["seed"].values[~moving]
    if len(frozen) and job.reporter is not None:
        job.reporter.line(
            f"W_KQ stopped moving on seed{'s' * (len(frozen) > 1)} {', '.join(map(str, frozen))}: the first "
            "steps overshot, so that nothing follows the theory; lower learning_rate"
        )


def descend(job: Job) -> xr.Dataset:
    """Loss, direction, norm, gradient and the diagnostics of A5 to A9 along gradient descent from W_KQ = 0.

    Inputs by role: `data` (maxmargin_data), `theory` (maxmargin_theory).  Dataset: see
    `onset.papers.gmc.maxmargin.results`; record tau is the state after tau steps, the sums over iterations
    take in every one.  The start at zero is our choice.  Raises OnsetError, naming seed and iteration, where
    margins are no longer finite.   Source: arXiv 2602.07562, section 4 and appendix G.3.
    """
    own: MaxMarginDescent = job.own
    data, theory = job.inputs["data"], job.inputs["theory"]
    tokens, match = read_problems(data)
    geometry = describe_geometry(tokens, match)
    support, limit = (
        gather_rivals(theory[name].transpose("seed", "sample", "token").values, match)
        for name in ("support", "h_limit")
    )
    factor = LOSS_FACTOR[own.loss]
    eta, visits = own.learning_rate * factor, own.iterations + 1
    at, tail = list_records(own.iterations, own.points), max(1, round(own.tail * own.iterations))
    records = Records(geometry, at, eta, factor, tail, limit)
    margins = np.zeros(geometry.keys.shape[:-1])

    def visit(second: bool, begin: int, end: int) -> None:
        if begin == 0:
            margins[...] = 0.0
        history, margins[...] = follow_descent(
            margins, records.margin_gram, records.value_gram, eta, end - begin
        )
        require_finite(job, history, begin)
        iteration = np.arange(begin, end)
        if second:
            records.write_second(iteration, history)
        else:
            records.write_first(iteration, history, support)

    def advance(begin: int, end: int) -> None:
        for second in (False, True):
            start = visits if second else 0
            if max(begin, start) < min(end, start + visits):
                visit(second, max(begin, start) - start, min(end, start + visits) - start)

    changed = {"margins": margins, **records.arrays}
    with np.errstate(over="ignore", invalid="ignore"):
        run_resumable(job, 2 * visits, CHUNK, changed, advance, "iterations (two passes)")
    dataset = build_dataset(geometry, records, data, theory)
    warn_frozen(job, dataset)
    return dataset
