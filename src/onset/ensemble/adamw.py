"""AdamW in one pass over all parameters, its moments open, so as to be saved.

    theta <- (1 - lr decay) theta,  m <- b1 m + (1-b1) g,  s <- b2 s + (1-b2) g^2,
    theta <- theta - lr mhat/(sqrt(shat) + epsilon)

with mhat, shat corrected for their start at 0.
Source: Loshchilov and Hutter, arXiv 1711.05101, Algorithm 2, as torch.optim.AdamW does it.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.optim.adamw import adamw


class AdamW:
    """AdamW by torch's fused kernel, on CPU and GPU; parameters are contiguous.

    `state` maps "<parameter>.<moment>" to the tensors that `step` changes in place, named as in
    torch.optim.AdamW.  That class itself is not used: making one imports torch's compiler, which takes
    longer than many of our runs' first steps.
    """

    def __init__(
        self,
        parameters: Mapping[str, Tensor],
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        self.parameters = parameters
        self.betas, self.epsilon, self.weight_decay = betas, epsilon, weight_decay
        self.state: dict[str, Tensor] = {}
        for name, parameter in parameters.items():
            self.state[f"{name}.step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
            self.state[f"{name}.exp_avg"] = torch.zeros_like(parameter, requires_grad=False)
            self.state[f"{name}.exp_avg_sq"] = torch.zeros_like(parameter, requires_grad=False)

    def step(self, gradient: Mapping[str, Tensor], learning_rate: float) -> None:
        """Move all parameters once, in place; `gradient` has their names and shapes."""
        steps, means, squares = (
            [self.state[f"{name}.{moment}"] for name in self.parameters]
            for moment in ("step", "exp_avg", "exp_avg_sq")
        )
        with torch.no_grad():
            adamw(
                list(self.parameters.values()),
                # The fused kernel reads memory in order, whatever the strides are.
                [gradient[name].contiguous() for name in self.parameters],
                means,
                squares,
                [],
                steps,
                fused=True,
                amsgrad=False,
                beta1=self.betas[0],
                beta2=self.betas[1],
                lr=learning_rate,
                weight_decay=self.weight_decay,
                eps=self.epsilon,
                maximize=False,
            )
