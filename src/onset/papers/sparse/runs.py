"""One training run for the seeds of a block, with its records as it trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from onset.ensemble.adamw import AdamW
from onset.ensemble.sgd import SGD
from onset.papers.sparse.evaluation import align_values, evaluate, measure_head_difference
from onset.papers.sparse.models.dropout import Dropout
from onset.papers.sparse.models.model import Model
from onset.papers.sparse.models.registry import build_model
from onset.papers.sparse.models.start import draw_start
from onset.papers.sparse.source import Source

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.sparse import Chain, Optimiser, Training

TINY = 1e-6  # added to the norm before clipping, as torch's clip_grad_norm_ does


class Run:
    """A run; weights, moments and records change in place as it trains.

    parameters  name -> (seed, ...); members are computed one after the other, for on a core a batch of them
                is no faster
    records     (seed, record, ...) by name, float64, NaN until written; see `records_of`
    losses      training losses since the last record (seed, evaluate_every), on the device of the run
    """

    def __init__(self, job: Job, label: str, own: Training, seeds: Sequence[int]) -> None:
        self.label, self.own, self.seeds, self.streams = label, own, list(seeds), job.streams
        self.section: Chain = job.sections[own.chain]
        self.source = Source(job, own, seeds)
        self.model: Model = build_model(own, job.sections["full_model"], self.source.chain)
        self.dropout_rate = job.sections["full_model"].dropout if own.model == "full" else 0.0
        self.dtype = torch.float64 if own.dtype == "float64" else torch.float32
        start = draw_start(job.streams, self.model.weights, seeds)
        self.parameters = {n: torch.from_numpy(w).to(job.device, self.dtype) for n, w in start.items()}
        self.gradient = {name: torch.zeros_like(tensor) for name, tensor in self.parameters.items()}
        self.pieces = self._split(self.gradient)
        self.optimiser_section: Optimiser = job.sections["optimiser"]
        self.optimiser = self._choose_optimiser()
        self.evaluations = [self.source.prepare_evaluation(m, self.dtype) for m in range(len(seeds))]
        self.losses = torch.full(
            (len(seeds), own.evaluate_every), torch.nan, dtype=self.dtype, device=job.device
        )
        self.records = {name: _blank(len(seeds), *size) for name, size in self.records_of().items()}

    @property
    def per_head(self) -> bool:
        """Whether all weights belong to a head."""
        return self.own.model == "minimal"

    @property
    def aligned(self) -> bool:
        """Whether a head's values map tokens to logits, as A_k do."""
        return self.per_head and self.own.layers == 1

    def records_of(self) -> dict[str, tuple[int, ...]]:
        """Names and sizes of the records, without the seeds."""
        own, shape, h = self.own, self.model.shape, self.source.chain.h
        evaluated = own.steps // own.evaluate_every + 1
        found: dict[str, tuple[int, ...]] = {
            "loss": (evaluated,),
            "train_loss": (evaluated,),
            "KL": (evaluated, h),
            "mass": (evaluated, shape.layers, shape.heads, h),
            "attention": (len(own.map_steps), shape.layers, shape.heads, shape.queries, shape.length),
        }
        if self.source.contexts:
            found["KL_learned"] = (evaluated, len(self.source.contexts))
        if self.per_head:
            found["head_difference"] = (evaluated,)
        if self.aligned:
            found["value_alignment"] = (evaluated, shape.heads, h)
        return found

    def _choose_optimiser(self) -> AdamW | SGD:
        own, section, parameters = self.own, self.optimiser_section, self._split(self.parameters)
        if own.optimiser == "sgd":
            return SGD(parameters, section.momentum, own.weight_decay)
        betas = (section.beta1, section.beta2)
        return AdamW(parameters, betas, section.epsilon, own.weight_decay)

    def _split(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Views of tensors (seed, ...), one for each seed, and for each head where all weights belong to one.

        torch's fused AdamW rounds the last few numbers of a tensor otherwise than the rest, so that a member
        or head should not share one with others.
        """
        pieces = {f"{name}.{m}": each for name, tensor in tensors.items() for m, each in enumerate(tensor)}
        if not self.per_head:
            return pieces
        return {f"{name}.{h}": head for name, piece in pieces.items() for h, head in enumerate(piece)}

    def member(self, index: int) -> dict[str, Tensor]:
        """Parameters of one seed of the block."""
        return {name: tensor[index] for name, tensor in self.parameters.items()}

    def step(self, i: int) -> None:
        """Step i (0-based) of all seeds, each on a batch that depends on its seed and i alone."""
        clip = self.optimiser_section.clip
        for index, seed in enumerate(self.seeds):
            dropout = None
            if self.dropout_rate:
                dropout = Dropout(self.dropout_rate, self.streams.generator("dropout", seed, i))
            batch = self.source.draw(index, i)
            loss, gradient = self.model.differentiate(self.member(index), batch, dropout)
            self.losses[index, i % self.own.evaluate_every] = loss
            shrink = 1.0 if clip is None else measure_shrinkage(list(gradient.values()), clip)
            for name, part in gradient.items():
                torch.mul(part, shrink, out=self.gradient[name][index])
        self.optimiser.step(self.pieces, self.own.learning_rate)

    def first_failure(self, done: int) -> tuple[int, int] | None:
        """Seed and step of the first loss since the last record that is not finite, `done` steps done."""
        failed = (~torch.isfinite(self.losses)).T.nonzero()
        if not len(failed):
            return None
        step, index = failed[0].tolist()
        return self.seeds[index], done - self.own.evaluate_every + step

    def record(self, done: int) -> None:
        """Evaluate all seeds after `done` steps, a multiple of evaluate_every."""
        own, k = self.own, done // self.own.evaluate_every
        groups = self.source.chain.h
        for index, data in enumerate(self.evaluations):
            parameters = self.member(index)
            found = evaluate(self.model, parameters, data)
            divergences, attention = found.pop("KL"), found.pop("attention")
            found["KL"] = divergences[:groups]
            if self.source.contexts:
                found["KL_learned"] = divergences[groups:]
            if self.aligned:
                V = parameters["blocks.0.V"].double().cpu().numpy()
                found["value_alignment"] = align_values(V, data)
            if self.per_head:
                found["head_difference"] = np.asarray(measure_head_difference(parameters))
            for name, values in found.items():
                self.records[name][index, k] = torch.as_tensor(values)
            if done in own.map_steps:
                self.records["attention"][index, own.map_steps.index(done)] = torch.as_tensor(attention)
        if done:
            self.records["train_loss"][:, k] = self.losses.double().mean(1).cpu()

    def changing(self) -> dict[str, Tensor]:
        """Everything that a step or a record changes, by name."""
        parts: dict[str, Mapping[str, Tensor]] = {
            "weights": self.parameters,
            "optimiser": self.optimiser.state,
            "records": self.records,
            "recent": {"losses": self.losses},
        }
        return {
            f"{self.label}.{part}.{name}": tensor
            for part, tensors in parts.items()
            for name, tensor in tensors.items()
            if tensor.numel()
        }


def measure_shrinkage(gradient: Sequence[Tensor], clip: float) -> Tensor:
    """Factor () that brings the norm of a whole gradient down to `clip`, 1 where it is smaller.

    That of torch.nn.utils.clip_grad_norm_.
    """
    norm = torch.stack([torch.linalg.vector_norm(part) for part in gradient]).square().sum().sqrt()
    return (clip / (norm + TINY)).clamp(max=1)


def _blank(*size: int) -> Tensor:
    return torch.full(size, torch.nan, dtype=torch.float64)
