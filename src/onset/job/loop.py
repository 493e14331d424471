"""A loop over steps that can be killed at any moment and goes on where it was last saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onset.job.context import Job


def run_resumable(
    job: Job,
    total: int,
    chunk: int,
    tensors: Mapping[str, Any],
    advance: Callable[[int, int], None],
    unit: str = "steps",
) -> None:
    """Call `advance(begin, end)` over consecutive chunks of `range(total)`.

    `tensors` is everything that a chunk changes: parameters, optimiser moments, records; all of torch
    or all of NumPy.  They are changed in place, saved with `job.saved` at chunk ends when a save is due,
    and restored in place from an interrupted run.  `advance` must depend on its arguments and on
    `tensors` alone (random numbers are a function of the step), so that a resumed run equals an
    uninterrupted one bit for bit.
    """
    start = job.saved.restore(tensors) if job.saved is not None else 0
    counting = job.reporter.steps(total, unit, start) if job.reporter is not None else nullcontext()
    with counting as counter:
        for begin in range(start, total, chunk):
            end = min(begin + chunk, total)
            advance(begin, end)
            if counter is not None:
                counter.advance(end - begin)
            if job.saved is not None and end < total and job.saved.due():
                job.saved.save(end, tensors)
