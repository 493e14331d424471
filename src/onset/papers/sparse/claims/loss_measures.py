"""What the claims about losses and divergences measure: plateaus, ends, the size of the dataset."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.sparse.claims.seeds import LEARNED, Inputs, lack_run, list_numbers, take_median
from onset.papers.sparse.selection import (
    best_steps,
    has_run,
    measure_excess,
    nearest_reference,
    nearest_steps,
    order_by_size,
    record_at,
    take_KL,
    take_mass,
    take_run,
)


def first_plateau(inputs: Inputs, run: str = "main") -> Measured:
    """Excess loss where the model is nearest to f_{A_1}; median over seeds."""
    one = take_run(inputs["runs"], run)
    steps = nearest_steps(take_KL(one)).isel(prefix=0, drop=True)
    return take_median(record_at(measure_excess(one), steps), f"at steps {list_numbers(steps)}")


def final_excess(inputs: Inputs, run: str = "main") -> Measured:
    """Excess loss at the end; median over seeds."""
    return take_median(measure_excess(take_run(inputs["runs"], run)).isel(step=-1, drop=True))


def final_KL(inputs: Inputs, run: str = "main") -> Measured:
    """KL from the chain to the model at the end; median over seeds."""
    return take_median(take_KL(take_run(inputs["runs"], run)).isel(step=-1, prefix=-1, drop=True))


def stall(inputs: Inputs, run: str, role: str, step: int = 100) -> Measured:
    """Excess loss at the end over that at a step; median over seeds, undecided where nothing was learned."""
    if not has_run(inputs[role], run):
        return lack_run(run)
    excess = measure_excess(take_run(inputs[role], run))
    if step not in excess["step"].values:
        return Measured(None, absent=f"step {step} was not evaluated")
    early = excess.sel(step=step, drop=True)
    if (early > LEARNED * excess.isel(step=0, drop=True)).any():
        return Measured(None, undecided=f"at step {step} a seed has not learned anything")
    return take_median(excess.isel(step=-1, drop=True) / early)


def mean_entropy(inputs: Inputs, chain: str) -> Measured:
    """Mean conditional entropy of a chain, mean over seeds."""
    if chain not in inputs["levels"].chain.values:
        return Measured(None, absent=f"there is no {chain} at this scale")
    found = inputs["levels"].entropy.sel(chain=chain)
    return Measured(float(found.mean()), f"{int(found.notnull().sum())} draws of the matrices")


def best_excesses(inputs: Inputs) -> dict[str, xr.DataArray]:
    """Least excess loss (seed,) of each run, the smallest dataset first."""
    runs = inputs["runs"]
    return {label: measure_excess(take_run(runs, label)).min("step") for label in order_by_size(runs)}


def all_learned(inputs: Inputs) -> bool:
    """Whether every run of every seed has fallen from its first loss."""
    first = {
        label: measure_excess(take_run(inputs["runs"], label)).isel(step=0, drop=True)
        for label in order_by_size(inputs["runs"])
    }
    return all(bool((best < LEARNED * first[label]).all()) for label, best in best_excesses(inputs).items())


def growth_with_size(inputs: Inputs) -> Measured:
    """Largest ratio, from one size of the dataset to the next, of seed means of the least excess loss."""
    if not all_learned(inputs):
        return Measured(None, undecided="a run has not learned anything")
    means = {label: float(best.mean()) for label, best in best_excesses(inputs).items()}
    values = np.array(list(means.values()))
    each = ", ".join(f"{label}: {value:.3g}" for label, value in means.items())
    return Measured(float((values[1:] / values[:-1]).max()), each)


def share_of_smallest(inputs: Inputs) -> Measured:
    """Least excess loss of fresh data (or the largest set) over that of the smallest set, of seed means."""
    means = [float(best.mean()) for best in best_excesses(inputs).values()]
    return Measured(means[-1] / means[0], f"{means[-1]:.3g} against {means[0]:.3g}")


def last_group_mass(inputs: Inputs, largest_set: bool) -> Measured:
    """Most of a head's mass on the last group at the end, for the smallest or the largest dataset."""
    if not all_learned(inputs):
        return Measured(None, undecided="a run has not learned anything")
    label = order_by_size(inputs["runs"])[-1 if largest_set else 0]
    mass = take_mass(take_run(inputs["runs"], label)).isel(step=-1, group=-1, drop=True)
    return take_median(mass.max("head"), f"run {label}")


def overfitting(inputs: Inputs) -> Measured:
    """Excess loss at the end over its least, of the smallest dataset; median over seeds."""
    label = order_by_size(inputs["runs"])[0]
    excess = measure_excess(take_run(inputs["runs"], label))
    return take_median(excess.isel(step=-1, drop=True) / excess.min("step"), f"run {label}")


def best_excess(inputs: Inputs, run: str) -> Measured:
    """Least excess loss of one run; median over seeds."""
    if not has_run(inputs["runs"], run):
        return lack_run(run)
    return take_median(measure_excess(take_run(inputs["runs"], run)).min("step"))


def best_step(inputs: Inputs, run: str) -> Measured:
    """Step of the least validation loss of one run; median over seeds."""
    if not has_run(inputs["runs"], run):
        return lack_run(run)
    return take_median(best_steps(take_run(inputs["runs"], run)))


def nearest_when_best(inputs: Inputs) -> dict[str, int]:
    """Number (from 0) of the restricted model nearest to each run at its best step; lower median of seeds."""
    found = {}
    for label in order_by_size(inputs["runs"]):
        run = take_run(inputs["runs"], label)
        nearest = nearest_reference(take_KL(run, "context"), "context")
        at = np.sort(record_at(nearest, best_steps(run)).values)
        found[label] = int(at[(len(at) - 1) // 2])
    return found


def context_growth(inputs: Inputs) -> Measured:
    """Least change, from one size of the dataset to the next, of the number of the nearest restricted model.

    At the step of the least loss.  0 where one stays; undecided where all datasets are nearest to one.
    """
    found = nearest_when_best(inputs)
    numbers = np.array(list(found.values()))
    each = ", ".join(f"{label}: {number + 1}" for label, number in found.items())
    if (numbers == numbers[0]).all():
        return Measured(None, undecided=f"all are nearest to the same restricted model; {each}")
    return Measured(float(np.diff(numbers).min()), f"from the shortest context, {each}")
