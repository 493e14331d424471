"""Online training of transformers on Gaussian Match-and-Copy, with head scores along the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
import xarray as xr

from onset.errors import OnsetError
from onset.job.context import Result
from onset.job.loop import run_resumable
from onset.papers.gmc.evaluation import read_test, score_matching
from onset.papers.gmc.models.registry import TRANSFORMERS, Builder
from onset.papers.gmc.runs import SCORES, Data, Run
from onset.papers.gmc.task import read_task

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.gmc import Training

CHUNK = 5  # steps between two possible saves

TEXTS = {
    "test_loss": "test loss",
    "train_loss": "training loss",
    "PTH": "previous-token score",
    "IH_MC": "induction score, match and copy",
    "IH_Repeat": "induction score, repeated sequence",
    "IH_Repeat_control": "induction score, control that does not repeat",
    "attention": "attention on a repeated sequence",
    "final_loss": "final test loss",
    "final_PTH": "final previous-token score",
    "final_IH_MC": "final induction score, match and copy",
    "seed": "seed",
    "step": "steps done",
    "layer": "layer",
    "head": "head",
    "map_step": "steps done at the map",
    "query": "query position",
    "key": "key position",
}


def train_backbone(job: Job) -> Result:
    """Losses and head scores of one transformer for each seed of the block.

    AdamW on a fresh batch a step, the learning rate rising linearly, then falling along a cosine.  Evaluated
    before the first step and every `evaluate_every` steps: test_loss and train_loss (seed, step), the latter
    a mean over the batches since the evaluation before, each before its update, NaN at step 0; PTH, IH_MC,
    IH_Repeat and IH_Repeat_control (seed, step, layer, head); attention (seed, map_step, layer, head, query,
    key) of the first repeated sequence; final_loss (seed), final_PTH and final_IH_MC (seed, layer, head) on
    all test sequences.  Checkpoint: final weights (seed, ...), float32.
    Raises OnsetError naming experiment, seed and step where the loss is no longer finite.
    Source: arXiv 2602.07562, Table 1; `onset.params.gmc` says what is our choice.
    """
    return train(job, TRANSFORMERS)


def train(job: Job, builders: Mapping[str, Builder]) -> Result:
    """`train_backbone` with the given architectures."""
    own: Training = job.own
    members = job.members or tuple(range(own.seeds))
    test = job.inputs["test"]
    data = Data(read_task(job.sections["task"]), test["value_map"].values, read_test(test, job.device))
    runs = [Run(job, builders[own.architecture], data, seed) for seed in members]

    def advance(begin: int, end: int) -> None:
        for index in range(begin, end):
            which, step = divmod(index, own.steps)
            run = runs[which]
            if step == 0:
                run.record(0)
            run.step(step)
            if (step + 1) % own.evaluate_every == 0:
                require_finite(job, run, step + 1)
                run.record(step + 1)

    changing = {name: tensor for run in runs for name, tensor in run.changing().items()}
    with torch.no_grad():
        run_resumable(job, len(runs) * own.steps, CHUNK, changing, advance)
    names = list(runs[0].parameters)
    checkpoint = {name: torch.stack([run.parameters[name].detach() for run in runs]) for name in names}
    return Result(build_dataset(own, runs), checkpoint)


def require_finite(job: Job, run: Run, done: int) -> None:
    """Raise OnsetError where a training loss since the last record was not finite, `done` steps done."""
    step = run.first_failure(done)
    if step is not None:
        raise OnsetError(
            f"{job.paper}/{job.name}: the loss of seed {run.seed} is not finite at step {step}; lower "
            f"{job.paper}.optimiser.learning_rate, which is {run.optimiser_section.learning_rate:g}"
        )


def build_dataset(own: Training, runs: Sequence[Run]) -> xr.Dataset:
    """The Dataset of finished runs, float32; see `train_backbone`."""
    heads = ("layer", "head")
    axes: dict[str, tuple[str, ...]] = {
        **dict.fromkeys(("test_loss", "train_loss"), ("step",)),
        **dict.fromkeys(SCORES, ("step", *heads)),
        **({"attention": ("map_step", *heads, "query", "key")} if own.map_steps else {}),
    }
    finals = [score_matching(run.model, run.data.test.all) for run in runs]
    values = {name: [run.records[name].numpy() for run in runs] for name in axes}
    for name, dims in (("loss", ()), ("PTH", heads), ("IH_MC", heads)):
        axes[f"final_{name}"] = dims
        values[f"final_{name}"] = [final[name] for final in finals]
    variables = {
        name: (
            ("seed", *dims),
            np.stack(values[name]).astype(np.float32),
            {"long_name": TEXTS[name], "units": "1"},
        )
        for name, dims in axes.items()
    }
    sizes = {"layer": own.layers, "head": runs[0].model.shape.heads}
    length = runs[0].records["attention"].shape[-1]
    coordinates: dict[str, Sequence[int]] = {
        "seed": [run.seed for run in runs],
        "step": range(0, own.steps + 1, own.evaluate_every),
        **{name: range(size) for name, size in sizes.items()},
    }
    if own.map_steps:
        coordinates |= {"map_step": own.map_steps, "query": range(length), "key": range(length)}
    return xr.Dataset(
        variables,
        coords={
            name: (name, np.asarray(labels), {"long_name": TEXTS[name], "units": "1"})
            for name, labels in coordinates.items()
        },
    )
