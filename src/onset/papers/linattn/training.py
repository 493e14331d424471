"""Full-batch gradient descent of linear attention and the MLP, seeds and like runs in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onset.job.context import Result
from onset.job.diverged import Diverged, Kept, list_survivors, note_lost, spell_lost
from onset.job.loop import run_resumable
from onset.papers.linattn.batches import stack_runs
from onset.papers.linattn.models import descend
from onset.papers.linattn.records import Records, build_dataset, list_records
from onset.papers.linattn.runs import Run, prepare_runs

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.linattn import Training

CHUNK = 1000  # steps between two possible saves


def train_runs(job: Job) -> Result:
    """Losses, value weights, function-space matrices and conserved quantities along all runs of a section.

    Each run is full-batch gradient descent (no momentum, fixed rate) on the query or next-token loss, from
    moments: exactly that of the sequences, or of the population.  Record 0 is the start.  Dataset: see
    `onset.papers.linattn.records`; checkpoint: "<run>.<weights>" (seed, ...), float64.
    Seeds do not see each other, so one whose loss is no longer finite lets the others finish.  Raises
    Diverged then, with experiment, run, seed and the record's step, and with the results of the others.
    Source: training of arXiv 2501.16265, in the paper's units (t/tau grows by twice the rate a step).
    """
    own: Training = job.own
    runs = prepare_runs(job)
    batches = stack_runs(runs)
    epochs = list_records(own.epochs, own.record_every)
    snapshots = list_records(own.epochs, own.snapshot_every)
    records = [Records(batch, len(epochs), len(snapshots)) for batch in batches]
    lost = [np.full(len(batch.weights["v"]), -1) for batch in batches]
    record_at = {epoch: k for k, epoch in enumerate(epochs)}
    snapshot_at = {epoch: k for k, epoch in enumerate(snapshots)}

    def observe(index: int, epoch: int) -> None:
        batch, record = batches[index], records[index]
        if epoch in record_at:
            record.write(record_at[epoch], batch)
            note_lost(lost[index], record.arrays["loss"][record_at[epoch]], epoch)
        if epoch in snapshot_at:
            record.keep(snapshot_at[epoch], batch)

    def follow(index: int, first: int, last: int) -> None:
        batch = batches[index]
        if first == 0:
            observe(index, 0)
        for epoch in range(first, last):
            if epoch in record_at and lost[index].min() >= 0:
                return
            descend(batch.model, batch.loss, batch.weights, batch.learning_rate)
            observe(index, epoch + 1)

    def advance(begin: int, end: int) -> None:
        while begin < end:
            index, first = divmod(begin, own.epochs)
            last = min(own.epochs, first + end - begin)
            follow(index, first, last)
            begin += last - first

    changed = {
        f"{batch.runs[0].label}.{name}": array
        for batch, record, after in zip(batches, records, lost, strict=True)
        for name, array in (
            *((f"weights.{name}", array) for name, array in batch.weights.items()),
            *record.arrays.items(),
            ("lost", after),
        )
    }
    with np.errstate(over="ignore", invalid="ignore"):
        run_resumable(job, len(batches) * own.epochs, CHUNK, changed, advance, "epochs")
    ended = {
        part[0].label: part
        for batch, record, after in zip(batches, records, lost, strict=True)
        for part in batch.separate(record, after)
    }
    trained, recorded, after = (
        list(parts) for parts in zip(*(ended[run.label] for run in runs), strict=True)
    )
    if any(steps.max() >= 0 for steps in after):
        raise report_lost(job, trained, recorded, after, epochs, snapshots)
    return collect(trained, recorded, epochs, snapshots)


def collect(
    runs: Sequence[Run], records: Sequence[Records], epochs: list[int], snapshots: list[int]
) -> Result:
    """Dataset and checkpoint of runs as they are."""
    checkpoint = {f"{run.label}.{name}": array for run in runs for name, array in run.weights.items()}
    return Result(build_dataset(runs, records, epochs, snapshots), checkpoint)


def report_lost(
    job: Job,
    runs: Sequence[Run],
    records: Sequence[Records],
    lost: Sequence[np.ndarray],
    epochs: list[int],
    snapshots: list[int],
) -> Diverged:
    """The error that names experiment, runs, seeds and steps, and holds what finished."""
    told = []
    for run, after in zip(runs, lost, strict=True):
        if after.max() >= 0:
            members = spell_lost([f"seed {seed}" for seed in run.own.seeds], after)
            told.append(
                f"the loss of run {run.label}, {members} (its learning_rate is {run.own.learning_rate:g}, "
                f"the bound of stability at the minimum {run.stability_bound:.4g})"
            )
    kept = []
    for rows, columns in list_survivors(np.stack(lost) >= 0):
        change: dict[str, Any] = {}
        if len(columns) < len(job.own.seeds):
            change["seeds"] = [job.own.seeds[i] for i in columns]
        if len(rows) < len(runs):
            change["runs"] = {run.label: None for i, run in enumerate(runs) if i not in rows}
        part = [runs[i].take(columns) for i in rows]
        found = [records[i].take(columns, runs[i].rank) for i in rows]
        kept.append(Kept(change, collect(part, found, epochs, snapshots)))
    advice = "lower learning_rate or init_std, or leave them out"
    return Diverged(f"{job.paper}/{job.name}: {'; '.join(told)}: {advice}", kept)
