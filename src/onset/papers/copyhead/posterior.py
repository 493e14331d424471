"""Langevin samples of the posterior of the head, at many training-set sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
import xarray as xr
from torch import Tensor

from onset.job.context import Result
from onset.papers.copyhead.model import Parameters
from onset.papers.copyhead.phases import TRAPPED_BELOW
from onset.papers.copyhead.records import Records, attention_variable, coordinates
from onset.papers.copyhead.sampler import Sampler
from onset.sampling.diagnostics import diagnose_convergence

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import Sampling


def record_steps(own: Sampling) -> tuple[list[int], int, list[int]]:
    """Steps done at each record; the first record after the burn-in; the records with a snapshot."""
    steps = list(range(own.record_every, own.steps + 1, own.record_every))
    snapshots = [(k + 1) * len(steps) // own.snapshots - 1 for k in range(own.snapshots)]
    return steps, int(own.burn_in * len(steps)), snapshots


def run_chains(job: Job, dtype: torch.dtype = torch.float32) -> tuple[Parameters, Records, dict[str, Tensor]]:
    """Final parameters, records and attention of the block of chains `job.members`, at all P together.

    Attention is {"sum": (chain, P, L, L) over kept records, "snapshots": (chain, P, snapshot, L, L)};
    linear attention is multiplied by sign(c1) in the sum, because (A, W) and (-A, -W) are the same head.
    """
    own: Sampling = job.own
    members = job.members or tuple(range(own.chains))
    sampler = Sampler(job, members, dtype)
    steps, first_kept, snapshots = record_steps(own)
    records = Records(own.attention, len(steps), sampler.first)
    L = sampler.head.L
    attention = {
        "sum": sampler.first.new_zeros(*sampler.first.shape[:2], L, L),
        "snapshots": sampler.first.new_zeros(*sampler.first.shape[:2], own.snapshots, L, L),
    }

    def record(k: int) -> None:
        A, values = sampler.measure()
        records.write(k, values)
        if k in snapshots:
            attention["snapshots"][:, :, snapshots.index(k)] = A
        if k >= first_kept:
            sign = records.tensors["c1"][k].sign()[..., None, None] if own.attention == "linear" else 1
            attention["sum"] += sign * A

    carried = {**records.tensors, **{f"attention.{name}": a for name, a in attention.items()}}
    sampler.run(job, record, steps, carried)
    return sampler.parameters, records, attention


def sample_posterior(job: Job) -> Result:
    """Order parameters, test loss and attention along Langevin chains of one block.

    The chains of all P run in one program, from a sample of the prior or from the copy state
    (`job.own.start`), over all weights, or over the logits' parameters alone (`job.own.weights`).
    Returns c1 and cG with their raw signs (linear) or a1 and aG (softmax), s2 and test_loss (chain, P,
    step), the last averaged over the weights where those are integrated; attention_mean (chain, P, query,
    key) over the records marked `kept`; attention (chain, P, snapshot, query, key) with raw signs; and the
    final whitened parameters.
    Raises OnsetError naming chain, P and step where a chain diverges.
    Source: SGLD as in Figures 3 to 5 of arXiv 2606.12058; step size and protocol are our reconstruction.
    """
    own: Sampling = job.own
    parameters, records, attention = run_chains(job)
    steps, first_kept, snapshots = record_steps(own)
    positions = range(job.sections["task"].L)
    mean = attention["sum"] / (len(steps) - first_kept)
    dataset = xr.Dataset(
        {
            **records.variables("chain", "step"),
            "attention_mean": attention_variable(("chain", "P"), mean, "mean attention after burn-in"),
            "attention": attention_variable(("chain", "P", "snapshot"), attention["snapshots"], "attention"),
        },
        coords={
            **coordinates(
                chain=(job.members or range(own.chains), "chain"),
                P=(own.P, "training sequences"),
                step=(steps, "Langevin steps done"),
                query=(positions, "query position"),
                key=(positions, "key position"),
                snapshot=(range(own.snapshots), "snapshot"),
            ),
            "kept": (
                "step",
                np.arange(len(steps)) >= first_kept,
                {"long_name": "after burn-in", "units": "1"},
            ),
            "snapshot_step": (
                "snapshot",
                np.asarray([steps[k] for k in snapshots], dtype=np.int64),
                {"long_name": "Langevin steps done at the snapshot", "units": "1"},
            ),
        },
    )
    return Result(dataset, {name: tensor.cpu() for name, tensor in parameters.items()})


def diagnose_chains(job: Job, dataset: xr.Dataset) -> xr.Dataset:
    """The joined chains with their diagnostics over kept records.

    Adds r_hat, ess_bulk and ess_tail (quantity, P), over all chains, of |c1|, cG sign(c1) and s2
    (linear) or aG and s2 (softmax); and for linear attention `trapped` (chain, P), where the mean of
    cG sign(c1) is below -0.05.  In a coexistence region R-hat far above 1 is right: chains sit in
    different phases.
    """
    own: Sampling = job.own
    kept = dataset.isel(step=dataset["kept"].values)
    if own.attention == "linear":
        sign = np.sign(kept["c1"])
        quantities = {"abs_c1": abs(kept["c1"]), "cG_sign": kept["cG"] * sign, "s2": kept["s2"]}
    else:
        quantities = {"aG": kept["aG"], "s2": kept["s2"]}
    texts = {
        "r_hat": "rank-normalised split R-hat",
        "ess_bulk": "effective sample size, bulk",
        "ess_tail": "effective sample size, tails",
    }
    diagnosed = xr.concat(
        [diagnose_convergence(draws) for draws in quantities.values()],
        xr.DataArray(
            list(quantities), dims="quantity", attrs={"long_name": "quantity", "units": "1"}, name="quantity"
        ),
    )
    result = dataset.copy()
    for name, text in texts.items():
        values = diagnosed[name].transpose("quantity", "P").astype(np.float32)
        result[name] = values.assign_attrs(long_name=text, units="1")
    if own.attention == "linear":
        trapped = quantities["cG_sign"].mean("step") < TRAPPED_BELOW
        result["trapped"] = trapped.assign_attrs(long_name="trapped in the state with c1 cG < 0", units="1")
    return result
