"""Theory results as labelled Datasets, and the progress that their jobs report."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from onset.papers.copyhead.theory.linear import find_overlaps
from onset.papers.copyhead.theory.linear_saddles import Saddle
from onset.papers.copyhead.theory.loss import predict_test_loss
from onset.papers.copyhead.theory.model import Form, Model
from onset.papers.copyhead.theory.saddle_curve import SaddleCurve
from onset.papers.copyhead.theory.softmax import find_softmax_overlaps

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.copyhead import TheoryGrid

Array = NDArray[np.float64]

FORMS: tuple[Form, ...] = ("bare", "map", "dressed")
BRANCHES = ("uniform", "copy")

COORDINATES = {
    "theory": "level of the theory",
    "branch": "branch of saddles",
    "state": "minimum of the action",
    "P": "number of training sequences P",
    "P_finite": "number of training sequences P",
    "linear_P": "number of training sequences P, linear attention",
    "softmax_P": "number of training sequences P, softmax attention",
    "c1": "pooling order parameter c₁",
    "cG": "copy order parameter c_G",
    "aG": "copy order parameter a_G",
    "d_k": "width of queries and keys",
    "v": "logit variance v",
    "g_OV": "variance of the output-value weights times V",
    "L": "sequence length",
}

Variables = dict[str, tuple[tuple[str, ...], Any, str, str]]


def label_dataset(variables: Variables, **coordinates: Any) -> xr.Dataset:
    """A float64 Dataset from name: (dimensions, values, long_name, units), with labelled coordinates."""
    dataset = xr.Dataset(
        {
            name: (dimensions, np.asarray(values, dtype=np.float64), {"long_name": title, "units": units})
            for name, (dimensions, values, title, units) in variables.items()
        },
        coords=coordinates,
    )
    for name in coordinates:
        dataset[name].attrs.update(long_name=COORDINATES[name], units="1")
    return dataset


def list_grid(own: TheoryGrid) -> Array:
    """The evenly spaced P of a section's curves."""
    return np.linspace(own.P_min, own.P_max, own.P_points)


def count_steps(job: Job, total: int, unit: str = "P values") -> Any:
    """A context whose value advances the job's progress, or one that does nothing."""
    return nullcontext() if job.reporter is None else job.reporter.steps(total, unit)


def advance(counter: Any, steps: int = 1) -> None:
    """Report `steps` more steps, where progress is reported."""
    if counter is not None:
        counter.advance(steps)


def read_saddle(saddle: Saddle, P: float, model: Model, form: Form) -> tuple[float, ...]:
    """c1, cG, action, test loss (of a posterior sample; of the maximum for "map") and coverage of a saddle.

    Coverage is the share of |A| in the plane of the two order parameters, sqrt((c1² + (L-1) cG²)/s2);
    1 without noise.
    """
    c1, cG = saddle.z[:2]
    r, q = np.exp(saddle.z[2:]) if form == "dressed" else (0.0, 0.0)
    overlaps = find_overlaps(c1, cG, r, q, model.L)
    coverage = 1.0 if form != "dressed" else np.sqrt(1 - (r + q) / overlaps.s2)
    loss = predict_test_loss(overlaps, P, model, sampled=form != "map")
    return c1, cG, saddle.action, loss, coverage


def read_curve(curve: SaddleCurve, P: Array, model: Model, form: Form) -> Array:
    """aG, action, test loss and coverage of both branches: (branch, P, 4), NaN where one does not exist."""
    values = np.full((len(BRANCHES), len(P), 4), np.nan)
    for j, value in enumerate(P):
        for b, parameter in enumerate(curve.find_branches(value)[:2]):
            aG, s2, action = (curve.read(name, parameter) for name in ("aG", "s2", "action"))
            overlaps = find_softmax_overlaps(s2, 1 + (model.L - 1) * aG, model.L)
            loss = predict_test_loss(overlaps, value, model, sampled=form != "map")
            values[b, j] = aG, action, loss, np.sqrt((1 + (model.L - 1) * aG**2) / s2)
    return values
