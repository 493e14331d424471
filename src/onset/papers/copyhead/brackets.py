"""Transitions as chains of both starts bracket them, and sweeps up and down, against the theory's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from onset.papers.copyhead.selection import mean_and_sd

AXES = ("v", "g_OV", "L")


@dataclass(frozen=True)
class Bracket:
    """Where chains of two starts change phase, at one size and variance.

    settings   v, g_OV and L
    lost       the largest P at which chains from copying mostly lose it
    gained     the smallest P at which chains from the prior mostly gain it
    both       the P at which the shares of copying records of both starts differ by half or more
    axis       which of v, g_OV and L differs from the base's; "base" where none does
    """

    settings: dict[str, float]
    lost: float
    gained: float
    both: tuple[float, ...]
    axis: str

    @property
    def middle(self) -> float:
        """Middle between the two ends."""
        return 0.5 * (self.lost + self.gained)

    def describe(self) -> str:
        """Its settings, such as `L = 12`."""
        return describe_settings(self.axis, self.settings)


def describe_settings(axis: str, settings: dict[str, float]) -> str:
    """The setting that differs, or `base`."""
    return "base" if axis == "base" else f"{axis} = {settings[axis]:g}"


def list_brackets(sampled: xr.Dataset, base: dict[str, float]) -> list[Bracket]:
    """A bracket for each pair of runs that differ in their start alone; those that reach both phases.

    `base` holds the v, g_OV and L of the priors and the task, from which each pair differs in at most one.
    """
    shares = sampled.copying.mean("chain")
    found: dict[tuple[float, ...], dict[str, xr.DataArray]] = {}
    for run in sampled.run.values:
        one = sampled.sel(run=run)
        key = tuple(float(one[name]) for name in AXES)
        found.setdefault(key, {})[str(one["start"].values)] = shares.sel(run=run).dropna("P")
    brackets = []
    for key, starts in sorted(found.items()):
        if set(starts) != {"prior", "copy"}:
            continue
        lost = starts["copy"].P.values[starts["copy"].values < 0.5]
        gained = starts["prior"].P.values[starts["prior"].values > 0.5]
        if len(lost) and len(gained):
            differ = starts["copy"] - starts["prior"] >= 0.5
            settings = dict(zip(AXES, key, strict=True))
            brackets.append(
                Bracket(
                    settings,
                    float(lost.max()),
                    float(gained.min()),
                    tuple(map(float, differ.P.values[differ.values])),
                    name_axis(settings, base),
                )
            )
    return brackets


def name_axis(settings: dict[str, float], base: dict[str, float]) -> str:
    """The one of v, g_OV and L in which settings differ from the base; `base` where none does."""
    differing = [name for name in AXES if name in base and not np.isclose(settings[name], base[name])]
    return differing[0] if differing else "base"


def predict_transition(
    phase: xr.Dataset, bracket: Bracket, name: str = "P_c", theory: str = "dressed"
) -> float:
    """A quantity of the phase diagram at the settings of a bracket; NaN where the diagram lacks them."""
    axis = "L" if bracket.axis == "base" else bracket.axis
    curve = phase[f"{name}_{axis}"].sel(theory=theory)
    at = np.flatnonzero(np.isclose(curve[axis].values, bracket.settings[axis]))
    return float(curve[int(at[0])]) if len(at) else float("nan")


def find_ways(hysteresis: xr.Dataset, kind: str) -> tuple[xr.DataArray, xr.DataArray] | None:
    """Mean and standard error over free chains of copying on both ways, (direction, P), of the first run of
    an attention kind; None where there is none."""
    labels = [run for run in hysteresis.run.values if str(hysteresis.attention.sel(run=run).values) == kind]
    if not labels:
        return None
    run = hysteresis.sel(run=labels[0])
    copy = run["copy"].dropna("P", how="all").transpose("chain", "direction", "P")
    free = ~run.trapped.sel(P=copy.P).transpose("chain", "direction", "P")
    parts = [mean_and_sd(copy.sel(direction=way), free.sel(direction=way)) for way in copy.direction.values]
    count = free.sum("chain")
    mean = xr.concat([part[0] for part in parts], copy.direction)
    error = xr.concat([part[1] for part in parts], copy.direction) / np.sqrt(count.where(count > 0))
    return mean, error
