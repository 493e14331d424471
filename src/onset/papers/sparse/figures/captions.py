"""What a figure's footnote says of chains and runs, and which of their settings are our choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from onset.papers.sparse.selection import read_chain

AUTHORS_BATCH = 3000
MODELS = {"minimal": "minimal model", "full": "full model"}
OPTIMISERS = {"adamw": "AdamW", "sgd": "SGD"}
DIVERGENCE = "KL(reference || model), means over validation sequences and the T predictions."
STAGES = (
    "Dashed: ends of stages, where the KL of the thick run to a predictor that lacks groups has made a tenth "
    "of its growth after its least value (our rule; the paper's lines are set by eye)."
)


def describe_lags(groups: list[list[int]]) -> str:
    """`lags 1-2, 3-4, 5-6`, the most important group first."""
    parts = [f"{min(g)}-{max(g)}" if len(g) > 1 else f"{g[0]}" for g in groups]
    return "lags\xa0" + ",\xa0".join(parts)


def describe_chain(run: xr.Dataset) -> str:
    """Sizes and scales of the chain of a run (see `take_run`); of α, where it is not even, also the order."""
    chain: dict[str, Any] = read_chain(run)
    if not chain:
        return f"m\xa0=\xa0{float(run.m):g}, b₀\xa0=\xa0{float(run.b0):g}"
    text = (
        f"Chain: d\xa0=\xa0{chain['d']}, T\xa0=\xa0{chain['T']}, w\xa0=\xa0{chain['window']}, "
        f"{describe_lags(chain['groups'])} (most important first), m\xa0=\xa0{chain['m']:g}, "
        f"b₀\xa0=\xa0{chain['b0']:g} (b₀ is inferred)"
    )
    if chain.get("alpha"):
        weights = "/".join(f"{value:g}" for value in chain["alpha"][0])
        text += f", α\xa0=\xa0{weights}, oldest token of a group first"
    if chain.get("scaling") == "sum" and len({len(group) for group in chain["groups"]}) > 1:
        text += ", tokens of a group are summed, not averaged, so that larger groups have larger gains"
    if chain.get("mutually_orthogonal"):
        text += ", matrices orthogonal to each other"
    return text


def describe_run(run: xr.Dataset, *leave_out: str) -> str:
    """Model, start, optimiser, batch and data of a run, and its seeds, in one phrase.

    `leave_out` names what is said elsewhere: model, heads, start, data, batch or seeds.
    """
    layers, samples, batch = int(run.layers), int(run.samples), int(run.batch)
    rate, seeds = float(run.learning_rate), run.sizes["seed"]
    model = MODELS[str(run.model.values)]
    parts = {
        "model": f"{model} of {layers}\xa0block" + "s" * (layers > 1),
        "heads": f"{int(run.heads)}\xa0heads",
        "start": describe_start(run),
        "optimiser": f"{OPTIMISERS[str(run.optimiser.values)]}, learning rate\xa0{rate:g}",
        "batch": f"batch\xa0{batch}" + f" (authors:\xa0{AUTHORS_BATCH})" * (batch != AUTHORS_BATCH),
        "data": f"{samples}\xa0sequences" if samples else "fresh sequences at each step",
        "seeds": f"{seeds}\xa0seed" + "s" * (seeds > 1),
    }
    return ", ".join(text for name, text in parts.items() if text and name not in leave_out)


def describe_start(run: xr.Dataset) -> str:
    """The start of a run: Xavier or the scale u of the key-query matrices."""
    scale = float(run.init_scale)
    return "Xavier start" if np.isnan(scale) else f"start\xa0u\xa0=\xa0{format_scale(scale)}, V\xa0=\xa00"


def format_scale(value: float) -> str:
    """1e-9 as 10⁻⁹; other numbers in three digits."""
    if value > 0 and abs(np.log10(value) - round(np.log10(value))) < 1e-9 and value < 0.1:
        return f"10{str(round(np.log10(value))).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    return f"{value:.3g}"


def describe_seed(run: xr.Dataset, seed: int) -> str:
    """Which seed is drawn thick, and that others are thin."""
    return f"Thick: seed\xa0{seed}" + (", thin: the others." if run.sizes["seed"] > 1 else ".")
