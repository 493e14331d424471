"""Measures of figure 6: the full flow from many starts, the coupled flow, and the escape from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.sparse.flows.coupled import bound_value, predict_late_loss
from onset.papers.sparse.flows.features import Features

Inputs = Mapping[str, xr.Dataset]


def tell_range(values: xr.DataArray) -> str:
    """Least, median and largest of a number for each start."""
    finite = values.values[np.isfinite(values.values)]
    if not len(finite):
        return f"no number on any of {values.size} starts"
    low, middle, high = np.quantile(finite, [0, 0.5, 1])
    lacking = f", none on {values.size - len(finite)}" if len(finite) < values.size else ""
    return f"{low:.3g} to {high:.3g}, median {middle:.3g}, {values.size} starts{lacking}"


def count_starts(bad: xr.DataArray, what: str) -> Measured:
    """The number of starts (run, seed) for which something is so, named where there are any."""
    named = bad.stack(start=("run", "seed"))
    found = [f"{run} {seed}" for run, seed in named["start"].values[named.values]]
    where = f"; {what}: {', '.join(found)}" if found else ""
    return Measured(float(len(found)), f"of {bad.size} starts{where}")


def iterate_starts(flow: xr.Dataset) -> Iterator[xr.Dataset]:
    """The runs of the full flow, one start after the other."""
    for run in flow["run"].values:
        for seed in flow["seed"].values:
            yield flow.sel(run=run, seed=seed)


def read_sizes(sweep: xr.Dataset, ideal: xr.Dataset) -> tuple[np.ndarray, int]:
    """Strengths (h,) and number of heads."""
    return ideal["strength"].values, sweep.sizes["head"]


def loss_rise(inputs: Inputs) -> Measured:
    """Largest change of the loss from one record to the next, over both ways of integration."""
    rises = {role: float(inputs[role]["loss"].diff("time").max()) for role in ("flow", "sweep")}
    return Measured(max(rises.values()), ", ".join(f"{role}: {rise:.2g}" for role, rise in rises.items()))


def plateau_distance(inputs: Inputs) -> Measured:
    """Relative distance of the loss from its plateau where a stage begins, median over starts, worst stage.

    Not a number where a start does not reach every stage.
    """
    flow = inputs["flow"]
    left = 0.5 * np.cumsum(flow["strength"].values[::-1] ** 2)[::-1][1:]
    off = [
        abs(one["loss"].interp(time=one["boundary"].values).values / left - 1) for one in iterate_starts(flow)
    ]
    distance = np.median(off, axis=0)
    parts = [
        f"stage {int(n)}: {100 * float(value):.2g} % from {level:.4g}"
        for n, value, level in zip(flow["stage"].values, distance, left, strict=True)
    ]
    return Measured(float(distance.max()), "; ".join(parts))


def final_loss(inputs: Inputs) -> Measured:
    """Largest loss at the end over that at V = 0."""
    loss = inputs["flow"]["loss"]
    share = (loss.isel(time=-1) / loss.isel(time=0)).drop_vars("time", errors="ignore")
    return Measured(float(share.max()), f"{tell_range(share)}, at t = {float(loss['time'][-1]):g}")


def out_of_order(inputs: Inputs) -> Measured:
    """Number of starts whose half-times do not increase from feature to feature."""
    half = inputs["sweep"]["half_time"]
    ordered = (half.diff("feature") > 0).all("feature") & half.notnull().all("feature")
    counted = count_starts(~ordered, "not in order or not finished")
    parts = [f"feature {int(j)}: {tell_range(half.sel(feature=j))}" for j in half["feature"].values]
    return Measured(counted.value, f"{counted.detail}; half-times, {'; '.join(parts)}")


def first_lead(inputs: Inputs) -> Measured:
    """Least ratio of a head's attention on position 1 to that on another, when feature 1 is half learned."""
    flow = inputs["flow"]
    found = []
    for one in iterate_starts(flow):
        s = one["s"].interp(time=float(one["half_time"][0]))
        others = s.isel(position=slice(1, None)).max("position")
        found.append(float((s.isel(position=0) / others).min("head", skipna=False)))
    leads = xr.DataArray(found, dims="start")
    return Measured(float(leads.min(skipna=False)), tell_range(leads))


