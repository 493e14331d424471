"""Measures of figure 7: simplified flows of later stages, from the theory's starts and over the full flow."""

from __future__ import annotations

from collections.abc import Mapping

import xarray as xr

from onset.claims.claim import Measured
from onset.papers.sparse.claims.flow_measures import tell_range

Inputs = Mapping[str, xr.Dataset]


def take_starts(values: xr.DataArray) -> xr.DataArray:
    """Values (run, seed, ...) as (start, ...)."""
    return values.stack(start=("run", "seed"))


def tell_stages(values: xr.DataArray) -> str:
    """Range over starts, stage by stage."""
    return "; ".join(f"stage {int(n)}: {tell_range(values.sel(stage=n))}" for n in values["stage"].values)


def worst_median(values: xr.DataArray) -> Measured:
    """Median over starts of a distance (run, seed, stage), of the stage where it is largest.

    A start that does not reach the stage has no number and does not count.
    """
    medians = take_starts(values).median("start")
    if bool(medians.isnull().any()):
        return Measured(None, undecided="a stage is reached from no start")
    return Measured(float(medians.max()), tell_stages(values))


def overlay_distance(inputs: Inputs) -> Measured:
    """Root mean square distance of the free head's attention, cooperative against full flow."""
    return worst_median(inputs["stages"]["rms_s"].sel(system="cooperative"))


def overlay_timing(inputs: Inputs) -> Measured:
    """Relative distance of the cooperative flow's half-time from the full flow's."""
    stages = inputs["stages"]
    full = inputs["flow"]["half_time"].sel(feature=stages["stage"])
    return worst_median(abs(stages["half_time"].sel(system="cooperative") / full - 1))


def overlay_dip(inputs: Inputs) -> Measured:
    """Relative distance of the ensemble's deepest dip, cooperative against full flow."""
    stages = inputs["stages"]
    return worst_median(abs(stages["dip"].sel(system="cooperative") / stages["full_dip"] - 1))


def overlay_product(inputs: Inputs) -> Measured:
    """Largest relative distance of V'<s', s_n*> at the end from m_n, over starts, stages and both systems."""
    product = inputs["stages"]["product"]
    strength = inputs["flow"]["strength"].sel(feature=product["stage"])
    distance = abs(product / strength - 1)
    return Measured(float(distance.max()), tell_stages(distance.max("system")))


def list_ends(values: xr.DataArray) -> str:
    """A number at the end for each stage and size of the perturbation."""
    return ", ".join(
        f"stage {int(n)}, epsilon {float(e):g}: {float(values.sel(stage=n, epsilon=e)):.4g}"
        for n in values["stage"].values
        for e in values["epsilon"].values
    )


def own_feature(ideal: xr.Dataset, values: xr.DataArray) -> xr.DataArray:
    """Values along each stage's own feature, without the feature's axis."""
    return values.sel(feature=ideal["stage"])


def free_residual(inputs: Inputs) -> Measured:
    """Largest 1 - <s', s_n*> at the end of the reduced flow, over stages and perturbations."""
    ideal = inputs["ideal"]
    left = 1 - own_feature(ideal, ideal["s"].isel(time=-1).sel(system="reduced"))
    both = 1 - own_feature(ideal, ideal["s"].isel(time=-1).sel(system="cooperative"))
    return Measured(float(left.max()), f"reduced, {list_ends(left)}; cooperative, {list_ends(both)}")


def free_product(inputs: Inputs) -> Measured:
    """Largest relative distance of V'<s', s_n*> at the end from m_n, over both systems."""
    ideal = inputs["ideal"]
    product = own_feature(ideal, (ideal["V"] * ideal["s"]).isel(time=-1))
    distance = abs(product / ideal["strength"].sel(feature=ideal["stage"]) - 1)
    return Measured(float(distance.max()), list_ends(product.sel(system="reduced")))


def limit_equation(inputs: Inputs, factor: bool) -> Measured:
    """|1 - c |s_(n-1)|^2 |V'|^2 / m_n^2| at the end of the reduced flow, c = h^2 where `factor`, else 1."""
    ideal = inputs["ideal"]
    last = ideal[["V", "s"]].isel(time=-1).sel(system="reduced")
    left = last["s"].where(ideal["feature"] >= ideal["stage"], 0.0)
    squares = (left**2).sum("feature") * (last["V"] ** 2).sum("feature")
    c = inputs["flow"].sizes["head"] ** 2 if factor else 1
    off = abs(1 - c * squares / ideal["strength"].sel(feature=ideal["stage"]) ** 2)
    return Measured(float(off.max()), list_ends(off))


def potential_fall(inputs: Inputs) -> Measured:
    """Least change of the potential from one record to the next, over systems, stages and perturbations."""
    change = inputs["ideal"]["potential"].diff("time").min("time")
    parts = [f"{name}: {float(change.sel(system=name).min()):.2g}" for name in change["system"].values]
    return Measured(float(change.min()), ", ".join(parts))


def potential_limit(inputs: Inputs, system: str) -> Measured:
    """Largest relative distance of a potential at the end from its limit, over stages and perturbations."""
    ideal = inputs["ideal"]
    energies = 0.5 * ideal["strength"] ** 2
    summed = energies.cumsum("feature") if system == "cooperative" else energies
    expected = summed.sel(feature=ideal["stage"]).drop_vars("feature")
    last = ideal["potential"].isel(time=-1).sel(system=system)
    return Measured(float(abs(last / expected - 1).max()), list_ends(last))


def slaving(inputs: Inputs) -> Measured:
    """Largest distance of the other heads' values from rest, over m_1."""
    ideal = inputs["ideal"]
    distance = ideal["slaving"]
    return Measured(float(distance.max()) / float(ideal["strength"][0]), list_ends(distance))


def first_potential(inputs: Inputs) -> Measured:
    """Least potential of the reduced flow of stage 2 at the start, over epsilon^2."""
    ideal = inputs["ideal"]
    scaled = ideal["potential"].isel(time=0).sel(system="reduced") / ideal["epsilon"] ** 2
    return Measured(float(scaled.sel(stage=2).min()), f"over epsilon squared: {list_ends(scaled)}")
