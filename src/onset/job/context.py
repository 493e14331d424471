"""The one argument of every callable that the catalogue names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onset.randomness import Streams

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.progress import Reporter
    from onset.job.state import SavedState


@dataclass(frozen=True)
class Job:
    """One step of the pipeline, as its callable sees it.

    own        the experiment's (or figure's) own section of params.yaml, a pydantic model
    sections   the shared sections that its catalogue entry reads, by name (`sections["task"]`)
    inputs     the Datasets it needs, by role; each is read from disk when first asked for
    members    the seeds or chains that this block computes; None where the experiment has none
    streams    named random streams (see `onset.randomness`)
    device     "cpu" or "cuda"
    reporter   progress: a bar in a terminal, plain lines in the log
    saved      state of an interrupted run, under the recipe of this job
    """

    paper: str
    name: str
    scale: str
    recipe: str
    own: Any
    sections: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, xr.Dataset] = field(default_factory=dict)
    members: tuple[int, ...] | None = None
    streams: Streams = field(default_factory=lambda: Streams(0, "", ""))
    device: str = "cpu"
    reporter: Reporter | None = None
    saved: SavedState | None = None


@dataclass(frozen=True)
class Result:
    """What a callable returns when it has weights to keep beside its Dataset.

    `checkpoint` maps names to arrays or tensors; the member axis, where there is one, comes first.
    """

    dataset: xr.Dataset
    checkpoint: Mapping[str, Any] | None = None
