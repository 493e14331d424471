"""What the claims about sweeps measure (figure 5): which runs drop later, and more slowly."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from onset.claims.claim import Measured
from onset.measures.emergence import rise_time
from onset.papers.gmc.claims.drop_measures import progress_of
from onset.papers.gmc.claims.measures import Inputs, compare_pairs, emergence_of, record_interval


def later(inputs: Inputs, earlier: str, other: str) -> Measured:
    """Emergence step of the runs of one role over that of another, by seed.

    A seed that never emerges counts as emerging at its last step, so that the ratio is a bound; undecided
    where a seed emerges in neither.
    """
    first, second = (emergence_of(inputs, role) for role in (earlier, other))
    ends = [float(inputs[role]["step"][-1]) for role in (earlier, other)]
    common = np.intersect1d(first["seed"].values, second["seed"].values)
    first, second = first.sel(seed=common), second.sel(seed=common)
    if (np.isnan(first) & np.isnan(second)).any():
        return Measured(None, undecided="a seed is never half-way in either setting")
    resolution = 0.5 * record_interval(inputs[earlier])  # crossings are interpolated between records
    found = compare_pairs(first.fillna(ends[0]), second.fillna(ends[1]), "emergence step", resolution)
    never = [role for role, one in ((earlier, first), (other, second)) if np.isnan(one).any()]
    note = f"; never by the last step for a seed of {', '.join(never)}: a bound" if never else ""
    return Measured(found.value, found.detail + note, found.undecided, found.absent)


def least_later(inputs: Inputs, roles: tuple[str, ...]) -> Measured:
    """The least of the ratios of emergence steps of neighbours in an order that should be increasing."""
    pairs = [later(inputs, a, b) for a, b in pairwise(roles)]
    return _least(pairs)


def slower(inputs: Inputs, faster: str, other: str) -> Measured:
    """Steps from a tenth of the way to half of it, of the runs of one role over another's, by seed."""
    first, second = (rise_time(progress_of(inputs, role)) for role in (faster, other))
    return compare_pairs(first, second, "rise", 0.5 * record_interval(inputs[faster]))


def least_slower(inputs: Inputs, roles: tuple[str, ...]) -> Measured:
    """The least of the ratios of durations of neighbours in an order that should be increasing."""
    return _least([slower(inputs, a, b) for a, b in pairwise(roles)])


def _least(pairs: list[Measured]) -> Measured:
    for one in pairs:
        if one.value is None:
            return one
    least = min(pairs, key=lambda one: one.value or 0.0)
    undecided = "; ".join(one.undecided for one in pairs if one.undecided)
    return Measured(least.value, "; ".join(one.detail for one in pairs), undecided)
