"""Sizes and prior of the copy task, with the scales that the theory is written in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Form = Literal["bare", "map", "dressed"]
"""Level of the theory: read-out integrated, read-out maximised, or noise in the attention included."""


@dataclass(frozen=True)
class Model:
    """One attention layer f(X) = A X W on the cyclic shift-by-one copy task.

    L positions, V symbols; W_ij ~ N(0, g/V); logits of variance v; likelihood exp(-|f-Y|²/(2 sigma2)).
    d_k is the width of queries and keys; infinite d_k makes the logits independent Gaussians.
    """

    L: int
    V: int
    g: float
    v: float
    sigma2: float
    d_k: float = math.inf

    @property
    def finite_width(self) -> bool:
        """Whether queries and keys are the parameters (d_k finite), so that MAP costs the nuclear norm."""
        return math.isfinite(self.d_k)

    @property
    def tau(self) -> float:
        """Prior variance v/L² of an entry of A in linear attention, where A = logits/L."""
        return self.v / self.L**2

    @property
    def ridge(self) -> float:
        """Ridge of the read-out regression, V sigma2/g."""
        return self.V * self.sigma2 / self.g

    @property
    def balance(self) -> float:
        """(V² v/(g L³))^(1/4): singular values of A where A and W share the cost of A W = 1 (linear)."""
        return (self.V**2 * self.v / (self.g * self.L**3)) ** 0.25

    @property
    def pull(self) -> float:
        """(V-1)/(2 sigma2 V): what one sequence adds to the weight of the traceless squared error."""
        return (self.V - 1) / (2 * self.sigma2 * self.V)

    def signal(self, P: Any) -> Any:
        """x = g P/(V² sigma2): the data's share against the ridge, per unit of |A|²."""
        return P / (self.V * self.ridge)


def read_model(sections: Mapping[str, Any]) -> Model:
    """The model that the sections `task` and `prior` of params.yaml describe; d_k null is infinite."""
    task, prior = sections["task"], sections["prior"]
    d_k = math.inf if prior.d_k is None else float(prior.d_k)
    return Model(L=task.L, V=task.V, g=prior.g_OV, v=prior.v, sigma2=prior.sigma2, d_k=d_k)
