"""What the claims about heads measure: competition, specialisation, compensation, symmetry."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.measures.group_mass import (
    find_owned_group,
    is_one_to_one,
    measure_dips,
    measure_lag_attention,
    measure_overlap,
)
from onset.papers.sparse.claims.seeds import (
    Inputs,
    judge_share,
    lack_run,
    list_numbers,
    take_extreme,
    take_median,
)
from onset.papers.sparse.selection import (
    has_run,
    nearest_steps,
    read_chain,
    record_at,
    take_KL,
    take_mass,
    take_run,
)

UNTRAINED = "a seed is nearest to f_{A_1} before training"


def stage_masses(run: xr.Dataset, stage: int) -> tuple[xr.DataArray, xr.DataArray]:
    """Masses (seed, head, group) where a run is nearest to f_{A_1:stage}, and those steps (seed,)."""
    steps = nearest_steps(take_KL(run)).isel(prefix=stage - 1, drop=True)
    return record_at(take_mass(run), steps), steps


def first_stage_mass(inputs: Inputs, run: str = "main") -> Measured:
    """Least over seeds and heads of the mass on I(1) where the model is nearest to f_{A_1}."""
    mass, steps = stage_masses(take_run(inputs["runs"], run), 1)
    if (steps == 0).any():
        return Measured(None, undecided=UNTRAINED)
    found = mass.isel(group=0, drop=True).min("head")
    return take_extreme(found, largest=False, detail=f"at steps {list_numbers(steps)}")


def first_stage_overlap(inputs: Inputs, run: str = "main") -> Measured:
    """Least over seeds of the overlap of heads where the model is nearest to f_{A_1}."""
    mass, steps = stage_masses(take_run(inputs["runs"], run), 1)
    if (steps == 0).any():
        return Measured(None, undecided=UNTRAINED)
    return take_extreme(measure_overlap(mass), largest=False, detail=f"at steps {list_numbers(steps)}")


def masses_of(run: xr.Dataset, stage: int, step: int | None) -> xr.DataArray | Measured:
    """Masses (seed, head, group) at a step, or at the end of a stage where none is given."""
    if step is not None:
        mass = take_mass(run)
        if step not in mass["step"].values:
            return Measured(None, absent=f"step {step} was not evaluated")
        return mass.sel(step=step, drop=True)
    mass, steps = stage_masses(run, stage)
    return Measured(None, undecided=UNTRAINED) if (steps == 0).any() else mass


def lead_of_first(inputs: Inputs, run: str = "main", step: int | None = None) -> Measured:
    """Mass on I(1) less the largest on another group, the least over heads; median over seeds.

    At a step, or where the model is nearest to f_{A_1}.
    """
    mass = masses_of(take_run(inputs["runs"], run), 1, step)
    if isinstance(mass, Measured):
        return mass
    lead = mass.isel(group=0, drop=True) - mass.isel(group=slice(1, None)).max("group")
    return take_median(lead.min("head"))


def one_head_on_second(
    inputs: Inputs, run: str = "main", step: int | None = None, least: float = 0.8
) -> Measured:
    """Share of seeds with one head mostly on I(2) and all others on I(1), at a step or at stage 2's end."""
    mass = masses_of(take_run(inputs["runs"], run), 2, step)
    if isinstance(mass, Measured):
        return mass
    owned = mass.argmax("group")
    holds = ((owned == 1).sum("head") == 1) & ((owned == 0).sum("head") == mass.sizes["head"] - 1)
    each = "; ".join(",".join(str(k + 1) for k in row) for row in owned.transpose("seed", "head").values)
    return judge_share(holds, holds | True, least, f"groups of the heads: {each}")


def one_to_one(inputs: Inputs, run: str = "main", least: float = 0.8) -> Measured:
    """Share of seeds whose heads end on different groups, every group taken and read more than at first."""
    mass = take_mass(take_run(inputs["runs"], run))
    read = mass.max("head")
    gained = (read.isel(step=-1, drop=True) > read.isel(step=0, drop=True)).all("group")
    holds = is_one_to_one(mass) & gained
    owned = find_owned_group(mass).transpose("seed", "head").values
    each = "; ".join(",".join(str(k + 1) for k in row) for row in owned)
    return judge_share(holds, holds | True, least, f"groups of the heads: {each}")


def specialised_mass(inputs: Inputs, run: str = "main") -> Measured:
    """Median over seeds of the least mass that a head has on its group at the end."""
    mass = take_mass(take_run(inputs["runs"], run)).isel(step=-1, drop=True)
    return take_median(mass.max("group").min("head"))


def final_overlap(inputs: Inputs, run: str = "main") -> Measured:
    """Median over seeds of the overlap of heads at the end."""
    return take_median(measure_overlap(take_mass(take_run(inputs["runs"], run)).isel(step=-1, drop=True)))


def dip(inputs: Inputs, group: int, run: str = "main") -> Measured:
    """Least alignment with A_group over time and heads that end elsewhere; the largest over seeds."""
    one = take_run(inputs["runs"], run)
    dips = measure_dips(one.value_alignment, find_owned_group(take_mass(one)))
    return take_extreme(dips.isel(group=group - 1, drop=True), largest=True)


