"""Which groups of past positions attention heads read: masses, when each is acquired, how heads share them.

A group is a set of lags; lag i of query q is the key q - i + 1, so that lag 1 is the query's own position.
Masses are (..., step, head, group) arrays of the attention that a head gives to all keys of a group; groups
may overlap, so that masses need not sum to less than one.  When a group is acquired is a crossing of
`onset.measures.emergence`, taken of the head that has most of it.
Source: arXiv 2602.19143, sections 2.3 and D.2, describes heads by the groups they attend to; the numbers are
our definitions.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from onset.measures.emergence import crossing_step

if TYPE_CHECKING:
    import xarray as xr

ACQUIRED = 0.5
"""Mass at which a head has acquired a group: more than half of its attention is there."""
APART = 1.3
"""Ratio of two acquisition times above which they are two stages."""


def measure_lag_attention(attention: np.ndarray) -> np.ndarray:
    """Attention (..., w) at lags 1 to w, mean over queries, of that of the last T (..., T, T + w - 1).

    A group's mass is the sum over its lags.  Raises ValueError where there are fewer keys than queries.
    """
    queries, keys = attention.shape[-2:]
    if keys < queries:
        raise ValueError(f"attention of {queries} queries to {keys} keys; the last queries see all keys")
    window = keys - queries + 1
    at_lag = [np.diagonal(attention, window - lag, -2, -1).mean(-1) for lag in range(1, window + 1)]
    return np.stack(at_lag, -1)


def acquisition_steps(mass: xr.DataArray, level: float = ACQUIRED, dim: str = "step") -> xr.DataArray:
    """First step at which some head gives a group at least `level`: (..., group), linear between records.

    NaN where none ever does: not yet acquired.
    """
    return crossing_step(mass.astype(np.float64).max("head"), level, dim)


def count_head_stages(steps: xr.DataArray, apart: float = APART) -> xr.DataArray:
    """Number of stages (...) in acquisition steps (..., group): 1, and 1 for each that is much later.

    Steps are put in order of time; one that is more than `apart` times that before it begins a stage.
    NaN where a group was not acquired, for then it is not known how many stages there will be.
    """
    ordered = np.sort(steps.transpose(..., "group").values.astype(np.float64), -1)
    later = ordered[..., 1:] > apart * ordered[..., :-1]
    count = np.where(np.isfinite(ordered).all(-1), 1.0 + later.sum(-1), np.nan)
    return steps.transpose(..., "group").isel(group=0, drop=True).copy(data=count)


def measure_overlap(mass: xr.DataArray) -> xr.DataArray:
    """How much heads read the same: mean over pairs of heads of sum_k min / sum_k max of masses (...).

    1 where all heads have equal masses, 0 where no two read a common group; NaN where there is one head, or
    a pair reads no group at all.
    """
    values = mass.transpose(..., "head", "group").values.astype(np.float64)
    pairs = list(combinations(range(values.shape[-2]), 2))
    ratios = np.full((*values.shape[:-2], max(len(pairs), 1)), np.nan)
    for number, (one, other) in enumerate(pairs):
        a, b = values[..., one, :], values[..., other, :]
        most = np.maximum(a, b).sum(-1)
        np.divide(np.minimum(a, b).sum(-1), most, out=ratios[..., number], where=most > 0)
    return mass.isel(head=0, group=0, drop=True).transpose(..., *_rest(mass)).copy(data=ratios.mean(-1))


def find_owned_group(mass: xr.DataArray, dim: str = "step") -> xr.DataArray:
    """Number (0, 1, …) of the group that has most of each head's mass at the last record: (..., head)."""
    last = mass.isel({dim: -1}, drop=True)
    return last.fillna(-1).argmax("group")


def is_one_to_one(mass: xr.DataArray, dim: str = "step") -> xr.DataArray:
    """Whether the heads' groups at the last record are all different, and all groups taken: (...)."""
    owned = find_owned_group(mass, dim).transpose(..., "head")
    ordered = np.sort(owned.values, -1)
    groups = np.arange(mass.sizes["group"])
    whole = ordered.shape[-1] == len(groups) and (ordered == groups).all(-1)
    return owned.isel(head=0, drop=True).copy(data=np.broadcast_to(whole, ordered.shape[:-1]))


def measure_dips(alignment: xr.DataArray, owned: xr.DataArray, dim: str = "step") -> xr.DataArray:
    """Least alignment with each pattern over time and over heads that do not end on it: (..., group).

    `alignment` (..., step, head, group) is how much a head's value matrix holds of a pattern, `owned`
    (..., head) the number of the group it ends on (see `find_owned_group`).  Below 0 where such heads
    compensate for the one that offshoots.  NaN where every head ends on the pattern.
    """
    import xarray as xr

    number = xr.DataArray(np.arange(alignment.sizes["group"]), dims="group")
    others = alignment.astype(np.float64).where(owned != number)
    return others.min([dim, "head"])


def _rest(mass: xr.DataArray) -> list[str]:
    """Dimensions of masses but head and group."""
    return [str(d) for d in mass.dims if d not in ("head", "group")]
