"""Gradients of the misfit on minibatches, each chain and P with batches of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from onset.papers.copyhead.model import CopyHead, Parameters
from onset.randomness import Streams
from onset.sampling.noise import CHUNK


class Minibatches:
    """Batches of sequences as a function of (stream, chain, P, step), and the gradient on the present one.

    A batch of a run at P is `batch` of its first P sequences, without repeats; the misfit on it is
    multiplied by P/batch, which makes its gradient unbiased.
    """

    def __init__(
        self,
        head: CopyHead,
        streams: Streams,
        tokens: np.ndarray,
        members: Sequence[int],
        P: Sequence[int],
        batch: int,
        dtype: torch.dtype,
        device: str = "cpu",
    ) -> None:
        """`tokens` is (samples, L); there are at least `batch` sequences at the least P."""
        self.head, self.streams, self.members, self.P, self.batch = head, streams, members, P, batch
        one_hot = torch.nn.functional.one_hot(torch.from_numpy(tokens[: max(P)].astype(np.int64)), head.V)
        self.sequences = one_hot.to(device=device, dtype=dtype)
        self.factor = torch.tensor([count / batch for count in P], dtype=dtype, device=device)
        self.chunk = -1
        self.drawn = torch.empty(0)
        self.at = 0

    def prepare(self, step: int) -> None:
        """Make the batches of a step the present ones."""
        if step // CHUNK != self.chunk:
            self.chunk = step // CHUNK
            self.drawn = torch.from_numpy(self._draw(self.chunk)).to(self.sequences.device)
        self.at = step % CHUNK

    def _draw(self, chunk: int) -> np.ndarray:
        """Indices (step, member, P, batch) of the steps of a chunk."""
        drawn = np.empty((CHUNK, len(self.members), len(self.P), self.batch), dtype=np.int64)
        for i, member in enumerate(self.members):
            for j, count in enumerate(self.P):
                keys = self.streams.generator("batch", member, count, chunk).random((CHUNK, count))
                drawn[:, i, j] = keys.argpartition(self.batch - 1, axis=1)[:, : self.batch]
        return drawn

    def gradient(self, parameters: Parameters) -> Parameters:
        """Gradient of the misfit on the present batches, times P/batch, in the shapes of the parameters."""
        head = self.head
        A, W = head.actual(parameters)
        n, k = A.shape[:2]
        # Positions first, then sequences: one product takes all sequences of a batch.
        X = self.sequences[self.drawn[self.at]].transpose(2, 3).contiguous()
        attended = (A @ X.flatten(3)).view(n, k, -1, head.V)
        error = (attended @ W).view_as(X).sub_(X.roll(1, 2)).mul_(2 * self.factor[:, None, None, None])
        flat = error.view_as(attended)
        dW = attended.mT @ flat
        dA = (flat @ W.mT).view(n, k, head.L, -1) @ X.flatten(3).mT
        return head.pull_back(parameters, A, dA, dW)