def shallowest_dip(inputs: Inputs) -> Measured:
    """Lowest value along features 2.. of any head, the shallowest over starts and features."""
    dips = inputs["sweep"]["dip"].isel(feature=slice(1, None))
    parts = [f"feature {int(j)}: {tell_range(dips.sel(feature=j))}" for j in dips["feature"].values]
    return Measured(float(dips.max(skipna=False)), "; ".join(parts))


def least_delivery(inputs: Inputs) -> Measured:
    """Least share of a feature that its head delivers at the end, over features and starts."""
    shares = {}
    sweep, flow = inputs["sweep"], inputs["flow"]
    shares["sweep"] = sweep["contribution"].max("head")
    last = flow.isel(time=-1)
    on = last["s"].isel(position=slice(flow.sizes["feature"])).rename(position="feature")
    shares["flow"] = (last["V"] * on.assign_coords(feature=flow["feature"]) / flow["strength"]).max("head")
    least = {role: float(share.min(skipna=False)) for role, share in shares.items()}
    return Measured(min(least.values()), ", ".join(f"{role}: {value:.5f}" for role, value in least.items()))


def shared_owners(inputs: Inputs) -> Measured:
    """Number of starts in which one head delivers most of two features."""
    owner = inputs["sweep"]["owner"].transpose("run", "seed", "feature")
    ordered = np.sort(owner.values, axis=-1)
    repeated = (np.diff(ordered, axis=-1) == 0).any(-1)
    return count_starts(owner.isel(feature=0, drop=True).copy(data=repeated), "shared")


def published_boundaries(inputs: Inputs) -> Measured:
    """Share of starts in which t = 25 and t = 300 lie between the half-times that they are said to part."""
    half = inputs["sweep"]["half_time"]
    if half.sizes["feature"] < 3:
        return Measured(None, absent="the paper's times are those of three features")
    inside = [
        (half.isel(feature=j, drop=True) < t) & (t < half.isel(feature=j + 1, drop=True))
        for j, t in enumerate((25.0, 300.0))
    ]
    shares = [float(part.mean()) for part in inside]
    both = (inside[0] & inside[1]).mean("seed")
    parts = ", ".join(f"{run} {100 * float(both.sel(run=run)):.0f} %" for run in both["run"].values)
    return Measured(
        float(both.mean()),
        f"25: {100 * shares[0]:.0f} %, 300: {100 * shares[1]:.0f} % of starts; both: {parts}",
    )


def coupled_rise(inputs: Inputs) -> Measured:
    """Least change of the coupled potential from one record to the next, over all starts."""
    rise = inputs["ideal"]["coupled_rise"]
    return Measured(float(rise.min()), f"{rise.sizes['start']} starts")


def coupled_limit(inputs: Inputs) -> Measured:
    """Largest relative distance of the coupled potential at the end from m_1^2/(2h), over all starts."""
    ideal = inputs["ideal"]
    m, h = read_sizes(inputs["sweep"], ideal)
    expected = m[0] ** 2 / (2 * h)
    last = ideal["coupled_potential"].isel(time=-1)
    detail = f"{tell_range(last)}; expected {expected:.6g}"
    return Measured(float(abs(last / expected - 1).max()), detail)


def coupled_distance(inputs: Inputs) -> Measured:
    """Largest of 1 - s_1 and |V - (m_1/h) V_1*| h/m_1 at the end, over all starts."""
    ideal = inputs["ideal"]
    m, h = read_sizes(inputs["sweep"], ideal)
    last = ideal[["coupled_V", "coupled_s"]].isel(time=-1)
    goal = m[0] / h * (ideal["feature"] == 1)
    attention = 1 - last["coupled_s"].isel(feature=0)
    value = np.sqrt(((last["coupled_V"] - goal) ** 2).sum("feature")) * h / m[0]
    detail = f"attention: {tell_range(attention)}; values: {tell_range(value)}"
    return Measured(max(float(attention.max()), float(value.max())), detail)


