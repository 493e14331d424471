"""Runners in one job, some of which may run away; the tests of divergence add it to the toy paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from onset.papers.toy.tell import tell

from onset.job.context import Result
from onset.job.diverged import Diverged, Kept, list_survivors, note_lost, spell_lost

if TYPE_CHECKING:
    from onset.job.context import Job


def race(job: Job) -> Result:
    """Runners that grow by `growth` in the run `wild` where their seed is even, and by 1.1 else."""
    tell(job)
    runs, seeds = list(job.own.runs), list(job.own.seeds)
    fast = np.logical_and.outer([run == "wild" for run in runs], [seed % 2 == 0 for seed in seeds])
    place = 1.0 + np.array(seeds) * np.ones((len(runs), 1))
    lost = np.full(place.shape, -1)
    with np.errstate(over="ignore"):
        for step in range(job.own.steps):
            place *= np.where(fast, job.own.growth, 1.1)
            note_lost(lost, place, step + 1)

    def collect(rows: list[int], columns: list[int]) -> Result:
        chosen = place[np.ix_(rows, columns)]
        coords = {
            "run": ("run", [runs[i] for i in rows], {"long_name": "run", "units": "1"}),
            "seed": ("seed", [seeds[i] for i in columns], {"long_name": "seed", "units": "1"}),
        }
        data = {"place": (("run", "seed"), chosen, {"long_name": "position", "units": "1"})}
        return Result(xr.Dataset(data, coords=coords), {"place": chosen})

    if lost.max() < 0:
        return collect(list(range(len(runs))), list(range(len(seeds))))
    kept = [
        Kept({"runs": [runs[i] for i in rows], "seeds": [seeds[i] for i in columns]}, collect(rows, columns))
        for rows, columns in list_survivors(lost >= 0)
    ]
    names = [f"run {run}, seed {seed}" for run in runs for seed in seeds]
    raise Diverged(f"{job.paper}/{job.name}: {spell_lost(names, lost.ravel())}", kept)
