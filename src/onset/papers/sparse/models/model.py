"""What the trainer asks of a model: its parameters, its predictions, and the gradient of the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from onset.papers.sparse.models.dropout import Dropout
from onset.papers.sparse.models.shape import Shape

PART = 128
"""Sequences that go through a model at once: as many as the caches hold; part of what dropout noise is."""


class Weight(NamedTuple):
    """A parameter of one member: its size, and how it starts.

    uniform      on [-scale, scale]
    constant     equal to scale
    orthonormal  rows orthonormal, or columns where there are fewer of them, times scale
    """

    size: tuple[int, ...]
    start: Literal["uniform", "constant", "orthonormal"]
    scale: float = 1.0


def xavier(size: tuple[int, ...]) -> Weight:
    """Xavier-uniform: bound sqrt(6 / (rows + columns)) of the last two axes, as torch.nn.init has it."""
    return Weight(size, "uniform", (6 / (size[-2] + size[-1])) ** 0.5)


class Model:
    """A transformer as functions of its parameters, a mapping from names to tensors of one member."""

    def __init__(self, shape: Shape, weights: Mapping[str, Weight]) -> None:
        self.shape = shape
        self.weights = dict(weights)

    def prepare(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """What `predict` reads: functions of the parameters that all sequences share, differentiable."""
        raise NotImplementedError

    def predict(
        self, prepared: Mapping[str, Tensor], tokens: Tensor, dropout: Dropout | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """Logits (B, T, d) and each block's attention (B, H, queries, L), for input tokens (B, L).

        Queries are all positions, in the last block the T predicting ones.
        """
        raise NotImplementedError

    def observe(self, prepared: Mapping[str, Tensor], tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities (B, T, d) and attention (B, layer, head, T, L) of the predicting queries."""
        logits, maps = self.predict(prepared, tokens)
        T = self.shape.queries
        return torch.log_softmax(logits, -1), torch.stack([each[:, :, -T:] for each in maps], 1)

    def differentiate(
        self, parameters: Mapping[str, Tensor], tokens: Tensor, dropout: Dropout | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Mean cross-entropy () of the T predicted tokens, and its gradient, for sequences (B, w+T).

        Sequences go through in parts of `PART`, whose gradients are summed in order.
        """
        T = self.shape.queries
        count = len(tokens) * T
        with torch.enable_grad():
            leaves = {name: tensor.detach().requires_grad_() for name, tensor in parameters.items()}
            prepared = self.prepare(leaves)
            inner = {name: tensor.detach().requires_grad_() for name, tensor in prepared.items()}
            total = tokens.new_zeros((), dtype=next(iter(leaves.values())).dtype)
            sums: list[Tensor] = []
            for part in tokens.split(PART):
                logits, _ = self.predict(inner, part[:, :-1], dropout)
                targets = part[:, -T:].reshape(-1)
                loss = cross_entropy(logits.reshape(-1, self.shape.d), targets, reduction="sum") / count
                found = torch.autograd.grad(loss, list(inner.values()), materialize_grads=True)
                total += loss.detach()
                sums = [s.add_(g) for s, g in zip(sums, found, strict=True)] if sums else list(found)
            # A scalar whose gradient is the chain rule's: with `grad_outputs` torch would load its compiler.
            outer = torch.zeros_like(total)
            for tensor, g in zip(prepared.values(), sums, strict=True):
                outer = outer + torch.dot(tensor.reshape(-1), g.reshape(-1))
            gradient = torch.autograd.grad(outer, list(leaves.values()), materialize_grads=True)
        return total, dict(zip(leaves, gradient, strict=True))
