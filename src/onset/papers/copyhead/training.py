"""Full-batch Adam on the negative log posterior of the head, at many training-set sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
import xarray as xr
from torch import Tensor

from onset.ensemble.adam import Adam
from onset.ensemble.schedules import cosine
from onset.job.context import Result
from onset.job.recorded import run_recorded
from onset.papers.copyhead.gram import Gram, count_pairs
from onset.papers.copyhead.model import CopyHead, Parameters
from onset.papers.copyhead.order import measure_head
from onset.papers.copyhead.records import Records, attention_variable, coordinates

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import Training, VariantTraining

CHUNK = 50  # epochs between two possible saves


@dataclass(frozen=True)
class Decay:
    """Weight decay as a potential: |W|^2/2 + weight |parameters of the logits - centre|^2/2.

    Centre 0 and weight 1 make it the prior, and the potential the negative log posterior.
    """

    weight: float = 1.0
    centre: Mapping[str, Tensor] = field(default_factory=dict)

    def pull(self, name: str, parameter: Tensor) -> Tensor:
        """Gradient of the decay with respect to one parameter, in its shape."""
        if name == "W":
            return parameter
        return self.weight * (parameter - self.centre[name] if self.centre else parameter)

    def energy(self, parameters: Parameters) -> Tensor:
        """The decay of all parameters, of shape (member, P), in nats."""
        total = parameters["W"].square().sum((-2, -1)) / 2
        for name, parameter in parameters.items():
            if name != "W":
                away = parameter - self.centre[name] if self.centre else parameter
                total = total + self.weight / 2 * away.square().sum((-2, -1))
        return total


PRIOR = Decay()
"""The decay that matches the prior."""


def potential(head: CopyHead, gram: Gram, parameters: Parameters, decay: Decay = PRIOR) -> Tensor:
    """U = misfit + decay over all whitened parameters, of shape (member, P), in nats.

    With the decay that matches the prior, the negative log posterior up to a constant.
    """
    return head.misfit(gram, parameters) + decay.energy(parameters)


def potential_gradient(
    head: CopyHead, gram: Gram, parameters: Parameters, decay: Decay = PRIOR
) -> Parameters:
    """Gradient of `potential`, in the shapes of the parameters."""
    gradient = head.misfit_gradient(gram, parameters)
    return {name: gradient[name].add_(decay.pull(name, p)) for name, p in parameters.items()}


def record_epochs(own: Training | VariantTraining) -> list[int]:
    """Epochs done at each record; the last is the final epoch."""
    epochs = list(range(own.record_every, own.epochs + 1, own.record_every))
    return epochs if epochs[-1] == own.epochs else [*epochs, own.epochs]


def run_seeds(
    job: Job, dtype: torch.dtype = torch.float32, anchored: bool = False, weight: float = 1.0
) -> tuple[CopyHead, Parameters, Records]:
    """The head, and the final parameters and records of the block of seeds `job.members`, at all P.

    `anchored` decays the parameters of the logits towards their initial state instead of 0, `weight` times.
    """
    own: Training | VariantTraining = job.own
    members = job.members or tuple(range(own.seeds))
    head = CopyHead.of(own.attention, job.sections["task"], job.sections["prior"])
    gram = count_pairs(job.inputs["sequences"]["tokens"].values, own.P, head.V, dtype, job.device)
    start = head.prior_state(job.streams, members, own.P, dtype)
    parameters = {name: tensor.to(job.device) for name, tensor in start.items()}
    centre = {name: p.clone() for name, p in parameters.items() if name != "W"} if anchored else {}
    decay = Decay(weight, centre)
    epochs = record_epochs(own)
    records = Records(own.attention, len(epochs), parameters["W"], extra=("loss",))
    adam = Adam(parameters)

    def step(i: int) -> None:
        rate = cosine(own.learning_rate, i, own.epochs)
        adam.step(potential_gradient(head, gram, parameters, decay), rate)

    def record(k: int) -> None:
        loss = potential(head, gram, parameters, decay) / gram.counts
        records.write(k, {**measure_head(own.attention, *head.actual(parameters)), "loss": loss})

    run_recorded(
        job,
        parameters,
        {"seed": members, "P": own.P},
        step=step,
        record=record,
        record_at=epochs,
        total=own.epochs,
        chunk=CHUNK,
        carried={**adam.state, **records.tensors},
        unit="epochs",
        advice="the learning rate is too large for the data, lower learning_rate",
    )
    return head, parameters, records


def train_adam(job: Job) -> Result:
    """Order parameters and losses along full-batch Adam, for a block of seeds from the prior.

    Seeds of all P run in one program: betas (0.9, 0.999), the learning rate falling to 0 along a
    cosine, whitened parameters.  Returns c1 and cG with their raw signs (linear) or a1 and aG (softmax),
    s2, test_loss and loss = U/P (seed, P, epoch); attention (seed, P, query, key) at the end; and the
    final whitened parameters.  Raises OnsetError naming seed, P and epoch where a run diverges.
    Source: Adam as in Figures 3 to 7 of arXiv 2606.12058; rate and length are our reconstruction.
    """
    own: Training = job.own
    head, parameters, records = run_seeds(job)
    positions = range(head.L)
    dataset = xr.Dataset(
        {
            **records.variables("seed", "epoch", {"loss": "negative log posterior per sequence"}),
            "attention": attention_variable(
                ("seed", "P"), head.attend(head.logits(parameters)), "final attention"
            ),
        },
        coords=coordinates(
            seed=(job.members or range(own.seeds), "seed"),
            P=(own.P, "training sequences"),
            epoch=(record_epochs(own), "epochs done"),
            query=(positions, "query position"),
            key=(positions, "key position"),
        ),
    )
    return Result(dataset, {name: tensor.cpu() for name, tensor in parameters.items()})
