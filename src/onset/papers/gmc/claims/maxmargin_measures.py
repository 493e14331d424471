"""Measures of figures 10 to 13, over the seeds on whose data assumptions A1 to A4 hold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.claims.seeds import median_interval
from onset.papers.gmc.maxmargin.selection import list_valid, list_with_tail
from onset.store.attributes import parameters_of

Inputs = Mapping[str, xr.Dataset]

NONE_VALID = Measured(None, undecided="A1 to A4 hold on the data of no seed")


def take_valid(inputs: Inputs) -> xr.Dataset:
    """The runs of the seeds on whose data A1 to A4 hold."""
    return inputs["descent"].sel(seed=list_valid(inputs["theory"]))


def tell(values: xr.DataArray, digits: int = 3) -> str:
    """Range of a number for each seed (seed,), with the seeds at its ends."""
    low, high = values.idxmin("seed").item(), values.idxmax("seed").item()
    if np.isnan(low):
        return f"not a number on all of {values.sizes['seed']} seeds"
    at = values.sel(seed=[low, high]).values
    ends = [f"{value:.{digits}g} (seed {seed:.0f})" for value, seed in zip(at, (low, high), strict=True)]
    return f"{' to '.join(ends)}, {values.sizes['seed']} seeds"


def take_median(values: xr.DataArray, digits: int = 3) -> Measured:
    """Median over seeds; a seed whose number does not exist counts as the worst: not a number."""
    if not values.sizes["seed"]:
        return NONE_VALID
    finite = values.values[np.isfinite(values.values)]
    spread = median_interval(finite) if len(finite) == values.sizes["seed"] else None
    return Measured(float(values.median("seed", skipna=False)), tell(values, digits), spread=spread)


def take_largest(values: xr.DataArray) -> Measured:
    """Largest over seeds; not a number where it does not exist for one."""
    if not values.sizes["seed"]:
        return NONE_VALID
    return Measured(float(values.max("seed", skipna=False)), tell(values))


def at_decades(curves: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Values at the last iteration N, and at the records nearest to N/10 and N/100."""
    last = int(curves["iteration"][-1])
    near = [curves.sel(iteration=last / 10**k, method="nearest", drop=True) for k in range(3)]
    return near[0], near[1], near[2]


def measure_power(curves: xr.DataArray) -> xr.DataArray:
    """Slope in the last decade of the logarithm of a curve in log tau."""
    at = curves["iteration"].values
    last, tenth, _ = at_decades(curves)
    return np.log(last / tenth) / np.log(at[-1] / at[np.abs(at - at[-1] / 10).argmin()])


def find_least_margin(theory: xr.Dataset) -> xr.DataArray:
    """Least margin of W_hat off the support (seed,); NaN where every rival is a support vector."""
    return theory["margin"].where(~theory["support"]).min(("sample", "token"))


def count_valid(inputs: Inputs) -> Measured:
    """Number of seeds on whose data A1 to A4 hold."""
    theory = inputs["theory"]
    failing = (~theory["holds"]).sum("seed")
    detail = ", ".join(
        f"{name} fails on {int(failing.sel(assumption=name))}" for name in theory["assumption"].values
    )
    return Measured(float(len(list_valid(theory))), f"of {theory.sizes['seed']} seeds; {detail}")


def final_cosine(inputs: Inputs) -> Measured:
    """Cosine of W_KQ with W_hat after the last iteration."""
    return take_median(take_valid(inputs)["cosine"].isel(iteration=-1), digits=4)


def turning(inputs: Inputs) -> Measured:
    """1 - cosine at the end, over that a decade before."""
    last, tenth, _ = at_decades(1 - take_valid(inputs)["cosine"])
    return take_largest(last / tenth)


def growth(inputs: Inputs) -> Measured:
    """Slope of |W| in log tau over |W_hat|/2."""
    return take_median(take_valid(inputs)["growth_ratio"])


def loss_decay(inputs: Inputs) -> Measured:
    """Factor by which the loss falls in the last decade."""
    return take_median(take_valid(inputs)["loss_per_decade"])


def loss_rises(inputs: Inputs) -> Measured:
    """Iterations at which the loss rose, over all valid seeds."""
    runs = take_valid(inputs)
    return Measured(float(runs["rises"].sum()), tell(runs["rises"])) if runs.sizes["seed"] else NONE_VALID


def gradient_power(inputs: Inputs) -> Measured:
    """Slope of log grad² in log tau, last decade."""
    return take_median(take_valid(inputs)["gradient2_slope"], digits=4)


