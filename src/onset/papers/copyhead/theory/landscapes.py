"""Landscapes of the bare actions over the order parameters, with their minima and barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from onset.papers.copyhead.theory.datasets import BRANCHES, advance, count_steps, label_dataset
from onset.papers.copyhead.theory.linear import reduce_linear_action
from onset.papers.copyhead.theory.linear_saddles import follow_metastable, minimise_action
from onset.papers.copyhead.theory.model import Model, read_model
from onset.papers.copyhead.theory.softmax import compute_softmax_action, trace_saddles

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import Landscapes

Array = NDArray[np.float64]

STATES = ("global", "metastable")

SCAN = 400
"""Points of the curve on which minima of the softmax action are found."""


def find_linear_minima(P: Array, model: Model) -> Array:
    """(c1, cG, action) of the global and the metastable minimum at the increasing P: (P, state, 3).

    NaN where there is none; actions in nats above the trivial state.
    """
    minima = np.full((len(P), len(STATES), 3), np.nan)
    second = follow_metastable(P, model, "bare")[0]
    for i, pair in enumerate(zip(minimise_action(P, model, "bare"), second, strict=True)):
        for k, saddle in enumerate(pair):
            if saddle is not None:
                minima[i, k] = *saddle.z, saddle.action
    return minima


def find_softmax_minima(P: Array, model: Model) -> tuple[Array, Array]:
    """(aG, action) of both branches and of the unstable saddle at each P: (P, branch, 2) and (P, 2).

    NaN where there is none; actions in nats above uniform attention.
    """
    curve = trace_saddles(model, float(P[-1]), SCAN)
    points = [[curve.read(name, at) for at in curve.find_branches(p) for name in ("aG", "action")] for p in P]
    values = np.reshape(points, (len(P), 3, 2))
    return values[:, :2], values[:, 2]


def solve_landscapes(job: Job) -> xr.Dataset:
    """Bare actions S_lin(c1, cG) and S_softmax(aG) on grids, with minima, at each P of the section.

    linear_action is relative to the trivial state, softmax_action to aG = 0, in nats.  The four minima
    of linear attention are +-(c1, cG) of each state.  softmax_barrier is the unstable saddle's action
    above the uniform branch's; softmax_saddle its aG.  What does not exist is NaN.
    Source: arXiv 2606.12058 Figure 2 shows these landscapes; actions are our reconstruction,
    docs/theory/copyhead.md section 6.
    """
    own: Landscapes = job.own
    model = read_model(job.sections)
    linear_P, softmax_P = (np.asarray(P, dtype=np.float64) for P in (own.linear_P, own.softmax_P))
    c1 = np.linspace(-own.c1_max, own.c1_max, own.points)
    cG = np.linspace(-own.cG_max, own.cG_max, own.points)
    aG = np.linspace(-0.5 / (model.L - 1), 0.98, 4 * own.points)
    with count_steps(job, len(linear_P) + len(softmax_P)) as counter:
        action = reduce_linear_action(c1[:, None], cG, linear_P[:, None, None], model, "bare")
        linear = find_linear_minima(linear_P, model)
        advance(counter, len(linear_P))
        softmax_action = compute_softmax_action(aG, softmax_P[:, None], model)
        branches, saddle = find_softmax_minima(softmax_P, model)
        advance(counter, len(softmax_P))

    at, minimum, branch = ("linear_P",), ("linear_P", "state"), ("softmax_P", "branch")
    barrier = saddle[:, 1] - branches[:, 0, 1]
    return label_dataset(
        {
            "linear_action": ((*at, "c1", "cG"), action, "action above the trivial state", "nat"),
            "linear_c1": (minimum, linear[..., 0], "pooling order parameter c₁ of the minimum", "1"),
            "linear_cG": (minimum, linear[..., 1], "copy order parameter c_G of the minimum", "1"),
            "linear_minimum": (minimum, linear[..., 2], "action of the minimum", "nat"),
            "softmax_action": (("softmax_P", "aG"), softmax_action, "action above a_G = 0", "nat"),
            "softmax_aG": (branch, branches[..., 0], "copy order parameter a_G of the branch", "1"),
            "softmax_minimum": (branch, branches[..., 1], "action of the branch", "nat"),
            "softmax_saddle": (("softmax_P",), saddle[:, 0], "a_G of the unstable saddle", "1"),
            "softmax_barrier": (("softmax_P",), barrier, "barrier above the uniform branch", "nat"),
        },
        linear_P=linear_P,
        c1=c1,
        cG=cG,
        softmax_P=softmax_P,
        aG=aG,
        state=list(STATES),
        branch=list(BRANCHES),
    )
