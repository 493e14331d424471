"""Adam on all members of an ensemble at once, with explicit gradients.

    m <- b1 m + (1-b1) g,  s <- b2 s + (1-b2) g^2,  theta <- theta - lr mhat/(sqrt(shat) + 1e-8)

with mhat, shat corrected for their start at 0.  Every operation is entrywise, so the members do not
see each other and a batch equals its members trained alone.
Source: Kingma and Ba, arXiv 1412.6980, Algorithm 1, as torch.optim.Adam does it.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


class Adam:
    """torch.optim.Adam on tensors with leading member axes; its moments are open, so as to be saved.

    `state` maps "<parameter>.<moment>" to the tensors that `step` changes in place.
    """

    def __init__(self, parameters: Mapping[str, Tensor], betas: tuple[float, float] = (0.9, 0.999)) -> None:
        self.parameters = parameters
        self.optimiser = torch.optim.Adam(list(parameters.values()), betas=betas, foreach=False)
        moments = {
            i: {"step": torch.tensor(0.0), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
            for i, p in enumerate(parameters.values())
        }
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": moments})
        self.state: dict[str, Tensor] = {
            f"{name}.{moment}": tensor
            for name, parameter in parameters.items()
            for moment, tensor in self.optimiser.state[parameter].items()
        }

    def step(self, gradient: Mapping[str, Tensor], learning_rate: float) -> None:
        """Move all parameters once, in place; `gradient` has their names and shapes."""
        for name, parameter in self.parameters.items():
            parameter.grad = gradient[name]
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate
        self.optimiser.step()
