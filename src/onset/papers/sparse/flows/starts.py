"""Starts of the flows: attention that is uniform but for noise; random starts of the invariant region.

Source: arXiv 2602.19143, appendix D.1 (V = 0, Gaussian noise of covariance 1e-6), and the authors' code
(facts: uniform noise in [0, 1e-3]).  The paper does not say that rows are normalised; Pi(s) assumes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onset.errors import OnsetError
from onset.papers.sparse.flows.features import Array, Features, read_features
from onset.papers.sparse.flows.labels import label_flows

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job
    from onset.params.sparse import FlowNoise
    from onset.randomness import Streams


def draw_attention(streams: Streams, given: FlowNoise, features: Features, seed: int) -> Array:
    """s (heads, T) of one seed: 1/T + noise, rows normalised.

    `given.epsilon` is the largest entry of uniform noise, or the standard deviation of Gaussian noise.
    Raises OnsetError where noise leaves an entry of s that is not positive.
    """
    generator = streams.generator(given.noise, seed)
    shape = (features.h, features.T)
    drawn = generator.uniform(size=shape) if given.noise == "uniform" else generator.normal(size=shape)
    s = 1 / features.T + given.epsilon * drawn
    if not np.all(s > 0):
        raise OnsetError(
            f"{given.noise} noise with epsilon = {given.epsilon:g} leaves attention that is not positive for "
            f"seed {seed}; entries start at 1/T = {1 / features.T:g}, so that epsilon should be well below it"
        )
    return s / s.sum(-1, keepdims=True)


def draw_region_start(streams: Streams, features: Features, start: int) -> tuple[Array, Array]:
    """Random V (h,), s (T,) in the invariant region of the coupled flow: the first feature leads in both.

    s is uniform on the simplex and V standard normal, but for the exchange that puts the largest first.
    """
    generator = streams.generator("region", start)
    s, V = generator.dirichlet(np.ones(features.T)), generator.normal(size=features.h)
    for x in (s[: features.h], V):
        leader = int(x.argmax())
        x[[0, leader]] = x[[leader, 0]]
    return V, s


def draw_starts(job: Job) -> xr.Dataset:
    """All starts: s(run, seed, head, position), and random_V(start, feature), random_s(start, position)."""
    features, own = read_features(job.sections["features"]), job.own
    runs = {label: given for label, given in own.runs.items() if given is not None}
    s = [
        [draw_attention(job.streams, given, features, seed) for seed in own.seeds] for given in runs.values()
    ]
    region = [draw_region_start(job.streams, features, start) for start in range(own.random_starts)]
    return label_flows(
        {
            "s": (("run", "seed", "head", "position"), s, "attention at the start"),
            "random_V": (("start", "feature"), [V for V, _ in region], "random values of all heads"),
            "random_s": (("start", "position"), [s for _, s in region], "random attention of all heads"),
        },
        features,
        {
            "run": (("run",), list(runs), "kind of noise"),
            "noise": (("run",), [given.noise for given in runs.values()], "distribution of the noise"),
            "epsilon": (("run",), [given.epsilon for given in runs.values()], "size of the noise"),
            "seed": (("seed",), list(own.seeds), "seed"),
            "start": (("start",), np.arange(1, own.random_starts + 1), "start inside the invariant region"),
        },
    )
