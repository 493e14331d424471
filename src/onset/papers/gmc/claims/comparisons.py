"""Theory against experiment: levels of the loss, scores and their baselines, laws of gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import xarray as xr

from onset.claims.theory import Comparison, Point
from onset.measures.emergence import drop_start, progress_at
from onset.papers.gmc.claims.drop_measures import drop_of
from onset.papers.gmc.claims.maxmargin_measures import (
    find_least_margin,
    measure_power,
    take_valid,
)
from onset.papers.gmc.claims.measures import Inputs, emergence_of, final_best, first_best
from onset.papers.gmc.maxmargin.selection import list_with_tail
from onset.papers.gmc.selection import NAMES, count_repeated, random_scores, take_levels
from onset.store.attributes import parameters_of

Points = Iterator[Point]


def compare_floors(inputs: Inputs, roles: tuple[str, ...] = ("runs",)) -> Points:
    """Final loss on all test sequences against the Bayes predictor's on the same ones."""
    for role in roles:
        levels = take_levels(inputs["floors"], role, "all")
        yield Point(role, levels.bayes_loss, inputs[role].final_loss)


def compare_uniform(inputs: Inputs) -> Points:
    """Loss where the drop begins against that of the average of all candidates' successors."""
    runs, levels = inputs["runs"], take_levels(inputs["floors"], "runs")
    begin = drop_start(drop_of(inputs, "runs")).where(np.isfinite(emergence_of(inputs, "runs")))
    found = progress_at(runs.test_loss.astype(np.float64), begin)
    yield Point("begin of the drop", levels.uniform_loss, found)


def compare_match(inputs: Inputs) -> Points:
    """IH-MC of the best head at the end against the mean posterior weight of the match."""
    levels = take_levels(inputs["floors"], "runs", "all")
    yield Point("end of training", levels.match_weight, final_best(inputs["runs"], "IH_MC"))


def compare_baselines(inputs: Inputs) -> Points:
    """Scores before training against those of even attention."""
    runs, levels = inputs["runs"], take_levels(inputs["floors"], "runs")
    expected = random_scores(int(levels["T"]), count_repeated(runs))
    found = first_best(runs)
    for name, value in expected.items():
        yield Point(NAMES[name], value, found[NAMES[name]])


def compare_norm(inputs: Inputs) -> Points:
    """Slope of |W_KQ| in log tau in the last decade against half the hard-margin norm of each seed's data."""
    runs = take_valid(inputs)
    half = inputs["theory"]["norm"].sel(seed=runs["seed"]) / 2
    yield Point("last decade", half, runs["growth_ratio"] * half)


def compare_cosine(inputs: Inputs) -> Points:
    """Cosine of W_KQ with the hard-margin solution at the end against its limit."""
    yield Point("end", 1.0, take_valid(inputs)["cosine"].isel(iteration=-1))


def compare_law(inputs: Inputs, name: str, expected: float) -> Points:
    """A number of each seed's last decade against the law's."""
    yield Point("last decade", expected, take_valid(inputs)[name])


def compare_gradient(inputs: Inputs) -> Points:
    """Norm of the gradient at the end against |W_hat|/(2 tau) over the learning rate."""
    runs, given = take_valid(inputs), parameters_of(inputs["descent"]).get("own", {})
    if "learning_rate" in given:
        norm, last = inputs["theory"]["norm"].sel(seed=runs["seed"]), int(runs["iteration"][-1])
        gradient = np.sqrt(runs["gradient2"].isel(iteration=-1, drop=True))
        yield Point("end", norm / (2 * last * given["learning_rate"]), gradient)


def compare_doublings(inputs: Inputs) -> Points:
    """What the last doubling of tau adds to the sum of grad², over the one before, against ½."""
    increments = take_valid(inputs)["gradient2_increment"]
    yield Point("last doubling", 0.5, increments.isel(doubling=-1) / increments.isel(doubling=-2))


def compare_h(inputs: Inputs) -> Points:
    """h of the support vectors over the last iterations against its limit, mean over each seed's own."""
    runs, dims = take_valid(inputs), ("sample", "token")
    theory = inputs["theory"].sel(seed=runs["seed"])
    limit = theory["h_limit"].where(theory["support"])
    found = runs["h"].isel(iteration=-1).where(limit.notnull())
    yield Point("end, mean over support vectors", limit.mean(dims), found.mean(dims))


def compare_h_rate(inputs: Inputs) -> Points:
    """Power of tau with which h approaches its limit against the slowest mode of each seed's data."""
    deviation = take_valid(inputs)["limit_deviation_max"]
    theory = inputs["theory"].sel(seed=deviation["seed"])
    slowest = np.fmin(theory["rate"], (find_least_margin(theory) - 1) / 2)
    yield Point("last decade", -slowest, measure_power(deviation))


def compare_tail(inputs: Inputs) -> Points:
    """Power of tau of the weight off the support against (1 - least margin off it)/2."""
    told = set(list_with_tail(inputs["theory"]).tolist())
    runs: xr.Dataset = take_valid(inputs)
    runs = runs.sel(seed=[seed for seed in runs["seed"].values if int(seed) in told])
    if runs.sizes["seed"]:
        least = find_least_margin(inputs["theory"].sel(seed=runs["seed"]))
        yield Point("last decade", (1 - least) / 2, measure_power(runs["tail_proxy"]))


BAYES = "final loss, Bayes floor"
FIG2 = (
    Comparison(BAYES, compare_floors),
    Comparison("loss where it begins to drop, uniform average", compare_uniform),
    Comparison("IH-MC of the best head, mean posterior weight of the match", compare_match),
    Comparison("score of the best head before training, even attention", compare_baselines),
)
FIG5 = (Comparison(BAYES, partial(compare_floors, roles=("base", "gpt2", "close", "loose", "long", "wide"))),)
FIG10 = (
    Comparison("slope of |W_KQ| in log tau, half the hard-margin norm", compare_norm),
    Comparison("cosine of W_KQ with the hard-margin solution", compare_cosine),
    Comparison("fall of the loss in a decade", partial(compare_law, name="loss_per_decade", expected=10.0)),
)
FIG11 = (
    Comparison("power of tau of grad²", partial(compare_law, name="gradient2_slope", expected=-2.0)),
    Comparison("norm of the gradient, |W_hat|/(2 tau lr)", compare_gradient),
    Comparison("increment of the sum of grad² over the one before", compare_doublings),
)
FIG12 = (
    Comparison("h, its limit by the data", compare_h),
    Comparison("power of tau of the distance of h from its limit", compare_h_rate),
)
FIG13 = (Comparison("power of tau of the weight off the support", compare_tail),)
