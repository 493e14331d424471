"""One program of Langevin chains: the state of all chains at all P, its gradient and its measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from onset.papers.copyhead.collapsed import integrated_gradient, measure_integrated
from onset.papers.copyhead.gram import count_pairs
from onset.papers.copyhead.minibatch import Minibatches
from onset.papers.copyhead.model import CopyHead, Parameters
from onset.papers.copyhead.order import measure_head
from onset.sampling.sgld import sample_sgld

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import Sampling, VariantSampling


class Sampler:
    """Chains on the posterior of a job's section, over all weights or over the logits' parameters alone.

    `parameters` maps names to tensors (chain, P, ...), whitened, which `run` changes in place.
    """

    def __init__(self, job: Job, members: tuple[int, ...], dtype: torch.dtype = torch.float32) -> None:
        """Chains `members` at their start.  Raises OnsetError where there are too few sequences, or where
        the copy state does not exist."""
        own: Sampling | VariantSampling = job.own
        self.own, self.members = own, members
        self.head = head = CopyHead.of(own.attention, job.sections["task"], job.sections["prior"])
        tokens = job.inputs["sequences"]["tokens"].values
        self.gram = count_pairs(tokens, own.P, head.V, dtype, job.device)
        self.batches = None
        if own.batch is not None:
            self.batches = Minibatches(
                head, job.streams, tokens, members, own.P, own.batch, dtype, job.device
            )
        if own.start == "prior":
            start = head.prior_state(job.streams, members, own.P, dtype)
        else:
            start = head.copy_state(len(members), len(own.P), dtype)
        if own.weights == "integrated":
            del start["W"]
        self.parameters: Parameters = {name: tensor.to(job.device) for name, tensor in start.items()}

    @property
    def first(self) -> Tensor:
        """A parameter, for its leading axes, type and device."""
        return next(iter(self.parameters.values()))

    def gradient(self, parameters: Parameters) -> Parameters:
        """Gradient of the misfit, without the prior, in the shapes of the parameters."""
        if self.batches is not None:
            return self.batches.gradient(parameters)
        if self.own.weights == "integrated":
            return integrated_gradient(self.head, self.gram, parameters)
        return self.head.misfit_gradient(self.gram, parameters)

    def measure(self) -> tuple[Tensor, dict[str, Tensor]]:
        """Attention (chain, P, L, L), and what is recorded of it, each (chain, P)."""
        A = self.head.attend(self.head.logits(self.parameters))
        if self.own.weights == "integrated":
            return A, measure_integrated(self.head, self.gram, A)
        return A, measure_head(self.head.attention, A, self.parameters["W"] * self.head.weight_scale)

    def run(
        self,
        job: Job,
        record: Callable[[int], None],
        record_at: Sequence[int],
        carried: Mapping[str, Tensor],
    ) -> None:
        """All steps of all chains; `record(k)` is called once `record_at[k]` steps are done.

        Raises OnsetError naming chain, P and step where a chain is not finite at a record.
        """
        sample_sgld(
            job,
            self.parameters,
            {"chain": self.members, "P": self.own.P},
            self.gradient,
            step_size=self.own.step_size,
            steps=self.own.steps,
            record=record,
            record_at=record_at,
            carried=carried,
            prepare=None if self.batches is None else self.batches.prepare,
        )
