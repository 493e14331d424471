"""Data and training of the toy paper; every call leaves a line in the file that TOY_LOG names."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np
import torch
import xarray as xr
from onset.papers.toy.tell import note, tell

from onset.job.context import Result
from onset.job.loop import run_resumable

if TYPE_CHECKING:
    from onset.job.context import Job


def draw_points(job: Job) -> xr.Dataset:
    """Points with the world's mean."""
    tell(job)
    values = job.streams.generator("points").standard_normal(job.own.samples) + job.sections["world"].mean
    sample = xr.Variable("sample", np.arange(job.own.samples), {"long_name": "sample", "units": "1"})
    return xr.Dataset(
        {"x": ("sample", values, {"long_name": "position", "units": "1"})}, coords={"sample": sample}
    )


def train_walk(job: Job) -> Result:
    """Noisy steps towards the mean of the points."""
    tell(job)
    if os.environ.get("TOY_FAIL_SEED") and int(os.environ["TOY_FAIL_SEED"]) in job.members:
        raise RuntimeError(f"seed {os.environ['TOY_FAIL_SEED']} was told to fail")
    began = time.monotonic()
    target = float(job.inputs["points"]["x"].mean())
    place = torch.zeros(len(job.members), dtype=torch.float64)
    path = torch.zeros(len(job.members), job.own.steps, dtype=torch.float64)

    def advance(begin: int, end: int) -> None:
        for step in range(begin, end):
            noise = [job.streams.generator("noise", m, step).standard_normal() for m in job.members]
            place.add_(job.own.rate * (target - place) + 0.01 * torch.tensor(noise))
            path[:, step] = place
            time.sleep(job.own.pause)

    run_resumable(job, job.own.steps, 5, {"place": place, "path": path}, advance)
    note(f"{job.name} {began} {time.monotonic()}", "TOY_SPANS")
    coords = {
        "seed": ("seed", list(job.members), {"long_name": "seed", "units": "1"}),
        "step": ("step", np.arange(job.own.steps), {"long_name": "step", "units": "1"}),
    }
    data = {"place": (("seed", "step"), path.numpy(), {"long_name": "position", "units": "1"})}
    return Result(xr.Dataset(data, coords=coords), {"place": place})


def average_walks(job: Job, joined: xr.Dataset) -> xr.Dataset:
    """The walks and their mean over seeds."""
    tell(job)
    attrs = {"long_name": "mean position", "units": "1"}
    return joined.assign(mean_place=joined["place"].mean("seed").assign_attrs(attrs))
