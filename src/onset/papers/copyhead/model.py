"""One attention head on positions: f(X) = A X W, in whitened parameters.

All parameters are independent standard normal variables a priori:

    logits  omega = sqrt(v) theta, theta in R^{L x L};    weights  W = sqrt(g_OV/V) w, w in R^{V x V}
    linear attention   A = omega/L        softmax attention   A = softmax of each row of omega

Source: our reconstruction (docs/theory) of the model of arXiv 2606.12058, with the logits at their
infinite-d_k limit, where they are Gaussian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from onset.papers.copyhead.gram import Gram, squared_error, squared_error_gradient

if TYPE_CHECKING:
    from onset.params.copyhead import Prior, Task
    from onset.randomness import Streams

Parameters = dict[str, Tensor]


@dataclass(frozen=True)
class CopyHead:
    """The head, its prior and its likelihood; a batch of parameters has axes (member, P, ...).

    Parameters are {"theta": (member, P, L, L), "W": (member, P, V, V)}, both whitened.
    """

    attention: Literal["linear", "softmax"]
    L: int
    V: int
    g_OV: float
    v: float
    sigma2: float

    @classmethod
    def of(cls, attention: Literal["linear", "softmax"], task: Task, prior: Prior) -> CopyHead:
        """The head of an attention kind under the parameters of the paper's shared sections."""
        return cls(attention, task.L, task.V, prior.g_OV, prior.v, prior.sigma2)

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Shape of each parameter of one member, in the order in which random numbers are drawn."""
        return {"theta": (self.L, self.L), "W": (self.V, self.V)}

    @property
    def weight_scale(self) -> float:
        """Prior standard deviation of an entry of W."""
        return math.sqrt(self.g_OV / self.V)

    def attend(self, theta: Tensor) -> Tensor:
        """The attention matrix A (..., L, L), query by key, of whitened logits."""
        if self.attention == "linear":
            return theta * (math.sqrt(self.v) / self.L)
        return torch.softmax(theta * math.sqrt(self.v), -1)

    def actual(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        """A and W in the units of the network, with the axes of the parameters."""
        return self.attend(parameters["theta"]), parameters["W"] * self.weight_scale

    def misfit(self, gram: Gram, parameters: Parameters) -> Tensor:
        """sum |A X W - Y|^2/(2 sigma^2), of shape (member, P), in nats."""
        A, W = self.actual(parameters)
        return squared_error(gram, A.transpose(0, 1), W.transpose(0, 1)).mT / (2 * self.sigma2)

    def misfit_gradient(self, gram: Gram, parameters: Parameters) -> Parameters:
        """Gradient of `misfit` with respect to the whitened parameters, in their shapes."""
        theta = parameters["theta"].transpose(0, 1).contiguous()
        W = parameters["W"].transpose(0, 1) * self.weight_scale
        A = self.attend(theta)
        dA, dW = squared_error_gradient(gram, A, W)
        scale = math.sqrt(self.v) / (2 * self.sigma2)
        if self.attention == "linear":
            d_theta = dA.mul_(scale / self.L)
        else:  # d softmax: A (dA - <A, dA> of the row)
            weighted = dA.mul_(A)
            d_theta = weighted.sub_(A.mul_(weighted.sum(-1, keepdim=True))).mul_(scale)
        dW.mul_(self.weight_scale / (2 * self.sigma2))
        return {"theta": d_theta.transpose(0, 1), "W": dW.transpose(0, 1)}

    def prior_state(
        self, streams: Streams, members: tuple[int, ...], P: tuple[int, ...], dtype: torch.dtype
    ) -> Parameters:
        """A sample of the prior for each member and P, each from the stream ("start", member, P)."""
        draws = torch.empty(len(members), len(P), self.L**2 + self.V**2)
        for i, member in enumerate(members):
            for j, count in enumerate(P):
                generator = streams.generator("start", member, count)
                generator.standard_normal(dtype="float32", out=draws[i, j].numpy())
        theta, W = draws.to(dtype).split((self.L**2, self.V**2), -1)
        return {
            "theta": theta.unflatten(-1, (self.L, self.L)).contiguous(),
            "W": W.unflatten(-1, (self.V, self.V)).contiguous(),
        }

    def copy_state(self, members: int, P: int, dtype: torch.dtype) -> Parameters:
        """The head that copies, in every member: logits 5 on the correct key (softmax) or 0.8 L
        (linear, where A is 0.8 on the correct key), and W = 0.9 I."""
        strength = 5.0 if self.attention == "softmax" else 0.8 * self.L
        theta = torch.eye(self.L, dtype=dtype).roll(1, 0) * (strength / math.sqrt(self.v))  # roll: key a-1
        W = torch.eye(self.V, dtype=dtype) * (0.9 / self.weight_scale)
        return {
            "theta": theta.expand(members, P, -1, -1).clone(),
            "W": W.expand(members, P, -1, -1).clone(),
        }
