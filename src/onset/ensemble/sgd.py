"""Gradient descent with momentum, its momenta open, so as to be saved.

    v <- momentum v + g + decay theta,    theta <- theta - lr v,    v = 0 before the first step

as torch.optim.SGD does it, without dampening or Nesterov.  Every operation is entrywise.
Source: Polyak 1964 (heavy ball), in the form of Sutskever et al. 2013 that PyTorch has.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


class SGD:
    """SGD on tensors with or without leading member axes; momentum 0 is plain gradient descent.

    `state` maps "<parameter>.momentum" to the tensors that `step` changes in place.
    """

    def __init__(
        self, parameters: Mapping[str, Tensor], momentum: float = 0.0, weight_decay: float = 0.0
    ) -> None:
        self.parameters = parameters
        self.momentum, self.weight_decay = momentum, weight_decay
        self.state: dict[str, Tensor] = {
            f"{name}.momentum": torch.zeros_like(parameter, requires_grad=False)
            for name, parameter in parameters.items()
        }

    def step(self, gradient: Mapping[str, Tensor], learning_rate: float) -> None:
        """Move all parameters once, in place; `gradient` has their names and shapes."""
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                velocity = self.state[f"{name}.momentum"].mul_(self.momentum)
                velocity.add_(gradient[name]).add_(parameter, alpha=self.weight_decay)
                parameter.sub_(velocity, alpha=learning_rate)
