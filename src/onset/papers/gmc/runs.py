"""One training run: a model with its optimiser, and its records as it trains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from onset.ensemble.adamw import AdamW
from onset.ensemble.warmup import warm_up_then_cosine
from onset.papers.gmc.evaluation import TestSequences, evaluate
from onset.papers.gmc.models.registry import Builder
from onset.papers.gmc.models.shape import Shape
from onset.papers.gmc.models.start import draw_start
from onset.papers.gmc.task import GMC, draw_batch, open_streams

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.papers.gmc.models.transformer import Transformer
    from onset.params.gmc import Backbone, Optimiser, Training

SCORES = ("PTH", "IH_MC", "IH_Repeat", "IH_Repeat_control")


class Data(NamedTuple):
    """Where a run's sequences come from: the task, W_V (d_out, d_in) and the fixed test sequences."""

    task: GMC
    value_map: np.ndarray
    test: TestSequences


class Run:
    """A run of one seed; weights, moments and records change in place as it trains.

    records   test_loss, train_loss (record,), the four scores (record, layer, head), float64, NaN until
              written; attention (map, layer, head, 2K, 2K) of the first repeated sequence, float32
    losses    training losses since the last record (evaluate_every,), on the device of the run
    """

    def __init__(self, job: Job, builder: Builder, data: Data, seed: int) -> None:
        self.own: Training = job.own
        self.optimiser_section: Optimiser = job.sections["optimiser"]
        self.data, self.seed, self.device = data, seed, job.device
        self.streams = open_streams(job.streams)
        self.model = self._start(builder, job.sections["backbone"])
        self.parameters = dict(self.model.named_parameters())
        section = self.optimiser_section
        self.optimiser = AdamW(
            self.parameters, (section.beta1, section.beta2), section.epsilon, section.weight_decay
        )
        self.losses = torch.full((self.own.evaluate_every,), torch.nan, device=self.device)
        records = self.own.steps // self.own.evaluate_every + 1
        heads = (self.own.layers, self.model.shape.heads)
        length = data.test.repeated.shape[1]
        self.records = {
            **{name: _blank(records) for name in ("test_loss", "train_loss")},
            **{name: _blank(records, *heads) for name in SCORES},
            "attention": _blank(len(self.own.map_steps), *heads, length, length).float(),
        }

    def _start(self, builder: Builder, backbone: Backbone) -> Transformer:
        test = self.data.test
        d_out, d_in = self.data.value_map.shape
        shape = Shape(
            d_in=d_in,
            d_out=d_out,
            length=max(test.curve.tokens.shape[1], test.repeated.shape[1]),
            layers=self.own.layers,
            width=backbone.width,
            heads=backbone.heads,
            ffn=backbone.ffn,
            rope_theta=backbone.rope_theta,
        )
        model = builder(shape)
        draw_start(model, self.streams, self.seed, backbone.init_std, backbone.projections)
        return model.to(self.device)

    def step(self, i: int) -> None:
        """Step i (0-based): AdamW on a batch that depends on seed and i alone."""
        section = self.optimiser_section
        batch = draw_batch(self.streams, self.data.task, self.data.value_map, self.seed, i, section.batch)
        tokens, targets = (torch.from_numpy(part).to(self.device) for part in (batch.tokens, batch.targets))
        with torch.enable_grad():
            loss = (self.model(tokens) - targets).square().mean()
            gradient = torch.autograd.grad(loss, list(self.parameters.values()), materialize_grads=True)
        if section.clip is not None:
            shrink = (section.clip / torch.nn.utils.get_total_norm(gradient)).clamp(max=1)
            gradient = tuple(part * shrink for part in gradient)
        rate = warm_up_then_cosine(
            section.learning_rate,
            i,
            self.own.warmup,
            self.own.steps,
            section.final_rate * section.learning_rate,
        )
        self.optimiser.step(dict(zip(self.parameters, gradient, strict=True)), rate)
        self.losses[i % self.own.evaluate_every] = loss.detach()

    def first_failure(self, done: int) -> int | None:
        """The step since the last record whose training loss was not finite, if any, `done` steps done."""
        failed = (~torch.isfinite(self.losses)).nonzero()
        return done - len(self.losses) + int(failed[0]) if len(failed) else None

    def record(self, done: int) -> None:
        """Evaluate after `done` steps, a multiple of evaluate_every."""
        k = done // self.own.evaluate_every
        for name, values in evaluate(self.model, self.data.test).items():
            self.records[name][k] = torch.as_tensor(values)
        if done:
            self.records["train_loss"][k] = self.losses.double().mean()
        if done in self.own.map_steps:
            with torch.no_grad():
                maps = self.model.observe(self.data.test.repeated[:1])[1][0]
            self.records["attention"][self.own.map_steps.index(done)] = maps

    def changing(self) -> Mapping[str, Tensor]:
        """Everything that a step or a record changes, by name."""
        parts: dict[str, Mapping[str, Tensor]] = {
            "weights": self.parameters,
            "optimiser": self.optimiser.state,
            "records": self.records,
            "recent": {"losses": self.losses},
        }
        return {
            f"{self.seed}.{part}.{name}": tensor
            for part, tensors in parts.items()
            for name, tensor in tensors.items()
            if tensor.numel()
        }


def _blank(*size: int) -> Tensor:
    return torch.full(size, torch.nan, dtype=torch.float64)
