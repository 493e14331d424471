"""The hard-margin solution of each problem, and which of the assumptions A1 to A4 its data satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.errors import OnsetError
from onset.papers.gmc.maxmargin.geometry import Array, Geometry, describe_geometry
from onset.papers.gmc.maxmargin.hard_margin import HardMargin, measure_hull_distance, solve_hard_margin
from onset.papers.gmc.maxmargin.layout import build_coordinates, read_problems, spread_rivals
from onset.papers.gmc.maxmargin.limit import find_slowest_rate, limit_residual

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.gmc import MaxMarginTheory

PER_SAMPLE = ("seed", "sample", "token")
VARIABLES = {
    "W_hat": (("seed", "row", "column"), "hard-margin solution", "1/token units²"),
    "norm": (("seed",), "norm of the hard-margin solution", "1/token units²"),
    "margin": (PER_SAMPLE, "margin of the hard-margin solution", "1"),
    "multiplier": (PER_SAMPLE, "multiplier of the hard-margin problem", "1/token units⁴"),
    "support": (PER_SAMPLE, "whether the rival is a support vector", "1"),
    "p_unit": (PER_SAMPLE, "limit of p times the root of the step, by theory", "1/token units³"),
    "h_limit": (PER_SAMPLE, "limit of h by theory", "token units²"),
    "rate": (("seed",), "slowest rate at which h approaches its limit, by theory", "1"),
    "A1_margin": (("seed",), "least margin of the hard-margin solution", "1"),
    "A2_rank": (("seed",), "rank of the vectors whose margins are 1", "1"),
    "A2_support": (("seed",), "number of vectors whose margins are 1", "1"),
    "A3_distance": (("seed", "sample"), "distance of the target to the hull of the others", "token units"),
    "A4_least": (("seed",), "least product of value differences in a support set", "token units²"),
    "A4_least_all": (("seed",), "least product of value differences of all rivals", "token units²"),
    "holds": (("assumption", "seed"), "whether the assumption holds", "1"),
}
ASSUMPTIONS = ("A1", "A2", "A3", "A4")


def find_support(multipliers: Array, tolerance: float) -> Array:
    """Which multipliers (...) count as positive: those above `tolerance` of the largest."""
    return multipliers > tolerance * multipliers.max()


def count_rank(vectors: Array, tolerance: float) -> int:
    """Rank of the rows of `vectors`, each at unit length; singular values below `tolerance` are 0."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return int((np.linalg.svd(unit, compute_uv=False) > tolerance).sum())


def list_products(value_gram: Array, support: Array) -> Iterator[Array]:
    """<d_s, d_t> within the support of each sample that has one: `value_gram` (n, R, R), `support` (n, R)."""
    for gram, kept in zip(value_gram, support, strict=True):
        if kept.any():
            yield gram[np.ix_(kept, kept)]


def describe_solution(
    geometry: Geometry, solution: HardMargin, match: Array, tolerance: float
) -> dict[str, Array]:
    """All VARIABLES of one seed, without their seed axis.

    A1: separable, least margin of W_hat 1.   A2: the x~ whose margins are 1 are linearly independent;
    `support` has those of them with positive multipliers, which are all unless data are degenerate.
    A3: e_(y+1) outside the hull of the other value tokens.   A4: <d_s, d_t> > 0; `holds` takes s, t in the
    support set, the paper's check, and A4_least_all is there for all s, t != y.
    Source: arXiv 2602.07562, section 4.
    """
    shape = geometry.keys.shape[:-1]
    multipliers = solution.multipliers.reshape(shape)
    support, gram = find_support(multipliers, tolerance), geometry.value_gram
    kept = np.where(support, multipliers, 0.0)
    h, x = (np.stack(found) for found in zip(*map(limit_residual, gram, kept), strict=True))
    distance = np.array([measure_hull_distance(values) for values in geometry.values])
    size = np.sqrt(np.abs(gram).max())
    tight = solution.margins <= 1.0 + tolerance
    rank = count_rank(geometry.margin_vectors[tight], tolerance)
    least = min(float(products.min()) for products in list_products(gram, support))
    holds = (
        solution.margins.min() >= 1.0 - 1e-9,
        rank == tight.sum(),
        distance.min() > tolerance * size,
        least > 0.0,
    )
    width = geometry.queries.shape[-1]
    return {
        "W_hat": solution.weights.reshape(width, width),
        "norm": np.linalg.norm(solution.weights),
        "margin": spread_rivals(solution.margins.reshape(shape), match),
        "multiplier": spread_rivals(multipliers, match),
        "support": spread_rivals(support, match),
        "p_unit": spread_rivals(x / np.sqrt(2.0), match),
        "h_limit": spread_rivals(h, match),
        "rate": find_slowest_rate(geometry.margin_gram, gram, kept, x),
        "A1_margin": solution.margins.min(),
        "A2_rank": np.int64(rank),
        "A2_support": np.int64(tight.sum()),
        "A3_distance": distance,
        "A4_least": np.float64(least),
        "A4_least_all": gram.min(),
        "holds": np.array(holds),
    }


def solve_problems(job: Job) -> xr.Dataset:
    """W_hat, its multipliers and support, the limits of h and p, and assumptions A1 to A4, for each seed.

    Input by role: `data` (maxmargin_data).  p at step size eta, the learning rate times the loss factor, is
    p_unit/sqrt(eta).  Raises OnsetError, naming the seed, where the data are not separable (A1).
    """
    own: MaxMarginTheory = job.own
    tokens, match = read_problems(job.inputs["data"])
    found = []
    for seed, e, y in zip(job.inputs["data"]["seed"].values, tokens, match, strict=True):
        geometry = describe_geometry(e, y)
        solution = solve_hard_margin(geometry.margin_vectors)
        if solution is None:
            raise OnsetError(
                f"{job.paper}/{job.name}: the data of seed {seed} are not separable, assumption A1 fails: no "
                "W_KQ scores every match above its rivals; leave the seed out of maxmargin_data.seeds, or "
                "lower maxmargin_task.n or T"
            )
        found.append(describe_solution(geometry, solution, y, own.tolerance))
    variables = {}
    for name, (dims, text, units) in VARIABLES.items():
        stacked = np.stack([one[name] for one in found], axis=dims.index("seed"))
        variables[name] = (dims, stacked, {"long_name": text, "units": units})
    assumption = xr.Variable("assumption", list(ASSUMPTIONS), {"long_name": "assumption", "units": "1"})
    coordinates = {**build_coordinates(job.inputs["data"]), "assumption": assumption}
    return xr.Dataset(variables, coords=coordinates)
