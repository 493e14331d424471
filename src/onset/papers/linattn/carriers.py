"""Which directions each head carries, and the value that it then has: heads of any rank."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.papers.linattn.selection import measure_contributions


def list_carried(run: xr.Dataset, theory: xr.Dataset, share: float = 0.5) -> list[tuple[int, ...]]:
    """Directions (0 = largest eigenvalue) of which a head gives more than a share of the optimum at the end.

    `run` is one seed of a run with separate key and query, `theory` that of its task; an entry for each head.
    """
    last = measure_contributions(run.expand_dims("seed")).isel(seed=0, snapshot=-1) / theory.late_map
    found = last.transpose("head", "direction").values > share
    return [tuple(int(d) for d in np.flatnonzero(row)) for row in found]


def expect_carried_values(carried: list[tuple[int, ...]], theory: xr.Dataset) -> np.ndarray:
    """Value v of a head that carries all of a set of directions alone, (sum of λ_d/a_d)^(1/3); NaN for none.

    Source: ours, docs/theory/linattn.md; for one direction v* of arXiv 2501.16265, Eq. 21.
    """
    late = theory.late_map.values
    return np.array([np.cbrt(late[list(one)].sum()) if one else np.nan for one in carried])
