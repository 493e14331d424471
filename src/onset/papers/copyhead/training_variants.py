"""Full-batch Adam at finite widths of queries and keys, and under different decays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from torch import Tensor

from onset.errors import OnsetError
from onset.job.context import Result
from onset.papers.copyhead.records import attention_variable, coordinates
from onset.papers.copyhead.training import record_epochs, run_seeds
from onset.papers.copyhead.variants import ORDER, join_runs, open_part
from onset.params.variants import expand_variants

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import VariantTraining


def train_run(job: Job) -> tuple[xr.Dataset, dict[str, Tensor]]:
    """Records of one run, (seed, P, epoch), with its settings as scalar coordinates; final parameters."""
    own: VariantTraining = job.own
    head, parameters, records = run_seeds(job, anchored=own.decay == "anchored", weight=own.decay_weight)
    measured = records.variables("seed", "epoch", {"loss": "misfit and decay per sequence"})
    A = head.attend(head.logits(parameters))
    settings = {
        "attention_kind": (own.attention, "attention kind"),
        "d_k": (np.inf if head.d_k is None else float(head.d_k), "width of queries and keys"),
        "decay": (own.decay, "decay towards 0 (matched) or towards the initial state (anchored)"),
        "decay_weight": (own.decay_weight, "factor of the decay of the logits' parameters"),
    }
    dataset = xr.Dataset(
        {
            **{ORDER.get(name, name): variable for name, variable in measured.items()},
            "attention": attention_variable(("seed", "P"), A, "final attention"),
        },
        coords={
            **coordinates(
                seed=(range(own.seeds), "seed"),
                P=(own.P, "training sequences"),
                epoch=(record_epochs(own), "epochs done"),
                query=(range(head.L), "query position"),
                key=(range(head.L), "key position"),
            ),
            **{
                key: ((), value, {"long_name": text, "units": "1"}) for key, (value, text) in settings.items()
            },
        },
    )
    return dataset, {name: tensor.cpu() for name, tensor in parameters.items()}


def train_variants(job: Job) -> Result:
    """Order parameters and losses along Adam for every run, on queries and keys where d_k is finite.

    As `train_adam`, with the decay of the logits' parameters towards 0 (matched: the prior) or towards the
    initial state.  Returns, with runs along `run` and the union of their P (NaN where a run has none),
    pooling and copy (c1 and cG with raw signs, or a1 and aG), s2, test_loss and loss (run, seed, P, epoch),
    and attention (run, seed, P, query, key) at the end.  Raises OnsetError naming seed, P and epoch.
    Source: Adam as in Figures 3 to 7 of arXiv 2606.12058, whose decay is not known; both are our attempts.
    """
    runs: list[xr.Dataset] = []
    checkpoint: dict[str, Tensor] = {}
    variants = expand_variants(job.own, "runs")
    for label, run in variants.items():
        part = open_part(job, label, run)
        try:
            dataset, final = train_run(replace(part, members=tuple(range(run.seeds))))
        except OnsetError as error:
            raise OnsetError(f"run {label}: {error}") from None
        runs.append(dataset)
        checkpoint |= {f"{label}.{name}": tensor for name, tensor in final.items()}
    return Result(join_runs(runs, list(variants)), checkpoint)
