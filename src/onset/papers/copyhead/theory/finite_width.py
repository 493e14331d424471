"""Theory at finite widths of queries and keys: log-determinant prior, and the nuclear norm of MAP."""

from __future__ import annotations

from dataclasses import replace
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
from onset.papers.copyhead.theory.linear_saddles import minimise_action
from onset.papers.copyhead.theory.model import Form, read_model
from onset.papers.copyhead.theory.onset import find_tricritical_width, locate_onset
from onset.papers.copyhead.theory.softmax_curves import trace_curve

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import FiniteWidth

SCAN: dict[Form, int] = {"bare": 400, "map": 400, "dressed": 120}
BINS = 60
"""Resolution of softmax curves: points along them, and bins of the dressed theory; P_c to 0.01."""


def solve_finite_width(job: Job) -> xr.Dataset:
    """Order parameters, losses and transitions of both attention kinds against P, at each width d_k.

    `theory`: "bare" (log-determinant cost phi), "map" (queries, keys and read-out at their maximum, where
    matched weight decay would lead Adam: nuclear norm) and "dressed" (phi and Gaussian noise added).
    Linear: the lowest minimum, and the P at which it leaves the trivial state (which in "map" remains a
    local minimum at every P).  Softmax: both branches and their transition up to P_max.
    linear_tricritical_d_k: width below which the bare pooling transition is a jump.
    Test losses per position.  NaN where there is nothing.
    Source: the log-determinant is quoted from arXiv 2606.12058; the rest is our reconstruction,
    docs/theory/copyhead.md sections 5 to 8.
    """
    own: FiniteWidth = job.own
    base, P = read_model(job.sections), list_grid(own)
    shape = (len(FORMS), len(own.d_k))
    linear, onset = np.empty((*shape, len(P), 5)), np.empty(shape)
    softmax, transitions = np.empty((*shape, len(BRANCHES), len(P), 4)), np.empty((*shape, 3))
    with count_steps(job, len(FORMS) * len(own.d_k) * len(P)) as counter:
        for i, form in enumerate(FORMS):
            for k, d_k in enumerate(own.d_k):
                model = replace(base, d_k=float(d_k))
                saddles = minimise_action(P, model, form)
                onset[i, k] = locate_onset(P, saddles, model, form)
                linear[i, k] = [read_saddle(s, p, model, form) for s, p in zip(saddles, P, strict=True)]
                curve = trace_curve(model, form, own.P_max, SCAN[form], BINS)
                softmax[i, k] = read_curve(curve, P, model, form)
                found = curve.find_transition()
                transitions[i, k] = found.P_c, found.P_lower, found.P_upper
                advance(counter, len(P))

    c1, cG, _, loss, _ = np.moveaxis(linear, -1, 0)
    aG, _, softmax_loss, _ = np.moveaxis(softmax.swapaxes(1, 2), -1, 0)
    per_width, curves, branches = ("theory", "d_k"), ("theory", "d_k", "P"), ("theory", "branch", "d_k", "P")
    return label_dataset(
        {
            "linear_c1": (curves, c1, "pooling order parameter c₁", "1"),
            "linear_cG": (curves, cG, "copy order parameter c_G", "1"),
            "linear_test_loss": (curves, loss, "test loss per position, linear attention", "1"),
            "linear_onset": (per_width, onset, "P at which pooling sets in", "sequences"),
            "linear_tricritical_d_k": (
                (),
                find_tricritical_width(base),
                "d_k below which pooling sets in by a jump, bare theory",
                "1",
            ),
            "softmax_aG": (branches, aG, "copy order parameter a_G", "1"),
            "softmax_test_loss": (branches, softmax_loss, "test loss per position, softmax attention", "1"),
            "softmax_P_c": (per_width, transitions[..., 0], "first-order point P_c", "sequences"),
            "softmax_P_lower": (per_width, transitions[..., 1], "lower spinodal", "sequences"),
            "softmax_P_upper": (per_width, transitions[..., 2], "upper spinodal", "sequences"),
        },
        theory=list(FORMS),
        branch=list(BRANCHES),
        d_k=np.asarray(own.d_k),
        P=P,
    )
