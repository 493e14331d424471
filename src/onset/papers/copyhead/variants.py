"""Langevin chains of several samplers, sizes or priors, one after the other, against one posterior each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from torch import Tensor

from onset.errors import OnsetError
from onset.job.context import Result
from onset.job.state import SavedState
from onset.papers.copyhead.records import Records, coordinates
from onset.papers.copyhead.sampler import Sampler
from onset.papers.copyhead.summaries import compare_means, summarise_chains
from onset.papers.copyhead.task import draw_tokens
from onset.params.variants import expand_variants

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import VariantSampling

ORDER = {"c1": "pooling", "cG": "copy", "a1": "pooling", "aG": "copy"}
"""Names of the order parameters of each attention kind, and those that runs of both kinds share."""


def open_part(job: Job, label: str, run: Any) -> Job:
    """The job of one run of an experiment: its own section, streams and saved state, and its d_k, v and
    g_OV, where the run sets them, in the priors."""
    prior = job.sections["prior"]
    found = {key: getattr(run, key, None) for key in ("d_k", "v", "g_OV")}
    changed = prior.model_copy(update={key: value for key, value in found.items() if value is not None})
    saved = job.saved
    if saved is not None:
        saved = SavedState(saved.folder / label, saved.recipe, saved.every)
    return replace(
        job,
        own=run,
        sections={**job.sections, "prior": changed},
        inputs={"sequences": job.inputs["sequences"]},
        streams=replace(job.streams, experiment=f"{job.streams.experiment}.{label}"),
        saved=saved,
    )


def draw_own_sequences(job: Job) -> Job:
    """The job of a run, with sequences of its own where the run sets L; as many as its largest P."""
    run: VariantSampling = job.own
    if run.L is None:
        return job
    task = job.sections["task"].model_copy(update={"L": run.L})
    tokens = draw_tokens(job.streams, max(run.P), task.L, task.V)
    inputs = {"sequences": xr.Dataset({"tokens": (("sample", "position"), tokens)})}
    return replace(job, sections={**job.sections, "task": task}, inputs=inputs)


def record_steps(own: VariantSampling) -> tuple[list[int], int]:
    """Steps done at each record, and the first record after the burn-in."""
    steps = list(range(own.record_every, own.steps + 1, own.record_every))
    return steps, int(own.burn_in * len(steps))


def sample_run(job: Job) -> tuple[xr.Dataset, dict[str, Tensor]]:
    """Records of one run, (chain, P, record), with its settings as scalar coordinates; final parameters."""
    own: VariantSampling = job.own
    chains = tuple(range(own.chains))
    sampler = Sampler(job, chains)
    steps, first_kept = record_steps(own)
    records = Records(own.attention, len(steps), sampler.first)
    sampler.run(job, lambda k: records.write(k, sampler.measure()[1]), steps, records.tensors)

    head = sampler.head
    measured = records.variables("chain", "record")
    settings = {
        "attention": (own.attention, "attention kind"),
        "start": (own.start, "initial state"),
        "weights": (own.weights, "output-value weights"),
        "d_k": (np.inf if head.d_k is None else float(head.d_k), "width of queries and keys"),
        "batch": (own.batch or 0, "sequences of a minibatch, 0 for all"),
        "L": (head.L, "sequence length"),
        "v": (head.v, "variance of a logit"),
        "g_OV": (head.g_OV, "variance of the output-value weights times V"),
        "step_size": (own.step_size, "step size"),
        "steps": (own.steps, "Langevin steps"),
    }
    dataset = xr.Dataset(
        {ORDER.get(name, name): variable for name, variable in measured.items()},
        coords={
            **coordinates(
                chain=(chains, "chain"),
                P=(own.P, "training sequences"),
                record=(range(len(steps)), "record"),
            ),
            "kept": (
                "record",
                np.arange(len(steps)) >= first_kept,
                {"long_name": "after burn-in", "units": "1"},
            ),
            "step": ("record", np.asarray(steps), {"long_name": "Langevin steps done", "units": "1"}),
            **{
                key: ((), value, {"long_name": text, "units": "1"}) for key, (value, text) in settings.items()
            },
        },
    )
    return dataset, {name: tensor.cpu() for name, tensor in sampler.parameters.items()}


def sample_variants(job: Job) -> Result:
    """Order parameters and test loss along the chains of every run, with means, errors and diagnostics.

    Each run is a set of chains at all its P from the prior or the copy state, with random streams of its
    own; weights sampled or integrated, all sequences or minibatches, any d_k, v, g_OV or L.  Returns, with
    runs along `run` and the union of their P (NaN where a run has none), pooling and copy (c1 and cG with
    raw signs, or a1 and aG), s2 and test_loss (run, chain, P, record); what `summarise_chains` adds; and,
    where the job has chains of the same attention among its inputs (`linear`, `softmax`), what
    `compare_means` adds.  Raises OnsetError naming run, chain, P and step where a chain diverges.
    Source: SGLD as in Figures 3 to 5 of arXiv 2606.12058; variants and protocol are our reconstruction.
    """
    runs: list[xr.Dataset] = []
    checkpoint: dict[str, Tensor] = {}
    for label, run in expand_variants(job.own, "runs").items():
        try:
            dataset, final = sample_run(draw_own_sequences(open_part(job, label, run)))
        except OnsetError as error:
            raise OnsetError(f"run {label}: {error}") from None
        dataset = summarise_chains(dataset)
        reference = job.inputs.get(run.attention)
        runs.append(dataset if reference is None else compare_means(dataset, reference))
        checkpoint |= {f"{label}.{name}": tensor for name, tensor in final.items()}
    return Result(join_runs(runs, list(expand_variants(job.own, "runs"))), checkpoint)


def join_runs(runs: list[xr.Dataset], labels: list[str]) -> xr.Dataset:
    """Runs along a dimension `run`, on the union of their P; numbers are NaN, and flags False, elsewhere.

    Coordinates of a run that are no dimension (its settings and steps) become coordinates along `run`.
    """
    P = sorted({int(value) for run in runs for value in run["P"].values})
    full = []
    for label, run in zip(labels, runs, strict=True):
        flags = {name for name, variable in run.data_vars.items() if variable.dtype == bool}
        filled = run.drop_vars(flags).reindex(P=P)
        filled = filled.assign({name: run[name].reindex(P=P, fill_value=False) for name in flags})
        own = [str(name) for name in run.coords if name not in run.dims and name != "kept"]
        spread = {name: filled[name].expand_dims("run") for name in own}
        name = xr.Variable("run", [label], {"long_name": "run", "units": "1"})
        full.append(filled.drop_vars(own).expand_dims("run").assign_coords({"run": name, **spread}))
    return xr.concat(full, "run", join="exact", data_vars="all", coords="minimal", compat="equals")
