"""Full-batch gradient descent of linear attention and the MLP, run after run, seeds in one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.errors import OnsetError
from onset.job.context import Result
from onset.job.loop import run_resumable
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
    Raises OnsetError naming experiment, run, seed and step where the loss is no longer finite.
    Source: training of arXiv 2501.16265, in the paper's units (t/tau grows by twice the rate a step).
    """
    own: Training = job.own
    runs = prepare_runs(job)
    epochs = list_records(own.epochs, own.record_every)
    snapshots = list_records(own.epochs, own.snapshot_every)
    records = [Records(run, len(epochs), len(snapshots)) for run in runs]
    record_at = {epoch: k for k, epoch in enumerate(epochs)}
    snapshot_at = {epoch: k for k, epoch in enumerate(snapshots)}

    def observe(run: Run, record: Records, epoch: int) -> None:
        if epoch in record_at:
            record.write(record_at[epoch], run)
            require_finite(job, run, record.arrays["loss"][record_at[epoch]], epoch)
        if epoch in snapshot_at:
            record.keep(snapshot_at[epoch], run)

    def advance(begin: int, end: int) -> None:
        for step in range(begin, end):
            index, epoch = divmod(step, own.epochs)
            run, record = runs[index], records[index]
            if epoch == 0:
                observe(run, record, 0)
            descend(run.model, run.loss, run.weights, run.own.learning_rate)
            observe(run, record, epoch + 1)

    changed = {
        f"{run.label}.{name}": array
        for run, record in zip(runs, records, strict=True)
        for name, array in (
            *((f"weights.{name}", array) for name, array in run.weights.items()),
            *record.arrays.items(),
        )
    }
    with np.errstate(over="ignore", invalid="ignore"):
        run_resumable(job, len(runs) * own.epochs, CHUNK, changed, advance, "epochs")
    checkpoint = {f"{run.label}.{name}": array for run in runs for name, array in run.weights.items()}
    return Result(build_dataset(runs, records, epochs, snapshots), checkpoint)


def require_finite(job: Job, run: Run, loss: np.ndarray, epoch: int) -> None:
    """Raise OnsetError where a member's loss is not finite."""
    bad = np.flatnonzero(~np.isfinite(loss))
    if len(bad):
        raise OnsetError(
            f"{job.paper}/{job.name}: the loss of run {run.label}, seed {run.own.seeds[bad[0]]} is not "
            f"finite after {epoch} steps ({len(bad)} of {len(loss)} seeds); learning_rate is "
            f"{run.own.learning_rate:g} and {run.stability_bound:.4g} the bound of stability at the minimum: "
            "lower learning_rate or init_std"
        )
