"""The two minima of linear attention in which Adam can end, with the losses that tell them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.papers.copyhead.theory.datasets import FORMS, advance, count_steps, label_dataset, read_saddle
from onset.papers.copyhead.theory.linear_saddles import follow_metastable, minimise_action
from onset.papers.copyhead.theory.model import read_model

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import Clusters

STATES = ("global", "metastable")

SPACING = 1.05
"""Largest ratio of neighbouring P between which minima are followed."""


def solve_clusters(job: Job) -> xr.Dataset:
    """Global and metastable minimum (c1 cG < 0) of three theories at each P of the section.

    c1 >= 0; actions in nats above the trivial state; test losses per position, of a posterior sample or,
    for "map", of the maximum.  metastable_from is the P from which the second minimum exists, the least
    P of the section where it does there already.  What does not exist is NaN.
    Source: arXiv 2606.12058 Figure 6 shows two clusters; that they are these minima is our
    reconstruction, docs/theory/copyhead.md section 6.
    """
    own: Clusters = job.own
    model, P = read_model(job.sections), np.asarray(own.P, dtype=np.float64)
    between = int(np.ceil(np.log(P[-1] / P[0]) / np.log(SPACING))) + 1
    grid = np.union1d(P, np.geomspace(P[0], P[-1], between))
    values, metastable_from = np.full((len(FORMS), 2, len(P), 5), np.nan), np.empty(len(FORMS))
    with count_steps(job, len(FORMS) * len(P)) as counter:
        for i, form in enumerate(FORMS):
            first = minimise_action(grid, model, form)
            second, metastable_from[i] = follow_metastable(grid, model, form)
            for j, at in enumerate(np.searchsorted(grid, P)):
                for k, saddle in enumerate((first[at], second[at])):
                    if saddle is not None:
                        values[i, k, j] = read_saddle(saddle, P[j], model, form)
            advance(counter, len(P))

    c1, cG, action, loss, _ = np.moveaxis(values, -1, 0)
    curve = ("theory", "state", "P")
    return label_dataset(
        {
            "c1": (curve, c1, "pooling order parameter c₁", "1"),
            "cG": (curve, cG, "copy order parameter c_G", "1"),
            "action": (curve, action, "action above the trivial state", "nat"),
            "test_loss": (curve, loss, "test loss per position", "1"),
            "metastable_from": (
                ("theory",),
                metastable_from,
                "P of the first metastable minimum",
                "sequences",
            ),
        },
        theory=list(FORMS),
        state=list(STATES),
        P=P,
    )
