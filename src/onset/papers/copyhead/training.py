"""Full-batch Adam on the negative log posterior of the head, at many training-set sizes."""

from __future__ import annotations

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
from onset.papers.copyhead.records import Records, attention_variable, coordinates

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import Training

CHUNK = 50  # epochs between two possible saves


def potential(head: CopyHead, gram: Gram, parameters: Parameters) -> Tensor:
    """U = misfit + |theta|^2/2 over all whitened parameters, of shape (member, P), in nats.

    The negative log posterior up to a constant: the prior is weight decay matched to it.
    """
    prior = sum(tensor.square().sum((-2, -1)) for tensor in parameters.values())
    return head.misfit(gram, parameters) + prior / 2


def potential_gradient(head: CopyHead, gram: Gram, parameters: Parameters) -> Parameters:
    """Gradient of `potential`, in the shapes of the parameters."""
    gradient = head.misfit_gradient(gram, parameters)
    return {name: gradient[name].add_(parameter) for name, parameter in parameters.items()}


def record_epochs(own: Training) -> list[int]:
    """Epochs done at each record; the last is the final epoch."""
    epochs = list(range(own.record_every, own.epochs + 1, own.record_every))
    return epochs if epochs[-1] == own.epochs else [*epochs, own.epochs]


def run_seeds(job: Job, dtype: torch.dtype = torch.float32) -> tuple[CopyHead, Parameters, Records]:
    """The head, and the final parameters and records of the block of seeds `job.members`, at all P."""
    own: Training = job.own
    members = job.members or tuple(range(own.seeds))
    head = CopyHead.of(own.attention, job.sections["task"], job.sections["prior"])
    gram = count_pairs(job.inputs["sequences"]["tokens"].values, own.P, head.V, dtype, job.device)
    start = head.prior_state(job.streams, members, own.P, dtype)
    parameters = {name: tensor.to(job.device) for name, tensor in start.items()}
    epochs = record_epochs(own)
    records = Records(own.attention, len(epochs), parameters["theta"], extra=("loss",))
    adam = Adam(parameters)

    def step(i: int) -> None:
        rate = cosine(own.learning_rate, i, own.epochs)
        adam.step(potential_gradient(head, gram, parameters), rate)

    def record(k: int) -> None:
        A, W = head.actual(parameters)
        records.write(k, A, W, loss=potential(head, gram, parameters) / gram.counts)

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
                ("seed", "P"), head.attend(parameters["theta"]), "final attention"
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
