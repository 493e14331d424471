"""Sets that mix in-context with in-weight sequences, as moments, and the two test sets."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.papers.linattn.features import Moments, full_features, pair_indices
from onset.papers.linattn.task import draw_sequences, label, open_streams

if TYPE_CHECKING:
    from onset.job.context import Job
    from onset.params.linattn import MixtureSets, Task
    from onset.randomness import Streams

CHUNK = 2000  # sequences held in memory at once
SETS = {"": "training set", "_in_context": "in-context test set", "_in_weight": "in-weight test set"}


def draw_fixed_vector(streams: Streams, D: int, seed: int) -> np.ndarray:
    """The task vector of in-weight sequences: isotropic, of norm sqrt(D)."""
    w = streams.generator("fixed", seed).standard_normal(D)
    return w * np.sqrt(D) / np.linalg.norm(w)


def label_mixture(
    streams: Streams, x: np.ndarray, w: np.ndarray, share: float, samples: int, seed: int, first: int
) -> np.ndarray:
    """Labels (P, N+1) of the sequences first, first+1, ... of a set of `samples`.

    The first int(share * samples) sequences have a w of their own, the others the fixed one.  At share 0
    context labels are N(0, 1) noise, so that only the weights can tell the target.
    Source: the authors' program behind Figure 14 of arXiv 2501.16265, which the paper's text does not state.
    """
    fixed = draw_fixed_vector(streams, x.shape[2], seed)
    number = first + np.arange(len(x))
    own = (number < int(share * samples))[:, None]
    y = label(x, np.where(own, w, fixed))
    if share == 0:
        noise = streams.generator("noise", seed, first).standard_normal(y[:, :-1].shape)
        y = np.concatenate([noise, y[:, -1:]], 1)
    return y


def sum_mixture(streams: Streams, task: Task, seed: int, share: float, samples: int, purpose: str) -> Moments:
    """Moments of all features over one set."""
    D = task.dimension
    moments = Moments.empty(len(pair_indices(D)[0]) * D)
    for first in range(0, samples, CHUNK):
        x, w = draw_sequences(streams, task, seed, first, min(first + CHUNK, samples), purpose)
        y = label_mixture(streams, x, w, share, samples, seed, first)
        moments.add(full_features(x, y), y[:, -1])
    return moments


def draw_mixture(job: Job) -> xr.Dataset:
    """Moments of training sets at every share of in-context sequences, and of the test sets, float64.

    S(share, seed, feature, feature2), b and c as in `onset.papers.linattn.sets`; with suffix `_in_context`
    (every w fresh) and `_in_weight` (the fixed w, noise as context) without `share`.
    """
    own: MixtureSets = job.own
    task: Task = job.sections["task"]
    streams = open_streams(job.streams)
    total = len(own.seeds) * (len(own.shares) + 2)
    counting = job.reporter.steps(total, "sets") if job.reporter is not None else nullcontext()
    found: dict[str, list] = {suffix: [] for suffix in SETS}
    with counting as counter:
        for seed in own.seeds:
            train = [
                sum_mixture(streams, task, seed, share, own.samples, "training").mean()
                for share in own.shares
            ]
            found[""].append([np.stack([part[i] for part in train]) for i in range(3)])
            for suffix, share in (("_in_context", 1.0), ("_in_weight", 0.0)):
                test = sum_mixture(streams, task, seed, share, own.test_samples, suffix.strip("_"))
                found[suffix].append(test.mean())
            if counter is not None:
                counter.advance(len(own.shares) + 2)
    variables = {}
    for suffix, text in SETS.items():
        for i, (letter, axes) in enumerate(
            {"S": ("feature", "feature2"), "b": ("feature",), "c": ()}.items()
        ):
            values = np.stack([part[i] for part in found[suffix]])
            dims: tuple[str, ...] = ("seed", *axes)
            if not suffix:
                values, dims = values.swapaxes(0, 1), ("share", *dims)
            attributes = {"long_name": f"moment {letter} of the {text}", "units": "1"}
            variables[f"{letter}{suffix}"] = (dims, values, attributes)
    return xr.Dataset(
        variables,
        coords={
            "share": (
                "share",
                np.asarray(own.shares),
                {"long_name": "share of in-context sequences", "units": "1"},
            ),
            "seed": ("seed", np.asarray(own.seeds), {"long_name": "seed", "units": "1"}),
        },
    )
