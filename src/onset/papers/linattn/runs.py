"""One run of a training experiment, made ready: its model, loss, starting weights and stability bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from onset.errors import OnsetError
from onset.papers.linattn.losses import Loss, PopulationLoss, SetLoss
from onset.papers.linattn.models import Full, Reduced, Weights
from onset.papers.linattn.stability import bound_run, describe_moments
from onset.papers.linattn.starts import add_side_blocks, align_start, draw_start
from onset.params.variants import expand_variants

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.linattn import Training


@dataclass
class Run:
    """A run whose members are seeds; `weights` change in place as it trains."""

    label: str
    own: Training
    model: Reduced | Full
    loss: Loss
    weights: Weights
    stability_bound: float
    dimension: int

    @property
    def rank(self) -> int:
        """R of separate key and query, 0 of the other models."""
        return self.weights["K"].shape[2] if "K" in self.weights else 0

    def take(self, members: Sequence[int]) -> Run:
        """The run with some of its members, by their place; not to be trained on: its loss has them all."""
        own = self.own.model_copy(update={"seeds": tuple(self.own.seeds[i] for i in members)})
        weights = {name: array[list(members)] for name, array in self.weights.items()}
        return replace(self, own=own, weights=weights)


def prepare_runs(job: Job) -> list[Run]:
    """The runs of a training section in order, those set to null left out."""
    return [_prepare(job, label, own) for label, own in expand_variants(job.own, "runs").items()]


def _prepare(job: Job, label: str, own: Training) -> Run:
    task = job.sections[own.task]
    next_token = job.sections["next_token"] if own.loss == "next_token" else None
    eigenvalues, second, r1 = describe_moments(own, task, next_token)
    D = len(eigenvalues)
    if own.start == "aligned":
        weights = align_start(job.streams, D, own.heads, own.init_std, own.seeds)
    else:
        weights = draw_start(job.streams, own.model, D, own.heads, own.rank, own.init_std, own.seeds)
    model: Reduced | Full = Reduced()
    if own.free_side_blocks:
        model, weights = Full(D), add_side_blocks(weights)
    loss = _read_loss(job, own) if own.samples else PopulationLoss(eigenvalues, second, r1)
    bound = bound_run(own, task, next_token)
    if own.learning_rate > bound and job.reporter is not None:
        job.reporter.line(
            f"warning: run {label}: learning_rate {own.learning_rate:g} exceeds {bound:.4g}, "
            "the bound of stability at the minimum; the run may oscillate or diverge"
        )
    return Run(label, own, model, loss, weights, bound, D)


def _read_loss(job: Job, own: Training) -> SetLoss:
    name = own.task.replace("_task", "_sets")
    if name not in job.inputs:
        raise OnsetError(
            f"{job.paper}.{job.name}: samples = {own.samples}, but the experiment needs no {name}; "
            "set samples to 0 or add the sets to its `needs` in the catalogue"
        )
    kind = "_next" if own.loss == "next_token" else "" if own.free_side_blocks else "_reduced"
    sets = job.inputs[name].sel(P=own.samples, seed=list(own.seeds))
    S, b, c = (np.ascontiguousarray(sets[f"{letter}{kind}"].values) for letter in "Sbc")
    return SetLoss(S, b, c)