def departure_from_uniform(inputs: Inputs, run: str = "main") -> Measured:
    """Largest |mass - that of uniform attention| before training over that at the end; median over seeds."""
    one = take_run(inputs["runs"], run)
    mass = take_mass(one)
    away = abs(mass - uniform_masses(one)).max(["head", "group"])
    return take_median(away.isel(step=0, drop=True) / away.isel(step=-1, drop=True))


def uniform_masses(run: xr.Dataset) -> xr.DataArray:
    """Mass (group,) of uniform attention to all keys up to the query, mean over the T queries.

    Raises KeyError where the run's chain is not recorded.
    """
    chain = read_chain(run)
    keys = chain["window"] + np.arange(chain["T"])
    return xr.DataArray([len(group) * np.mean(1 / keys) for group in chain["groups"]], dims="group")


def attention_by_lag(run: xr.Dataset) -> xr.DataArray:
    """Attention (seed, map_step, head, lag) at each lag of the window, mean over queries; lag from 1."""
    attention = run.attention.isel(layer=0, drop=True).astype(np.float64)
    ordered = attention.transpose("seed", "map_step", "head", "query", "key")
    values = measure_lag_attention(ordered.values)
    return xr.DataArray(
        values,
        dims=("seed", "map_step", "head", "lag"),
        coords={
            "seed": ordered.seed,
            "map_step": ordered.map_step,
            "lag": range(1, values.shape[-1] + 1),
        },
    )


def last_map(run: xr.Dataset) -> xr.DataArray:
    """Attention (seed, head, lag) of the latest kept map that is after training began, by lag."""
    return attention_by_lag(run).isel(map_step=-1, drop=True)


def diagonal_share(inputs: Inputs, run: str = "main") -> Measured:
    """Attention to the query's own token over the mean of the other lags of I(1), by the head that has I(1).

    At the last map; median over seeds.  Undecided where no head has half of its attention there.
    """
    one = take_run(inputs["runs"], run)
    first = [lag for lag in read_chain(one)["groups"][0] if lag > 1]
    by_lag = last_map(one)
    mass = take_mass(one).isel(step=-1, group=0, drop=True)
    owner = mass.argmax("head")
    own = by_lag.isel(head=owner)
    if not first or (mass.max("head") < 0.5).any():
        return Measured(None, undecided="no head has half of its attention on I(1)")
    return take_median(own.sel(lag=1, drop=True) / own.sel(lag=first).mean("lag"))


def heavier_share(inputs: Inputs, run: str = "main") -> Measured:
    """Attention at the lag of the larger α over that at the smaller, by the head with the group.

    The least over groups of medians over seeds, at the last map.
    """
    one = take_run(inputs["runs"], run)
    chain, by_lag = read_chain(one), last_map(one)
    mass = take_mass(one).isel(step=-1, drop=True)
    ratios = {}
    for k, (group, weights) in enumerate(zip(chain["groups"], chain["alpha"], strict=True)):
        # α is given for the oldest token first.
        ordered = sorted(group, reverse=True)
        heavy, light = ordered[int(np.argmax(weights))], ordered[int(np.argmin(weights))]
        own = by_lag.isel(head=mass.isel(group=k, drop=True).argmax("head"))
        ratios[k + 1] = float((own.sel(lag=heavy, drop=True) / own.sel(lag=light, drop=True)).median())
    detail = ", ".join(f"I({k}): {ratio:.3g}" for k, ratio in ratios.items())
    return Measured(min(ratios.values()), detail)


def least_enrichment(inputs: Inputs, run: str = "main") -> Measured:
    """Most attention of a head at a lag over that of uniform attention, the least over lags of groups.

    At the last map; median over seeds.
    """
    one = take_run(inputs["runs"], run)
    chain = read_chain(one)
    lags = sorted({lag for group in chain["groups"] for lag in group})
    even = float(np.mean(1 / (chain["window"] + np.arange(chain["T"]))))
    found = last_map(one).sel(lag=lags).max("head") / even
    return take_median(found.min("lag"))


def first_group_growth(inputs: Inputs, run: str = "main") -> Measured:
    """How many times more attention I(1) has than before, over the same of the group that gained most else.

    Where the model is nearest to f_{A_1}: the least over heads; median over seeds.
    """
    one = take_run(inputs["runs"], run)
    mass, steps = stage_masses(one, 1)
    if (steps == 0).any():
        return Measured(None, undecided=UNTRAINED)
    growth = mass / take_mass(one).isel(step=0, drop=True)
    lead = growth.isel(group=0, drop=True) / growth.isel(group=slice(1, None)).max("group")
    return take_median(lead.min("head"), f"at steps {list_numbers(steps)}")


def symmetric_difference(inputs: Inputs, run: str, role: str) -> Measured:
    """Largest difference between weights of two heads, over time and seeds; undecided in an untrained run."""
    if not has_run(inputs[role], run):
        return lack_run(run)
    one = take_run(inputs[role], run)
    if not (one.loss.isel(step=-1) < one.loss.isel(step=0)).all():
        return Measured(None, undecided="the loss has not fallen")
    return take_extreme(one.head_difference.max("step"), largest=True)


def symmetric_mass(inputs: Inputs, run: str, role: str) -> Measured:
    """Least over seeds and heads of the mass on I(1) at the end."""
    if not has_run(inputs[role], run):
        return lack_run(run)
    mass = take_mass(take_run(inputs[role], run)).isel(step=-1, group=0, drop=True)
    return take_extreme(mass.min("head"), largest=False)
