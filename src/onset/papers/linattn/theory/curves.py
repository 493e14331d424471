"""Numbers of the theory for every task, as one Dataset: what the catalogue's theory experiment calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from onset.papers.linattn.spectrum import list_eigenvalues
from onset.papers.linattn.theory.fixed_points import (
    compute_head_values,
    compute_optimal_map,
    compute_plateau_losses,
)
from onset.papers.linattn.theory.labels import Variable, label_dataset
from onset.papers.linattn.theory.landscape import (
    Array,
    Scaling,
    compute_excess_factors,
    describe_next_token_loss,
    describe_query_loss,
)
from onset.papers.linattn.theory.merged import (
    compare_direction,
    compute_early_direction,
    compute_growth_rate,
    compute_late_direction,
)
from onset.papers.linattn.theory.mixture import (
    compute_in_weight_floor,
    predict_in_context_end,
    predict_in_weight_end,
)
from onset.papers.linattn.theory.regression import estimate_regression_distance
from onset.papers.linattn.theory.sampling import estimate_population

if TYPE_CHECKING:
    from onset.job.context import Job

LARGEST_SAMPLED = 8
"""Tasks of more dimensions have no Monte Carlo estimates: they would cost more than all others together."""

CONTEXT_FACTORS = (1, 4, 16)
"""Multiples of the context length at which the distance to principal component regression is estimated."""

_PER_DIRECTION = {
    "eigenvalue": ("eigenvalue λ_d of the input covariance", "1"),
    "squared_eigenvalue": ("eigenvalue a_d of the mean squared empirical covariance", "1"),
    "c_factor": ("excess c_d = a_d/λ_d²", "1"),
    "late_map": ("optimal map λ_d/a_d", "1"),
    "early_map": ("direction before the drop, λ_d² over its norm", "1"),
    "value": ("value v*_d of a head that carries direction d", "1"),
    "next_token_map": ("optimal map of the next-token loss", "1"),
    "next_token_value": ("value of a head that carries direction d, next-token loss", "1"),
    "squared_eigenvalue_sampled": ("Monte Carlo estimate of a_d", "1"),
}
_PER_PLATEAU = {
    "plateau_loss": ("loss on the plateau with m directions learned", "1"),
    "next_token_plateau_loss": ("next-token loss on the plateau with m directions learned", "1"),
    "plateau_loss_sampled": ("Monte Carlo estimate of the loss on the plateau", "1"),
}
_PER_TASK = {
    "growth_rate": ("growth rate of merged attention from a small start", "1/τ"),
    "early_late_cosine": ("cosine between the directions before and after the drop", "1"),
    "in_weight_floor": ("in-weight loss after the drop at share 0 of in-context sequences", "1"),
    "in_weight_least": ("least in-weight loss at share 0, long after the drop", "1"),
    "in_weight_in_context_loss": ("in-context loss after the drop at share 0", "1"),
    "in_context_in_weight_loss": ("in-weight loss of an in-context learner, share 1", "1"),
}


def _pad(rows: list[Array], length: int) -> Array:
    return np.stack([np.pad(row, (0, length - len(row)), constant_values=np.nan) for row in rows])


def _solve_task(lam: Array, context: int, scaling: Scaling, draws: int, generator) -> dict[str, Any]:
    """All numbers of one task: vectors (D,) and (D + 1,), and scalars."""
    query = describe_query_loss(lam, context)
    token = describe_next_token_loss(lam, context, scaling)
    D, w_fixed = len(lam), np.ones(len(lam))  # |w_fixed|^2 = D; w^T Lambda w = T, its mean over directions
    in_weight = predict_in_weight_end(w_fixed, query, context)
    numbers: dict[str, Any] = {
        "eigenvalue": lam,
        "squared_eigenvalue": query.a,
        "c_factor": compute_excess_factors(lam, context),
        "late_map": np.diag(compute_optimal_map(query)),
        "early_map": np.diag(compute_early_direction(query)),
        "value": compute_head_values(query),
        "next_token_map": np.diag(compute_optimal_map(token)),
        "next_token_value": compute_head_values(token),
        "plateau_loss": compute_plateau_losses(query),
        "next_token_plateau_loss": compute_plateau_losses(token),
        "growth_rate": compute_growth_rate(query),
        "early_late_cosine": float(
            compare_direction(compute_early_direction(query), compute_late_direction(query))
        ),
        "in_weight_floor": in_weight.in_weight,
        "in_weight_least": compute_in_weight_floor(w_fixed, query, context),
        "in_weight_in_context_loss": in_weight.in_context,
        "in_context_in_weight_loss": predict_in_context_end(w_fixed, query, context).in_weight,
        "squared_eigenvalue_sampled": np.full(D, np.nan),
        "plateau_loss_sampled": np.full(D + 1, np.nan),
        "regression_distance": np.full((len(CONTEXT_FACTORS), D), np.nan),
    }
    if draws and D <= LARGEST_SAMPLED:
        sampled = estimate_population(lam, context, draws, generator)
        numbers["squared_eigenvalue_sampled"], numbers["plateau_loss_sampled"] = sampled
        numbers["regression_distance"] = np.stack(
            [
                estimate_regression_distance(lam, factor * context, min(draws, 2000), generator)
                for factor in CONTEXT_FACTORS
            ]
        )
    return numbers


def solve_theory(job: Job) -> xr.Dataset:
    """Plateaus, maps, head values, rates and mixture ends of every task that the entry reads.

    Dimensions task, direction (decreasing eigenvalues), plateau (m = 0..D) and factor; NaN beyond a
    task's own dimension.  Where `own.draws` is above 0, tasks of up to 8 dimensions also have Monte Carlo
    estimates.
    Source: arXiv 2501.16265, Eq. 19-23; derivations and what is ours in docs/theory/linattn.md.
    """
    tasks = [name for name in job.sections if name.endswith("_task")]
    spectra = [np.asarray(list_eigenvalues(job.sections[name]), dtype=np.float64) for name in tasks]
    contexts = [job.sections[name].N for name in tasks]
    scaling = job.sections["next_token"].scaling
    found = []
    for i, (lam, context) in enumerate(zip(spectra, contexts, strict=True)):
        generator = job.streams.generator(f"sequences of {tasks[i]}")
        found.append(_solve_task(lam, context, scaling, job.own.draws, generator))
    widest = max(len(lam) for lam in spectra)

    variables: dict[str, Variable] = {}
    for name, (title, units) in _PER_DIRECTION.items():
        values = _pad([numbers[name] for numbers in found], widest)
        variables[name] = (("task", "direction"), values, title, units)
    for name, (title, units) in _PER_PLATEAU.items():
        values = _pad([numbers[name] for numbers in found], widest + 1)
        variables[name] = (("task", "plateau"), values, title, units)
    for name, (title, units) in _PER_TASK.items():
        variables[name] = (("task",), [numbers[name] for numbers in found], title, units)
    distance = np.full((len(tasks), len(CONTEXT_FACTORS), widest), np.nan)
    for i, numbers in enumerate(found):
        distance[i, :, : len(spectra[i])] = numbers["regression_distance"]
    variables["regression_distance"] = (
        ("task", "factor", "direction"),
        distance,
        "relative squared difference to regression on m = direction + 1 principal components",
        "1",
    )
    coordinates = {
        "task": (("task",), tasks, "task", "1"),
        "direction": (("direction",), np.arange(widest), "eigenvector of the input covariance", "1"),
        "plateau": (("plateau",), np.arange(widest + 1), "directions learned m", "1"),
        "factor": (("factor",), list(CONTEXT_FACTORS), "context length over the task's own", "1"),
        "dimension": (("task",), [len(lam) for lam in spectra], "input dimension D", "1"),
        "context": (("task",), contexts, "context length N", "1"),
    }
    return label_dataset(variables, coordinates)
