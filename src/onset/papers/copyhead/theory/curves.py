"""Theory curves of the copy task as Datasets: what the catalogue's theory experiments call."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from onset.papers.copyhead.theory.linear import find_overlaps, find_pooling_onset
from onset.papers.copyhead.theory.linear_means import integrate_means
from onset.papers.copyhead.theory.linear_saddles import Saddle, follow_metastable, minimise_action
from onset.papers.copyhead.theory.loss import predict_test_loss
from onset.papers.copyhead.theory.model import Form, Model, read_model
from onset.papers.copyhead.theory.saddle_curve import SaddleCurve
from onset.papers.copyhead.theory.softmax import find_softmax_overlaps, trace_saddles
from onset.papers.copyhead.theory.softmax_dressed import trace_dressed_saddles

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import LinearTheory, SoftmaxTheory, TheoryGrid

FORMS: tuple[Form, ...] = ("bare", "map", "dressed")
BRANCHES = ("uniform", "copy")

_COORDINATES = {
    "theory": "level of the theory",
    "branch": "branch of saddles",
    "P": "number of training sequences P",
    "P_finite": "number of training sequences P",
}


def _label(variables: dict[str, tuple[tuple[str, ...], Any, str, str]], **coordinates: Any) -> xr.Dataset:
    """A Dataset from name: (dimensions, values, long_name, units), with labelled coordinates."""
    dataset = xr.Dataset(
        {
            name: (dimensions, np.asarray(values, dtype=np.float64), {"long_name": title, "units": units})
            for name, (dimensions, values, title, units) in variables.items()
        },
        coords=coordinates,
    )
    for name in coordinates:
        dataset[name].attrs.update(long_name=_COORDINATES[name], units="1")
    return dataset


def _list_grid(own: TheoryGrid) -> np.ndarray:
    return np.linspace(own.P_min, own.P_max, own.P_points)


def _count(job: Job, total: int) -> Any:
    """A context whose value advances the job's progress, or one that does nothing."""
    return nullcontext() if job.reporter is None else job.reporter.steps(total, "P values")


def _advance(counter: Any, steps: int) -> None:
    if counter is not None:
        counter.advance(steps)


def _read_saddle(saddle: Saddle, P: float, model: Model, form: Form) -> tuple[float, float, float, float]:
    """c1, cG, action and test loss (of a posterior sample; of the maximum for "map") of a saddle."""
    c1, cG = saddle.z[:2]
    r, q = np.exp(saddle.z[2:]) if form == "dressed" else (0.0, 0.0)
    overlaps = find_overlaps(c1, cG, r, q, model.L)
    return c1, cG, saddle.action, predict_test_loss(overlaps, P, model, sampled=form != "map")


def solve_linear(job: Job) -> xr.Dataset:
    """Linear attention against P: global and metastable saddle of three theories, and finite-size means.

    `theory` is "bare" (read-out integrated), "map" (read-out at its maximum, for Adam) and "dressed"
    (noise of the attention included).  c1 >= 0; actions in nats above the trivial state's; test losses
    per position.  What does not exist is NaN.
    Source: arXiv 2606.12058 names the order parameters and S_lin; the rest is our reconstruction,
    docs/theory/copyhead.md.
    """
    own: LinearTheory = job.own
    model, P = read_model(job.sections), _list_grid(own)
    shape = (len(FORMS), len(P), 4)
    global_saddle, metastable = np.empty(shape), np.full(shape, np.nan)
    onset, metastable_from = np.empty(len(FORMS)), np.empty(len(FORMS))
    means = []
    with _count(job, 2 * len(FORMS) * len(P) + len(own.P)) as counter:
        for i, form in enumerate(FORMS):
            onset[i] = find_pooling_onset(model, form)
            for j, saddle in enumerate(minimise_action(P, model, form)):
                global_saddle[i, j] = _read_saddle(saddle, P[j], model, form)
            _advance(counter, len(P))
            second, metastable_from[i] = follow_metastable(P, model, form)
            for j, found in enumerate(second):
                if found is not None:
                    metastable[i, j] = _read_saddle(found, P[j], model, form)
            _advance(counter, len(P))
        for value in own.P:
            means.append(integrate_means(float(value), model, own.nodes))
            _advance(counter, 1)

    curve, per_theory, finite = ("theory", "P"), ("theory",), ("P_finite",)
    c1, cG, action, loss = np.moveaxis(global_saddle, -1, 0)
    return _label(
        {
            "c1": (curve, c1, "pooling order parameter c₁", "1"),
            "cG": (curve, cG, "copy order parameter c_G", "1"),
            "action": (curve, action, "action above the trivial state", "nat"),
            "test_loss": (curve, loss, "test loss per position", "1"),
            "c1_mean": (finite, [mean.c1 for mean in means], "finite-size mean of |c₁|", "1"),
            "cG_mean": (finite, [mean.cG for mean in means], "finite-size mean of c_G sign(c₁)", "1"),
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


def _read_curve(curve: SaddleCurve, P: np.ndarray, model: Model, form: Form) -> np.ndarray:
    """aG, action and test loss of both branches: (branch, P, 3), NaN where a branch does not exist."""
    values = np.full((len(BRANCHES), len(P), 3), np.nan)
    for j, value in enumerate(P):
        for b, parameter in enumerate(curve.find_branches(value)[:2]):
            aG, s2, action = (curve.read(name, parameter) for name in ("aG", "s2", "action"))
            overlaps = find_softmax_overlaps(s2, 1 + (model.L - 1) * aG, model.L)
            values[b, j] = aG, action, predict_test_loss(overlaps, value, model, sampled=form != "map")
    return values


def solve_softmax(job: Job) -> xr.Dataset:
    """Softmax attention against P: both branches, equilibrium, first-order point and spinodals.

    `theory` as in `solve_linear`; actions in nats above noiseless uniform attention's at the same P;
    test losses per position.  Transitions are found up to the largest P of the grid.  What does not
    exist is NaN.
    Source: arXiv 2606.12058 names S_softmax(aG; P) and the rule of the dominant saddle; the rest is our
    reconstruction, docs/theory/copyhead.md.
    """
    own: SoftmaxTheory = job.own
    model, P = read_model(job.sections), _list_grid(own)
    trace: dict[Form, Callable[[], SaddleCurve]] = {
        "bare": lambda: trace_saddles(model, own.P_max, own.scan, "bare"),
        "map": lambda: trace_saddles(model, own.P_max, own.scan, "map"),
        "dressed": lambda: trace_dressed_saddles(model, own.P_max, own.scan, own.bins),
    }
    values, transitions = [], []
    with _count(job, len(FORMS) * len(P)) as counter:
        for form in FORMS:
            curve = trace[form]()
            values.append(_read_curve(curve, P, model, form))
            transitions.append(curve.find_transition())
            _advance(counter, len(P))

    aG, action, loss = np.moveaxis(np.stack(values), -1, 0)
    lowest = np.where(np.isnan(action), np.inf, action).argmin(axis=1)[:, None]
    equilibrium = np.take_along_axis(aG, lowest, axis=1)[:, 0]
    branches, per_theory = ("theory", "branch", "P"), ("theory",)
    return _label(
        {
            "aG": (branches, aG, "copy order parameter a_G", "1"),
            "action": (branches, action, "action above uniform attention", "nat"),
            "test_loss": (branches, loss, "test loss per position", "1"),
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