def least_margin(inputs: Inputs) -> Measured:
    """Least lead of the first feature in V and s, over all starts and times."""
    margin = inputs["ideal"]["margin"]
    return Measured(float(margin.min()), f"{margin.sizes['start']} starts, the first with no lead at all")


def _uniform_excess(inputs: Inputs) -> tuple[np.ndarray, np.ndarray, np.ndarray, Features]:
    ideal, sweep = inputs["ideal"], inputs["sweep"]
    m, h = read_sizes(sweep, ideal)
    one = ideal.sel(start=0)
    plateau = m[0] ** 2 / (2 * h)
    T = int(inputs["flow"].sizes["position"])
    excess = h * (plateau - one["coupled_potential"].values)
    return one["time"].values, 1 - one["coupled_s"].isel(feature=0).values, excess, Features(m, T)


def _slope(times: np.ndarray, values: np.ndarray) -> Measured:
    begin = int(np.searchsorted(times, times[-1] / 10))
    slope = np.log(values[-1] / values[begin]) / np.log(times[-1] / times[begin])
    return Measured(float(slope), f"between t = {times[begin]:.3g} and {times[-1]:.3g}")


def attention_power(inputs: Inputs) -> Measured:
    """Slope of log(1 - s_1) in log t over the last decade, from uniform attention."""
    times, attention, _, _ = _uniform_excess(inputs)
    return _slope(times, attention)


def loss_power(inputs: Inputs) -> Measured:
    """Slope of the logarithm of the loss over its plateau in log t, last decade, from uniform attention."""
    times, _, excess, _ = _uniform_excess(inputs)
    return _slope(times, excess)


def late_loss(inputs: Inputs) -> Measured:
    """The loss over its plateau at the end, over what is predicted."""
    times, _, excess, features = _uniform_excess(inputs)
    expected = float(predict_late_loss(times[-1], features))
    return Measured(float(excess[-1] / expected), f"{excess[-1]:.4g}, predicted {expected:.4g}")


def printed_bound(inputs: Inputs) -> Measured:
    """Largest norm of V in the coupled flow from uniform attention, over m_1/h."""
    m, h = read_sizes(inputs["sweep"], inputs["ideal"])
    norm = inputs["ideal"]["norm"].sel(start=0)
    largest, when = float(norm.max()), float(norm.idxmax("time"))
    return Measured(largest * h / m[0], f"|V| = {largest:.4g} at t = {when:.3g}, m_1/h = {m[0] / h:.4g}")


def derived_bound(inputs: Inputs) -> Measured:
    """Largest norm of V in the coupled flow from uniform attention, over the bound that we derive."""
    _, _, _, features = _uniform_excess(inputs)
    largest, bound = float(inputs["ideal"]["norm"].sel(start=0).max()), bound_value(features)
    return Measured(largest / bound, f"|V| = {largest:.4g}, bound {bound:.4g}")


def escape_bend(inputs: Inputs) -> Measured:
    """Largest relative distance of an increment of sqrt(half-time of feature 2) by decade from their mean."""
    half = inputs["escape"]["half_time"].sel(feature=2).sortby("noise", ascending=False)
    told = ", ".join(f"{float(t):.4g} at {float(n):g}" for n, t in zip(half["noise"], half, strict=True))
    if bool(half.isnull().any()):
        return Measured(None, undecided=f"the second stage is not reached at every noise: {told}")
    decades = -np.diff(np.log10(half["noise"].values))
    slopes = np.diff(np.sqrt(half.values)) / decades
    detail = f"half-times {told}; roots grow by {', '.join(f'{x:.3g}' for x in slopes)} a decade"
    return Measured(float(np.abs(slopes / slopes.mean() - 1).max()), detail)
