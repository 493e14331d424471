"""Where the sequences of a run come from: matrices, training and validation sequences of each seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from onset.errors import OnsetError
from onset.papers.sparse.chain import Chain, Floats, choose_batch, draw_batch, read_chain
from onset.papers.sparse.evaluation import Evaluation, prepare_evaluation

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job
    from onset.params.sparse import Training


class Source:
    """Sequences of one run for the seeds of a block.

    chain, matrices (seed, h, d, d), training (seed, N, w+T) or None where batches are fresh,
    contexts: those of the learned references, in order.
    """

    def __init__(self, job: Job, own: Training, seeds: Sequence[int]) -> None:
        self.own, self.seeds, self.streams, self.device = own, seeds, job.streams, job.device
        found = job.inputs["sequences"].sel(chain=own.chain, seed=list(seeds))
        self.chain: Chain = read_chain(job.sections[own.chain])
        self.matrices = found["matrices"].values
        self.training = self._read(found["tokens"], own.samples) if own.samples else None
        self.validation = self._read(found["validation"], own.evaluation_samples)
        self.references = job.inputs.get("references")
        self.contexts = [] if self.references is None else list_contexts(self.references)

    @staticmethod
    def _read(tokens: xr.DataArray, samples: int) -> np.ndarray:
        return tokens.values[:, :samples].astype(np.int64)

    def draw(self, member: int, step: int) -> Tensor:
        """The batch (B, w+T) of step `step` (0-based) of the block's `member`-th seed.

        A function of (experiment, seed, step) and the run's batch and samples: runs of equal seed see equal
        batches, and a resumed run sees the same ones.
        """
        own, seed = self.own, self.seeds[member]
        if self.training is None:
            batch = draw_batch(self.streams, self.chain, self.matrices[member], seed, step, own.batch)
        else:
            sequences = self.training[member]
            batch = sequences[choose_batch(self.streams, len(sequences), seed, step, own.batch)]
        return torch.from_numpy(batch).to(self.device)

    def prepare_evaluation(self, member: int, dtype: torch.dtype) -> Evaluation:
        """What the `member`-th seed is evaluated on."""
        tokens = self.validation[member]
        return prepare_evaluation(
            self.chain, self.matrices[member], tokens, self._read_learned(member), dtype, self.device
        )

    def _read_learned(self, member: int) -> Floats:
        """Log-probabilities (context, n, T, d) of the learned references of a seed."""
        n, chain = len(self.validation[member]), self.chain
        if self.references is None:
            return np.empty((0, n, chain.T, chain.d))
        found = self.references["log_probability"].sel(seed=self.seeds[member])
        if found.sizes["validation_sample"] < n:
            raise OnsetError(
                f"references hold predictions on {found.sizes['validation_sample']} validation sequences; "
                f"evaluation_samples = {n} asks for more"
            )
        kept = found.isel(validation_sample=slice(n)).transpose("run", "validation_sample", "query", "token")
        return kept.values.astype(np.float64)


def list_contexts(references: xr.Dataset) -> list[int]:
    """The context length of each reference, in the order of its runs."""
    return [int(c) for c in references["context_of"].values]
