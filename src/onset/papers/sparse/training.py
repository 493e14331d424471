"""Training of transformers on the chain, run after run, with what their heads do along the way."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

import torch

from onset.errors import OnsetError
from onset.job.context import Result
from onset.job.loop import run_resumable
from onset.papers.sparse.records import build_dataset
from onset.papers.sparse.runs import Run
from onset.params.variants import expand_variants

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.sparse import Training

CHUNK = 5  # steps between two possible saves


def train_runs(job: Job) -> Result:
    """Losses, divergences and head masses along all runs of a section, for the seeds of the block.

    Constant learning rate; batches without replacement from the dataset, or fresh ones.  Evaluated before the
    first step and every `evaluate_every` steps on the first validation sequences of the seed's own chain.
    Dataset: see `onset.papers.sparse.records`; checkpoint: "<run>.<parameter>" (seed, ...), final weights.
    Raises OnsetError naming experiment, run, seed and step where the loss is no longer finite.
    Source: arXiv 2602.19143, section 2.3; hyperparameters: authors' code (facts).
    """
    own: Training = job.own
    seeds = job.members or tuple(range(own.seeds))
    runs = [Run(job, label, each, seeds) for label, each in expand_variants(own, "runs").items()]
    ends = list(accumulate(run.own.steps for run in runs))

    def advance(begin: int, end: int) -> None:
        for index in range(begin, end):
            which = bisect_right(ends, index)
            run = runs[which]
            step = index - ends[which] + run.own.steps
            if step == 0:
                run.record(0)
            run.step(step)
            if (step + 1) % run.own.evaluate_every == 0:
                require_finite(job, run, step + 1)
                run.record(step + 1)

    changing = {name: tensor for run in runs for name, tensor in run.changing().items()}
    with torch.no_grad():
        run_resumable(job, ends[-1], CHUNK, changing, advance)
    checkpoint = {f"{run.label}.{name}": tensor for run in runs for name, tensor in run.parameters.items()}
    return Result(build_dataset(own, runs), {name: tensor.cpu() for name, tensor in checkpoint.items()})


def require_finite(job: Job, run: Run, done: int) -> None:
    """Raise OnsetError where a training loss since the last record was not finite, `done` steps done."""
    failure = run.first_failure(done)
    if failure is not None:
        seed, step = failure
        raise OnsetError(
            f"{job.paper}/{job.name}: the loss of run {run.label}, seed {seed} is not finite at step {step}; "
            f"lower its learning_rate, which is {run.own.learning_rate:g}"
        )
