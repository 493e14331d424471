"""Starting weights, each a function of the named stream, its own name and the seed alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from onset.papers.sparse.models.model import Weight
from onset.randomness import Streams

Floats = NDArray[np.float64]


def draw_start(streams: Streams, weights: Mapping[str, Weight], seeds: Sequence[int]) -> dict[str, Floats]:
    """Starting parameters (seed, ...) by name, float64.

    Of two models, parameters of equal name and size start alike; with more heads, the first ones do.
    """
    return {
        name: np.stack([draw_weight(streams.generator(f"weights {name}", seed), weight) for seed in seeds])
        for name, weight in weights.items()
    }


def draw_weight(generator: np.random.Generator, weight: Weight) -> Floats:
    """One parameter at its start; see `Weight`.

    Orthonormal: the factor Q of a Gaussian matrix, with the signs that make it uniform (Haar), as
    torch.nn.init.orthogonal_ does.
    """
    if weight.start == "constant":
        return np.full(weight.size, weight.scale)
    if weight.start == "uniform":
        return weight.scale * generator.uniform(-1, 1, weight.size)
    rows, columns = weight.size
    normal = generator.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(normal)
    q *= np.sign(np.diag(r))
    return weight.scale * np.ascontiguousarray(q if rows >= columns else q.T)