def gradient_level(inputs: Inputs) -> Measured:
    """|grad| 2 tau lr/|W_hat| at the end, 1 by theory."""
    runs, given = take_valid(inputs), parameters_of(inputs["descent"]).get("own", {})
    if "learning_rate" not in given:
        return Measured(None, undecided="the learning rate is not among the result's parameters")
    norm = inputs["theory"]["norm"].sel(seed=runs["seed"])
    last = int(runs["iteration"][-1])
    gradient = np.sqrt(runs["gradient2"].isel(iteration=-1, drop=True))
    return take_median(gradient * 2 * last * given["learning_rate"] / norm, digits=4)


def increment_ratio(inputs: Inputs) -> Measured:
    """What the last doubling adds to the sum of grad², over what the one before added."""
    increments = take_valid(inputs)["gradient2_increment"]
    return take_median(increments.isel(doubling=-1) / increments.isel(doubling=-2))


def late_share(inputs: Inputs) -> Measured:
    """Share of the last decade in the cumulative squared gradient."""
    last, tenth, _ = at_decades(take_valid(inputs)["gradient2_sum"])
    return take_largest((last - tenth) / last)


def h_late_share(inputs: Inputs) -> Measured:
    """Share of the last decade in the partial sums of |h - h_inf|/tau, h_inf the late mean."""
    last, tenth, _ = at_decades(take_valid(inputs)["h_deviation_sum"])
    return take_largest((last - tenth) / last)


def h_approach(inputs: Inputs) -> Measured:
    """Deviation of h from its limit by theory at the end, over that a decade before."""
    last, tenth, _ = at_decades(take_valid(inputs)["limit_deviation_max"])
    return take_largest(last / tenth)


def h_rate(inputs: Inputs) -> Measured:
    """Power with which h approached its limit in the last decade, over the slowest that theory has.

    That is the slower of the modes of the support and of the forcing by rivals off it.
    """
    deviation = take_valid(inputs)["limit_deviation_max"]
    theory = inputs["theory"].sel(seed=deviation["seed"])
    forcing = (find_least_margin(theory) - 1) / 2
    slowest = np.fmin(theory["rate"], forcing)
    return take_median(-measure_power(deviation) / slowest)


def h_sum_decades(inputs: Inputs) -> Measured:
    """What the last decade adds to the sum of |h - limit|/tau, over what the decade before added."""
    last, tenth, hundredth = at_decades(take_valid(inputs)["limit_deviation_sum"])
    return take_largest((last - tenth) / (tenth - hundredth))


NO_PAIRS = Measured(None, absent="no sample has two support vectors")


def _largest_shares(inputs: Inputs, first: float) -> xr.DataArray:
    """Largest misaligned share from a share of the iterations on (seed,), of seeds that have pairs."""
    share = take_valid(inputs)["misaligned_share"]
    late = share.sel(iteration=slice(first * int(share["iteration"][-1]), None))
    return late.max("iteration").dropna("seed")


def misaligned_late(inputs: Inputs) -> Measured:
    """Median over seeds of the largest misaligned share in the last decade."""
    if not len(list_valid(inputs["theory"])):
        return NONE_VALID
    shares = _largest_shares(inputs, 0.1)
    return take_median(shares) if shares.sizes["seed"] else NO_PAIRS


def misaligned_ever(inputs: Inputs) -> Measured:
    """Largest misaligned share of all records and seeds."""
    if not len(list_valid(inputs["theory"])):
        return NONE_VALID
    shares = _largest_shares(inputs, 0.0)
    return take_largest(shares) if shares.sizes["seed"] else NO_PAIRS


def _take_tailed(inputs: Inputs) -> xr.Dataset:
    told = set(list_with_tail(inputs["theory"]).tolist())
    runs = take_valid(inputs)
    return runs.sel(seed=[seed for seed in runs["seed"].values if int(seed) in told])


ALL_SUPPORT = Measured(None, absent="every rival is a support vector on all seeds where A1 to A4 hold")


def tail_power(inputs: Inputs) -> Measured:
    """Largest slope of log g in log tau over the last decade."""
    runs = _take_tailed(inputs)
    return take_largest(measure_power(runs["tail_proxy"])) if runs.sizes["seed"] else ALL_SUPPORT


def tail_rises(inputs: Inputs) -> Measured:
    """Records of the last two decades at which g is above the record before, over all seeds."""
    runs = _take_tailed(inputs)
    if not runs.sizes["seed"]:
        return ALL_SUPPORT
    proxy = runs["tail_proxy"].sel(iteration=slice(int(runs["iteration"][-1]) / 100, None))
    rises = (proxy.diff("iteration") > 0).sum("iteration")
    return Measured(float(rises.sum()), tell(rises))


def tail_power_ratio(inputs: Inputs) -> Measured:
    """Slope of g over that which the margins off the support predict, (1 - least of them)/2."""
    runs = _take_tailed(inputs)
    if not runs.sizes["seed"]:
        return ALL_SUPPORT
    least = find_least_margin(inputs["theory"].sel(seed=runs["seed"]))
    return take_median(measure_power(runs["tail_proxy"]) / ((1 - least) / 2))
