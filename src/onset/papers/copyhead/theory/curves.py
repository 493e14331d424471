"""Theory curves of the copy task against P as Datasets, for both kinds of attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.papers.copyhead.theory.datasets import (
    BRANCHES,
    FORMS,
    advance,
    count_steps,
    label_dataset,
    list_grid,
    read_curve,
    read_saddle,
)
from onset.papers.copyhead.theory.linear_means import integrate_means
from onset.papers.copyhead.theory.linear_saddles import follow_metastable, minimise_action
from onset.papers.copyhead.theory.model import read_model
from onset.papers.copyhead.theory.onset import locate_onset
from onset.papers.copyhead.theory.softmax_curves import trace_curve

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import LinearTheory, SoftmaxTheory


def solve_linear(job: Job) -> xr.Dataset:
    """Linear attention against P: global and metastable saddle of three theories, and finite-size means.

    `theory` is "bare" (read-out integrated), "map" (read-out at its maximum, for Adam) and "dressed"
    (noise of the attention included).  c1 >= 0; actions in nats above the trivial state's; test losses
    per position; coverage is sqrt((c1² + (L-1) cG²)/s2), s2 = |A|².  What does not exist is NaN.
    Source: arXiv 2606.12058 names the order parameters and S_lin; the rest is our reconstruction,
    docs/theory/copyhead.md.
    """
    own: LinearTheory = job.own
    model, P = read_model(job.sections), list_grid(own)
    shape = (len(FORMS), len(P), 5)
    global_saddle, metastable = np.empty(shape), np.full(shape, np.nan)
    onset, metastable_from = np.empty(len(FORMS)), np.empty(len(FORMS))
    means = []
    with count_steps(job, 2 * len(FORMS) * len(P) + len(own.P)) as counter:
        for i, form in enumerate(FORMS):
            saddles = minimise_action(P, model, form)
            onset[i] = locate_onset(P, saddles, model, form)
            for j, saddle in enumerate(saddles):
                global_saddle[i, j] = read_saddle(saddle, P[j], model, form)
            advance(counter, len(P))
            second, metastable_from[i] = follow_metastable(P, model, form)
            for j, found in enumerate(second):
                if found is not None:
                    metastable[i, j] = read_saddle(found, P[j], model, form)
            advance(counter, len(P))
        for value in own.P:
            means.append(integrate_means(float(value), model, own.nodes))
            advance(counter, 1)

    curve, per_theory, finite = ("theory", "P"), ("theory",), ("P_finite",)
    c1, cG, action, loss, coverage = np.moveaxis(global_saddle, -1, 0)
    return label_dataset(
        {
            "c1": (curve, c1, "pooling order parameter c₁", "1"),
            "cG": (curve, cG, "copy order parameter c_G", "1"),
            "action": (curve, action, "action above the trivial state", "nat"),
            "test_loss": (curve, loss, "test loss per position", "1"),
            "coverage": (curve, coverage, "share of |A| in the plane of c₁ and c_G", "1"),
            "c1_mean": (finite, [mean.c1 for mean in means], "finite-size mean of |c₁|", "1"),
            "cG_mean": (finite, [mean.cG for mean in means], "finite-size mean of c_G sign(c₁)", "1"),
            "coverage_mean": (
                finite,
                [mean.coverage for mean in means],
                "finite-size share of |A| in the plane of c₁ and c_G",
                "1",
            ),
            "onset": (per_theory, onset, "pooling onset P₁", "sequences"),
            "metastable_c1": (curve, metastable[..., 0], "c₁ of the metastable saddle", "1"),
            "metastable_cG": (curve, metastable[..., 1], "c_G of the metastable saddle", "1"),
            "metastable_test_loss": (curve, metastable[..., 3], "test loss of the metastable saddle", "1"),
            "metastable_from": (
                per_theory,
                metastable_from,
                "P of the first metastable saddle",
                "sequences",
            ),
        },
        theory=list(FORMS),
        P=P,
        P_finite=np.asarray(own.P),
    )


def solve_softmax(job: Job) -> xr.Dataset:
    """Softmax attention against P: both branches, equilibrium, first-order point and spinodals.

    `theory` as in `solve_linear`; actions in nats above noiseless uniform attention's at the same P;
    test losses per position; coverage is sqrt((1 + (L-1) aG²)/s2).  Transitions are found up to the
    largest P of the grid.  What does not exist is NaN.
    Source: arXiv 2606.12058 names S_softmax(aG; P) and the rule of the dominant saddle; the rest is our
    reconstruction, docs/theory/copyhead.md.
    """
    own: SoftmaxTheory = job.own
    model, P = read_model(job.sections), list_grid(own)
    values, transitions = [], []
    with count_steps(job, len(FORMS) * len(P)) as counter:
        for form in FORMS:
            curve = trace_curve(model, form, own.P_max, own.scan, own.bins)
            values.append(read_curve(curve, P, model, form))
            transitions.append(curve.find_transition())
            advance(counter, len(P))

    aG, action, loss, coverage = np.moveaxis(np.stack(values), -1, 0)
    lowest = np.where(np.isnan(action), np.inf, action).argmin(axis=1)[:, None]
    equilibrium = np.take_along_axis(aG, lowest, axis=1)[:, 0]
    branches, per_theory = ("theory", "branch", "P"), ("theory",)
    return label_dataset(
        {
            "aG": (branches, aG, "copy order parameter a_G", "1"),
            "action": (branches, action, "action above uniform attention", "nat"),
            "test_loss": (branches, loss, "test loss per position", "1"),
            "coverage": (branches, coverage, "share of |A| in uniform attention and copying", "1"),
            "aG_equilibrium": (("theory", "P"), equilibrium, "a_G of the branch of lower action", "1"),
            "P_c": (per_theory, [t.P_c for t in transitions], "first-order point P_c", "sequences"),
            "P_lower": (per_theory, [t.P_lower for t in transitions], "lower spinodal", "sequences"),
            "P_upper": (per_theory, [t.P_upper for t in transitions], "upper spinodal", "sequences"),
            "aG_at_P_c": (
                ("theory", "branch"),
                [t.aG_at_P_c for t in transitions],
                "a_G at the first-order point",
                "1",
            ),
            "barrier": (per_theory, [t.barrier for t in transitions], "action barrier at P_c", "nat"),
        },
        theory=list(FORMS),
        branch=list(BRANCHES),
        P=P,
    )
