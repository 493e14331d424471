"""Langevin dynamics in whitened parameters.

One step of size epsilon, at temperature 1, with xi standard normal:

    theta <- (1 - epsilon) theta - epsilon grad misfit(theta) + sqrt(2 epsilon) xi

It samples exp(-U) for U = |theta|^2/2 + misfit up to the bias of a finite step: where U has curvature a
the stationary variance is 1/(a (1 - epsilon a/2)), and the chain is stable for epsilon a < 2.

A gradient of a minibatch, unbiased, is allowed: it adds epsilon²/2 times its covariance to the noise.

Source: Welling and Teh (2011), Eq. 4, with a constant step size; their step size is 2 epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from onset.job.recorded import Labels, run_recorded
from onset.sampling.noise import CHUNK, Noise

if TYPE_CHECKING:
    from onset.job.context import Job

Parameters = dict[str, Tensor]


def langevin_step(
    parameters: Mapping[str, Tensor],
    gradient: Mapping[str, Tensor],
    noise: Mapping[str, Tensor],
    step_size: float,
) -> None:
    """One step in place.

    `gradient` is that of the misfit alone, without the prior; `noise` is sqrt(2 step_size) xi.  Both have
    the names and shapes of `parameters`, whitened to unit prior variance.
    """
    for name, parameter in parameters.items():
        parameter.mul_(1 - step_size).add_(gradient[name], alpha=-step_size).add_(noise[name])


def sample_sgld(
    job: Job,
    parameters: Parameters,
    labels: Labels,
    misfit_gradient: Callable[[Parameters], Parameters],
    *,
    step_size: float,
    steps: int,
    record: Callable[[int], None],
    record_at: Sequence[int],
    carried: Mapping[str, Tensor],
    prepare: Callable[[int], None] | None = None,
) -> None:
    """Run `steps` Langevin steps of all chains together, in place, resuming an interrupted run.

    parameters   tensors whose leading axes are `labels` (for instance {"chain": ..., "P": ...})
    record(k)    is called once `record_at[k]` steps are done; it changes only what `carried` holds

    prepare(i)   is called before step i, for a gradient that is not the same at every step (a minibatch,
                 another training set); what it sets up is a function of i alone

    Noise comes from `job.streams` by labels and step.  Raises OnsetError naming the chain and step where
    the state is not finite at a record.
    """
    axes = len(labels)
    first = next(iter(parameters.values()))
    shapes = {name: tuple(tensor.shape[axes:]) for name, tensor in parameters.items()}
    noise = Noise(job.streams, labels, shapes, first.dtype, first.device.type)

    def step(i: int) -> None:
        if i % CHUNK == 0:
            noise.draw(i // CHUNK, math.sqrt(2 * step_size))
        if prepare is not None:
            prepare(i)
        langevin_step(parameters, misfit_gradient(parameters), noise.of(i), step_size)

    run_recorded(
        job,
        parameters,
        labels,
        step=step,
        record=record,
        record_at=record_at,
        total=steps,
        chunk=CHUNK,
        carried=carried,
        unit="steps",
        advice="the step size is too large for the data, lower step_size",
    )
