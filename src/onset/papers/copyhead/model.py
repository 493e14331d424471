"""One attention head on positions: f(X) = A X W, in whitened parameters.

All parameters are independent standard normal variables a priori:

    logits  omega = sqrt(v) theta;   weights  W = sqrt(g_OV/V) w, w in R^{V x V}
    theta = Q K^T/sqrt(d_k), Q and K in R^{L x d_k};   for infinite d_k theta itself, in R^{L x L}
    linear attention   A = omega/L        softmax attention   A = softmax of each row of omega

Source: our reconstruction (docs/theory/copyhead.md section 1) of the model of arXiv 2606.12058.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from onset.errors import OnsetError
from onset.papers.copyhead.gram import Gram, squared_error, squared_error_gradient

if TYPE_CHECKING:
    from onset.params.copyhead import Prior, Task
    from onset.randomness import Streams

Parameters = dict[str, Tensor]


@dataclass(frozen=True)
class CopyHead:
    """The head, its prior and its likelihood; a batch of parameters has axes (member, P, ...).

    Parameters are {"theta": (member, P, L, L), "W": (member, P, V, V)}, all whitened; with a width d_k
    they are {"Q": (member, P, L, d_k), "K": the same, "W": ...}.
    """

    attention: Literal["linear", "softmax"]
    L: int
    V: int
    g_OV: float
    v: float
    sigma2: float
    d_k: int | None = None

    @classmethod
    def of(cls, attention: Literal["linear", "softmax"], task: Task, prior: Prior) -> CopyHead:
        """The head of an attention kind under the parameters of the paper's shared sections."""
        return cls(attention, task.L, task.V, prior.g_OV, prior.v, prior.sigma2, prior.d_k)

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Shape of each parameter of one member, in the order in which random numbers are drawn."""
        if self.d_k is None:
            return {"theta": (self.L, self.L), "W": (self.V, self.V)}
        return {"Q": (self.L, self.d_k), "K": (self.L, self.d_k), "W": (self.V, self.V)}

    @property
    def weight_scale(self) -> float:
        """Prior standard deviation of an entry of W."""
        return math.sqrt(self.g_OV / self.V)

    def logits(self, parameters: Parameters) -> Tensor:
        """Whitened logits theta (..., L, L): the parameters themselves, or Q K^T/sqrt(d_k)."""
        if self.d_k is None:
            return parameters["theta"]
        return (parameters["Q"] @ parameters["K"].mT).mul_(1 / math.sqrt(self.d_k))

    def attend(self, theta: Tensor) -> Tensor:
        """The attention matrix A (..., L, L), query by key, of whitened logits."""
        if self.attention == "linear":
            return theta * (math.sqrt(self.v) / self.L)
        return torch.softmax(theta * math.sqrt(self.v), -1)

    def actual(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        """A and W in the units of the network, with the axes of the parameters."""
        return self.attend(self.logits(parameters)), parameters["W"] * self.weight_scale

    def misfit(self, gram: Gram, parameters: Parameters) -> Tensor:
        """sum |A X W - Y|^2/(2 sigma^2), of shape (member, P), in nats."""
        A, W = self.actual(parameters)
        return squared_error(gram, A.transpose(0, 1), W.transpose(0, 1)).mT / (2 * self.sigma2)

    def misfit_gradient(self, gram: Gram, parameters: Parameters) -> Parameters:
        """Gradient of `misfit` with respect to the whitened parameters, in their shapes."""
        theta = self.logits(parameters).transpose(0, 1).contiguous()
        W = parameters["W"].transpose(0, 1) * self.weight_scale
        A = self.attend(theta)
        dA, dW = squared_error_gradient(gram, A, W)
        return self.pull_back(parameters, A.transpose(0, 1), dA.transpose(0, 1), dW.transpose(0, 1))

    def pull_back(self, parameters: Parameters, A: Tensor, dA: Tensor, dW: Tensor | None) -> Parameters:
        """Gradient of the misfit in the shapes of the parameters, from that of the squared error.

        A, dA (member, P, L, L) and dW (member, P, V, V) are in actual units, and are overwritten.
        Without dW the gradient is of the logits' parameters alone.
        """
        scale = math.sqrt(self.v) / (2 * self.sigma2)
        if self.attention == "linear":
            d_theta = dA.mul_(scale / self.L)
        else:  # d softmax: A (dA - <A, dA> of the row)
            weighted = dA.mul_(A)
            d_theta = weighted.sub_(A.mul_(weighted.sum(-1, keepdim=True))).mul_(scale)
        if self.d_k is None:
            gradient = {"theta": d_theta}
        else:
            d_theta = d_theta.mul(1 / math.sqrt(self.d_k))
            gradient = {"Q": d_theta @ parameters["K"], "K": d_theta.mT @ parameters["Q"]}
        if dW is not None:
            gradient["W"] = dW.mul_(self.weight_scale / (2 * self.sigma2))
        return gradient

    def prior_state(
        self, streams: Streams, members: tuple[int, ...], P: tuple[int, ...], dtype: torch.dtype
    ) -> Parameters:
        """A sample of the prior for each member and P, each from the stream ("start", member, P)."""
        sizes = [math.prod(shape) for shape in self.shapes.values()]
        draws = torch.empty(len(members), len(P), sum(sizes))
        for i, member in enumerate(members):
            for j, count in enumerate(P):
                generator = streams.generator("start", member, count)
                generator.standard_normal(dtype="float32", out=draws[i, j].numpy())
        parts = draws.to(dtype).split(sizes, -1)
        return {
            name: part.unflatten(-1, shape).contiguous()
            for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }

    def copy_state(self, members: int, P: int, dtype: torch.dtype) -> Parameters:
        """The head that copies, in every member: logits 5 on the correct key (softmax) or 0.8 L
        (linear, where A is 0.8 on the correct key), and W = 0.9 I.

        Raises OnsetError where d_k is below L: the logits then cannot have rank L.
        """
        strength = (5.0 if self.attention == "softmax" else 0.8 * self.L) / math.sqrt(self.v)
        copying = torch.eye(self.L, dtype=dtype).roll(1, 0)  # roll: key a-1
        state = {"W": torch.eye(self.V, dtype=dtype) * (0.9 / self.weight_scale)}
        if self.d_k is None:
            state["theta"] = copying * strength
        elif self.d_k < self.L:
            raise OnsetError(f"the copy state needs d_k of at least L = {self.L}, it is {self.d_k}")
        else:  # one dimension of queries and keys for each key: Q K^T = strength sqrt(d_k) G
            entry = math.sqrt(strength * math.sqrt(self.d_k))
            padded = torch.zeros(2, self.L, self.d_k, dtype=dtype)
            padded[0, :, : self.L] = copying * entry
            padded[1, :, : self.L] = torch.eye(self.L, dtype=dtype) * entry
            state["Q"], state["K"] = padded
        return {name: state[name].expand(members, P, -1, -1).clone() for name in self.shapes}
