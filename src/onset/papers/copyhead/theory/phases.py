"""Phase diagram: transitions against the logit variance, the read-out's variance and the length."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.papers.copyhead.theory.datasets import Variables, advance, count_steps, label_dataset
from onset.papers.copyhead.theory.linear_saddles import minimise_action
from onset.papers.copyhead.theory.model import Form, Model, read_model
from onset.papers.copyhead.theory.onset import locate_onset
from onset.papers.copyhead.theory.softmax_curves import trace_curve

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import PhaseDiagram

LEVELS: tuple[Form, ...] = ("bare", "dressed")

GRID_STEP = 5.0
"""Spacing in P of the saddles among which an onset at finite width is sought."""

QUANTITIES = {
    "P_c": ("first-order point P_c of softmax attention", "sequences"),
    "P_lower": ("lower spinodal of softmax attention", "sequences"),
    "P_upper": ("upper spinodal of softmax attention", "sequences"),
    "jump": ("jump of a_G at P_c", "1"),
    "barrier": ("action barrier at P_c", "nat"),
    "onset": ("pooling onset of linear attention", "sequences"),
}


def summarise_transitions(model: Model, form: Form, P_max: float, scan: int, bins: int) -> list[float]:
    """The quantities of `QUANTITIES`, in that order, NaN where there is no transition up to P_max."""
    curve = trace_curve(model, form, P_max, scan, bins)
    found = curve.find_transition()
    uniform, copy = found.aG_at_P_c
    # Only at finite width does the onset depend on the ordered states.
    grid = np.arange(GRID_STEP, P_max + GRID_STEP, GRID_STEP) if model.finite_width else np.empty(0)
    saddles = minimise_action(grid, model, form) if model.finite_width else []
    onset = locate_onset(grid, saddles, model, form)
    return [found.P_c, found.P_lower, found.P_upper, copy - uniform, found.barrier, onset]


def solve_phases(job: Job) -> xr.Dataset:
    """Transitions of both attention kinds along v, g_OV and L, each with the others at their own values.

    For X in v, g_OV, L: P_c_X, P_lower_X, P_upper_X, jump_X (aG of the copy branch less that of the
    uniform one at P_c), barrier_X and onset_X (linear pooling), of the bare and the dressed theory.
    NaN: no first-order transition up to P_max.
    Source: reconstruction, docs/theory/copyhead.md sections 6 to 8.
    """
    own: PhaseDiagram = job.own
    base = read_model(job.sections)
    axes: dict[str, list[Model]] = {
        "v": [replace(base, v=value) for value in own.v],
        "g_OV": [replace(base, g=value) for value in own.g_OV],
        "L": [replace(base, L=value) for value in own.L],
    }

    @cache  # the axes cross at the base model
    def summarise(model: Model, form: Form) -> list[float]:
        return summarise_transitions(model, form, own.P_max, own.scan, own.bins)

    variables: Variables = {}
    with count_steps(job, len(LEVELS) * sum(map(len, axes.values())), "models") as counter:
        for axis, models in axes.items():
            values = np.empty((len(LEVELS), len(models), len(QUANTITIES)))
            for i, form in enumerate(LEVELS):
                for j, model in enumerate(models):
                    values[i, j] = summarise(model, form)
                    advance(counter)
            for k, (name, (title, units)) in enumerate(QUANTITIES.items()):
                variables[f"{name}_{axis}"] = (("theory", axis), values[..., k], title, units)
    return label_dataset(variables, theory=list(LEVELS), v=list(own.v), g_OV=list(own.g_OV), L=list(own.L))
