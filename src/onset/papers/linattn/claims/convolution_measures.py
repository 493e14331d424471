"""What the claims about the convolutional form measure (figure 2)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.linattn.claims.measures import Inputs, lack_run, take_runs
from onset.papers.linattn.convolution import attend, convolve_heads, form_feature, respond

SEQUENCES = 200
"""Sequences on which attention and network are compared; they agree on each alone."""


def trained_heads(run: xr.Dataset, snapshot: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """v (H,), k and q (H, D) of every seed at a snapshot, float64."""
    epoch = int(run.snapshot_epoch[snapshot])
    now = run.isel(snapshot=snapshot, rank=0).sel(epoch=epoch)
    names = {
        "v": ("seed", "head"),
        "keys": ("seed", "head", "direction"),
        "queries": ("seed", "head", "direction"),
    }
    v, k, q = (now[name].transpose(*dims).values.astype(np.float64) for name, dims in names.items())
    return list(zip(v, k, q, strict=True))


def attention_against_network(inputs: Inputs) -> Measured:
    """Largest difference of predictions between attention over tokens and the network, over their size.

    The network has the heads of `runs`, or of `network` where such inputs are given.
    """
    runs = take_runs(inputs["runs"], model="separate", rank_of=1)
    if not runs:
        return lack_run("of rank one")
    networks = take_runs(inputs.get("network", inputs["runs"]), model="separate", rank_of=1)
    generator, worst = np.random.default_rng(0), 0.0
    for heads, (v, k, q) in zip(trained_heads(networks[0], -1), trained_heads(runs[0], -1), strict=True):
        D, N = k.shape[-1], 12
        x, query = generator.standard_normal((SEQUENCES, N, D)), generator.standard_normal((SEQUENCES, D))
        y = np.einsum("snd,sd->sn", x, generator.standard_normal((SEQUENCES, D)))
        beta = np.einsum("sn,snd->sd", y, x) / N
        attention = attend(x, y, query, v, k, q)
        network = convolve_heads(form_feature(beta, query), *heads)
        worst = max(worst, float(np.max(np.abs(attention - network)) / np.max(np.abs(attention))))
    return Measured(worst, f"{SEQUENCES} random sequences with the trained heads of every seed")


def trained_maps(inputs: Inputs) -> Measured:
    """Largest difference between recorded A and the network's answers to unit features, over A's largest."""
    runs = take_runs(inputs["runs"], model="separate", rank_of=1)
    if not runs:
        return lack_run("of rank one")
    run, worst = runs[0], 0.0
    for snapshot in range(run.sizes["snapshot"]):
        stored = run.A.isel(snapshot=snapshot).transpose("seed", "direction", "column").values
        for A, heads in zip(stored, trained_heads(run, snapshot), strict=True):
            worst = max(worst, float(np.max(np.abs(A - respond(*heads)))))
    largest = float(abs(run.A).max())
    return Measured(worst / largest, f"{run.sizes['snapshot']} records of {run.sizes['seed']} seeds")
