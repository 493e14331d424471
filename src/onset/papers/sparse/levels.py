"""Levels that curves can be held against: entropies of the chains, divergences of their prefix predictors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from onset.papers.sparse.chain import Chain, Floats, Tokens, read_chain
from onset.papers.sparse.predictors import divergence, entropy, prefix_log_probabilities

if TYPE_CHECKING:
    from onset.job.context import Job

PIECE = 250  # sequences evaluated at once, for memory

PREFIX = {
    "KL_from": "divergence of the chain from f_{A_1:i}, KL(f_{A_1:i} || chain)",
    "KL_to": "divergence of f_{A_1:i} from the chain, KL(chain || f_{A_1:i})",
    "prefix_loss": "cross-entropy of f_{A_1:i}",
}
WHOLE = {
    "entropy": "entropy of the chain",
    "uniform_excess": "excess loss of the uniform predictor, log d - entropy",
}


def measure_levels(
    chain: Chain, matrices: Floats, tokens: Tokens, floor: float
) -> dict[str, float | np.ndarray]:
    """Means over sequences and the T positions, exact for each context: see `solve_levels`."""
    sums: dict[str, Any] = {"entropy": 0.0, "KL_from": np.zeros(chain.h), "KL_to": np.zeros(chain.h)}
    for begin in range(0, len(tokens), PIECE):
        log_p = prefix_log_probabilities(chain, matrices, tokens[begin : begin + PIECE])
        sums["entropy"] += entropy(log_p[-1]).sum()
        sums["KL_from"] += divergence(log_p, log_p[-1], floor).sum((1, 2))
        sums["KL_to"] += divergence(log_p[-1], log_p, floor).sum((1, 2))
    found = {name: value / (len(tokens) * chain.T) for name, value in sums.items()}
    found["prefix_loss"] = found["entropy"] + found["KL_to"]
    found["uniform_excess"] = np.log(chain.d) - found["entropy"]
    return found


def solve_levels(job: Job) -> xr.Dataset:
    """Entropy and divergences of every chain and seed, on its validation sequences, float64, in nats.

    entropy and uniform_excess (chain, seed); KL_from, KL_to and prefix_loss (chain, seed, prefix), prefix i
    the predictor of the first i groups.  NaN where a chain has fewer seeds or groups than another.
    Source: the paper's f_{A_1:i} (arXiv 2602.19143, section 2.3), means over contexts ours.
    """
    sources = {
        str(name): data.sel(chain=name) for data in job.inputs.values() for name in data["chain"].values
    }
    chains = {name: read_chain(section) for name, section in job.sections.items()}
    seeds = sorted({int(seed) for data in sources.values() for seed in data["seed"].values})
    h = max(chain.h for chain in chains.values())
    values = {name: np.full((len(chains), len(seeds)), np.nan) for name in WHOLE}
    values |= {name: np.full((len(chains), len(seeds), h), np.nan) for name in PREFIX}
    for i, (name, chain) in enumerate(chains.items()):
        for seed in sources[name]["seed"].values:
            data = sources[name].sel(seed=seed)
            tokens = data["validation"].values.astype(np.int64)
            found = measure_levels(chain, data["matrices"].values, tokens, job.own.floor)
            for level in WHOLE:
                values[level][i, seeds.index(seed)] = found[level]
            for level in PREFIX:
                values[level][i, seeds.index(seed), : chain.h] = found[level]
    sections = list(job.sections.values())

    def label(dims: tuple[str, ...], array: Any, text: str, units: str = "1") -> tuple:
        return dims, np.asarray(array), {"long_name": text, "units": units}

    return xr.Dataset(
        {name: label(("chain", "seed"), values[name], text, "nats") for name, text in WHOLE.items()}
        | {
            name: label(("chain", "seed", "prefix"), values[name], text, "nats")
            for name, text in PREFIX.items()
        },
        coords={
            "chain": label(("chain",), list(chains), "chain"),
            "seed": label(("seed",), seeds, "seed"),
            "prefix": label(("prefix",), np.arange(1, h + 1), "groups that the predictor sees"),
            "d": label(("chain",), [s.d for s in sections], "symbols"),
            "T": label(("chain",), [s.T for s in sections], "sampled tokens"),
            "window": label(("chain",), [s.window for s in sections], "tokens of the window"),
            "m": label(("chain",), [s.m for s in sections], "ratio of importance"),
        },
    )
