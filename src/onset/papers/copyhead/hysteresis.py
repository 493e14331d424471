"""Hysteresis: Langevin chains carried from one number of training sequences to the next, up and down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
import xarray as xr
from torch import Tensor

from onset.errors import OnsetError
from onset.job.context import Result
from onset.papers.copyhead.gram import Gram, count_pairs
from onset.papers.copyhead.model import CopyHead, Parameters
from onset.papers.copyhead.order import measure_head
from onset.papers.copyhead.phases import COPYING_ABOVE, TRAPPED_BELOW
from onset.papers.copyhead.records import coordinates
from onset.papers.copyhead.variants import ORDER, join_runs, open_part
from onset.params.variants import expand_variants
from onset.sampling.sgld import sample_sgld

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import Sweep

DIRECTIONS = ("up", "down")
MEASURE_EVERY = 10  # steps between two measurements

TEXTS = {
    "pooling": "pooling order parameter",
    "copy": "copy order parameter",
    "s2": "squared norm of the attention matrix",
    "test_loss": "test loss per position",
    "copying": f"share of measurements with copying above {COPYING_ABOVE}",
}


def run_sweep(job: Job, dtype: torch.dtype = torch.float32) -> tuple[Parameters, dict[str, Tensor]]:
    """Final parameters, and means over the kept part of each dwell, of one sweep in both directions.

    Both directions run in one program: while one is at the k-th P from below, the other is at the k-th from
    above.  Parameters have axes (chain, direction, ...); means map pooling, copy, s2, test_loss and copying
    to (dwell, chain, direction), the dwells in the order in which each direction meets them.
    Raises OnsetError naming chain, direction, P and step where a chain is not finite.
    """
    own: Sweep = job.own
    head = CopyHead.of(own.attention, job.sections["task"], job.sections["prior"])
    gram = count_pairs(job.inputs["sequences"]["tokens"].values, own.P, head.V, dtype, job.device)
    chains, count = tuple(range(own.chains)), len(own.P)
    up = head.prior_state(job.streams, chains, (own.P[0],), dtype)
    down = head.copy_state(len(chains), 1, dtype)
    parameters = {name: torch.cat([up[name], down[name]], 1).to(job.device) for name in head.shapes}
    both = [torch.tensor([k, count - 1 - k], device=job.device) for k in range(count)]
    grams = [Gram(gram.pairs[at], gram.counts[at], head.L, head.V) for at in both]
    measurements = max(int(own.kept * own.dwell) // MEASURE_EVERY, 1)
    measured = [own.dwell - MEASURE_EVERY * i for i in reversed(range(measurements))]
    record_at = [k * own.dwell + step for k in range(count) for step in measured]
    means = {name: parameters["W"].new_zeros(count, own.chains, len(DIRECTIONS)) for name in TEXTS}
    now = {"dwell": 0}

    def prepare(step: int) -> None:
        now["dwell"] = step // own.dwell

    def record(k: int) -> None:
        values = measure_head(own.attention, *head.actual(parameters))
        values = {ORDER.get(name, name): value for name, value in values.items()}
        if own.attention == "linear":
            sign = values["pooling"].sign()
            values |= {"pooling": values["pooling"] * sign, "copy": values["copy"] * sign}
        values["copying"] = (values["copy"] > COPYING_ABOVE).to(dtype)
        for name, value in values.items():
            means[name][k // len(measured)] += value / len(measured)

    try:
        sample_sgld(
            job,
            parameters,
            {"chain": chains, "direction": range(len(DIRECTIONS))},
            lambda state: head.misfit_gradient(grams[now["dwell"]], state),
            step_size=own.step_size,
            steps=count * own.dwell,
            record=record,
            record_at=record_at,
            carried=means,
            prepare=prepare,
        )
    except OnsetError as error:
        k = now["dwell"]
        raise OnsetError(
            f"{error} (at P {own.P[k]} in direction 0, {own.P[-1 - k]} in direction 1)"
        ) from None
    return parameters, means


def describe_sweep(own: Sweep, means: dict[str, Tensor]) -> xr.Dataset:
    """The means of a sweep by P (chain, direction, P), with `trapped` and the area of the loop."""
    variables = {}
    for name, tensor in means.items():
        values = tensor.cpu().to(torch.float32).numpy()
        by_P = np.stack([values[:, :, 0], values[::-1, :, 1]], -1)  # the way down meets the last P first
        attributes = {"long_name": TEXTS[name], "units": "1"}
        variables[name] = (("chain", "direction", "P"), by_P.transpose(1, 2, 0), attributes)
    dataset = xr.Dataset(
        variables,
        coords={
            **coordinates(chain=(range(own.chains), "chain"), P=(own.P, "training sequences")),
            "direction": (
                "direction",
                list(DIRECTIONS),
                {"long_name": "direction of the sweep", "units": "1"},
            ),
            "attention": ((), own.attention, {"long_name": "attention kind", "units": "1"}),
            "dwell": ((), own.dwell, {"long_name": "Langevin steps at each P", "units": "1"}),
            "step_size": ((), own.step_size, {"long_name": "step size", "units": "1"}),
        },
    )
    copy = dataset["copy"].mean("chain")
    area = (copy.sel(direction="down") - copy.sel(direction="up")).integrate("P")
    trapped = (dataset["copy"] < TRAPPED_BELOW) & (own.attention == "linear")
    return dataset.assign(
        trapped=trapped.assign_attrs(long_name="trapped in the state with c1 cG < 0", units="1"),
        loop_area=xr.Variable(
            (),
            np.float32(area),
            {"long_name": "area between the ways down and up of the copy parameter", "units": "sequences"},
        ),
    )


def sweep_training_sets(job: Job) -> Result:
    """Order parameters of chains carried through all P, upwards from the prior and downwards from copying.

    At each P chains stay for `dwell` steps, of which the last `kept` share enters the means; the next P
    starts from where they are.  Returns, with runs along `run` and the union of their P, pooling and copy
    (|c1| and cG sign(c1) for linear attention, a1 and aG for softmax), s2, test_loss and copying (the share
    of measurements with copying above 0.35), each (run, chain, direction, P); trapped; and loop_area (run),
    the integral over P of the copy order parameter on the way down less that on the way up, mean over chains.
    Source: reconstruction; a first-order transition shows as a loop, a crossover does not.
    """
    runs: list[xr.Dataset] = []
    checkpoint: dict[str, Tensor] = {}
    variants = expand_variants(job.own, "runs")
    for label, run in variants.items():
        try:
            parameters, means = run_sweep(open_part(job, label, run))
        except OnsetError as error:
            raise OnsetError(f"run {label}: {error}") from None
        runs.append(describe_sweep(run, means))
        checkpoint |= {f"{label}.{name}": tensor.cpu() for name, tensor in parameters.items()}
    return Result(join_runs(runs, list(variants)), checkpoint)
