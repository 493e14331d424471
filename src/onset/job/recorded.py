"""Steps of a whole ensemble, with records on the way, that can be killed and resumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from onset.errors import OnsetError
from onset.job.loop import run_resumable

if TYPE_CHECKING:
    from torch import Tensor

    from onset.job.context import Job

Labels = Mapping[str, Sequence[int]]
"""The leading axes of an ensemble in order, each with the number that names each of its members."""


def require_finite(parameters: Mapping[str, Tensor], labels: Labels, step: int, advice: str) -> None:
    """Raise OnsetError where a parameter is not finite, naming the first such member and the step.

    Each tensor has the leading axes that `labels` names.
    """
    for name, tensor in parameters.items():
        if bool(torch.isfinite(tensor).all()):
            continue
        bad = ~torch.isfinite(tensor).flatten(len(labels)).all(-1)
        index = bad.nonzero()[0].tolist()
        where = ", ".join(
            f"{axis} {values[i]}" for (axis, values), i in zip(labels.items(), index, strict=True)
        )
        raise OnsetError(
            f"{name} is not finite at {where} after {step} steps "
            f"({int(bad.sum())} of {bad.numel()} members); {advice}"
        )


def run_recorded(
    job: Job,
    parameters: Mapping[str, Tensor],
    labels: Labels,
    *,
    step: Callable[[int], None],
    record: Callable[[int], None],
    record_at: Sequence[int],
    total: int,
    chunk: int,
    carried: Mapping[str, Tensor],
    unit: str,
    advice: str,
) -> None:
    """Call `step(i)` for i in 0..total-1, and `record(k)` once `record_at[k]` steps are done.

    Both change tensors in place: `parameters`, whose leading axes are `labels`, and `carried`, which
    holds whatever else a step or record changes (optimiser moments, the records themselves).  A run
    is saved between chunks only; a resumed run begins with `step(i)` for i a multiple of `chunk`.
    Raises OnsetError with `advice` where a parameter is not finite at a record or at the end.
    """
    index = {after: k for k, after in enumerate(record_at)}

    def advance(begin: int, end: int) -> None:
        for i in range(begin, end):
            step(i)
            if i + 1 in index or i + 1 == total:
                require_finite(parameters, labels, i + 1, advice)
            if i + 1 in index:
                record(index[i + 1])

    with torch.no_grad():
        run_resumable(job, total, chunk, {**parameters, **carried}, advance, unit)
