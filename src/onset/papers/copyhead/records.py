"""What runs of the head write down on the way, and how it becomes a Dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
import xarray as xr
from torch import Tensor

from onset.papers.copyhead.order import LONG_NAMES, measure_head


class Records:
    """Measurements of an ensemble at chosen steps, kept as tensors so that a run can be resumed.

    `tensors` maps names to (record, member, P); members and P as in the parameters of the ensemble.
    """

    def __init__(self, attention: str, records: int, like: Tensor, extra: Sequence[str] = ()) -> None:
        """`like` is a parameter of the ensemble, (member, P, ...); `extra` names further measurements."""
        self.attention = attention
        tiny = torch.ones(1, 1)
        names = [*measure_head(attention, tiny.expand(2, 2), tiny.expand(2, 2)), *extra]
        self.tensors = {name: like.new_zeros(records, *like.shape[:2]) for name in names}

    def write(self, k: int, values: Mapping[str, Tensor]) -> None:
        """Record number `k`: what `measure_head` gives, and the further measurements, each (member, P)."""
        for name, measured in values.items():
            self.tensors[name][k] = measured

    def variables(
        self, member: str, step: str, long_names: dict[str, str] | None = None
    ) -> dict[str, xr.Variable]:
        """The records as float32 variables (member, P, step), under the names of the two dimensions."""
        names = {**LONG_NAMES, **(long_names or {})}
        return {
            name: xr.Variable(
                (member, "P", step),
                tensor.permute(1, 2, 0).contiguous().to("cpu", torch.float32).numpy(),
                {"long_name": names[name], "units": "1"},
            )
            for name, tensor in self.tensors.items()
        }


def attention_variable(dims: tuple[str, ...], A: Tensor, long_name: str) -> xr.Variable:
    """Attention matrices as a float32 variable whose last dimensions are query and key."""
    values = A.to("cpu", torch.float32).numpy()
    return xr.Variable((*dims, "query", "key"), values, {"long_name": long_name, "units": "1"})


def coordinates(**values: tuple[Sequence[int], str]) -> dict[str, xr.Variable]:
    """Integer coordinates, each given as (values, long name)."""
    return {
        name: xr.Variable(name, np.asarray(numbers, dtype=np.int64), {"long_name": text, "units": "1"})
        for name, (numbers, text) in values.items()
    }
