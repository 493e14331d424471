"""Results of training in the schema of the real ones, made of smooth stages that come when they are told to.

Pattern k (from 0) is learned at `times[k]`: p_k goes from 0 to 1.  At first all heads attend to the first
group; when pattern k is learned, one head, another in every seed, leaves for group k.  KL to f_{A_1:i} and
the loss are sums of squares of what is missing or too much, so that each predictor is met when its groups
are learned and the next is not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from tests.figures.reading import PLOTTING

from onset.job.context import Job

CHAIN: dict[str, Any] = {
    "d": 20,
    "T": 10,
    "window": 6,
    "groups": [[1, 2], [3, 4], [5, 6]],
    "alpha": None,
    "m": 1.5,
    "b0": 20.0,
    "scaling": "mean",
    "overlap": False,
    "mutually_orthogonal": False,
}
WORTH = np.array([1.9, 0.75, 0.3])
"""What the loss and KL lose with each pattern."""
REST = 0.05
SETTINGS: dict[str, Any] = {
    "chain": "base_chain",
    "model": "minimal",
    "optimiser": "adamw",
    "layers": 1,
    "heads": 3,
    "samples": 0,
    "batch": 128,
    "steps": 600,
    "context_of": 0,
    "init_scale": np.nan,
    "m": 1.5,
    "b0": 20.0,
    "learning_rate": 0.08,
    "weight_decay": 0.01,
}
TEACHER = 0.35
TIMES = (60.0, 180.0, 380.0)


def _progress(step: np.ndarray, times: np.ndarray) -> np.ndarray:
    """p (step, pattern); a time that is infinite never comes.  Exactly 0 at step 0."""
    found = [
        1 / (1 + (max(at, 1e-9) / np.maximum(step, 1e-9)) ** 8) if np.isfinite(at) else 0.0 * step
        for at in times
    ]
    return np.stack(found, -1)


def _owners(heads: int, groups: int, seed: int) -> list[int]:
    """Group that each head ends on: a permutation by seed; spare heads stay on the first."""
    first = list(range(min(heads, groups))) + [0] * (heads - groups)
    return [first[(head + seed) % heads] for head in range(heads)]


def make_mass(p: np.ndarray, owners: Sequence[int], uniform: np.ndarray) -> np.ndarray:
    """Masses (step, head, group): from uniform to .8 on the first group, then to .8 on the head's own."""
    found = np.empty((len(p), len(owners), len(uniform)))
    for head, own in enumerate(owners):
        left = p[:, own] if own else np.zeros(len(p))
        target = np.full((len(p), len(uniform)), 0.04)
        target[:, 0] = 0.04 + 0.76 * (1 - left)
        target[:, own] = np.where(own == 0, 0.8, 0.04 + 0.76 * left)
        found[:, head] = (1 - p[:, :1]) * uniform + p[:, :1] * target
    return found


def spread_attention(mass: np.ndarray, groups: Sequence[Sequence[int]], T: int, window: int) -> np.ndarray:
    """Attention (..., T, T + window - 1) that gives each group its mass, evenly; the rest goes everywhere."""
    keys = T + window - 1
    found = np.zeros((*mass.shape[:-1], T, keys))
    q = np.arange(T)
    for k, group in enumerate(groups):
        for lag in group:
            found[..., q, q + window - lag] += mass[..., k, None] / len(group)
    allowed = np.arange(keys) <= q[:, None] + window - 1
    rest = np.clip(1 - found.sum(-1, keepdims=True), 0, None)
    return found + rest * allowed / allowed.sum(-1, keepdims=True)


def make_runs(
    runs: Mapping[str, Mapping[str, Any]],
    chain: Mapping[str, Any] | None = None,
    seeds: int = 3,
    every: int = 10,
    map_steps: Sequence[int] = (0, 100, 300, 600),
    contexts: Sequence[int] = (),
    own: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Runs by label; of each, `times` of the patterns and any of SETTINGS, and:

    best     (step, excess) from which on the loss rises again; `together` heads that never differ
    """
    chain = CHAIN | dict(chain or {})
    groups, T, window = chain["groups"], chain["T"], chain["window"]
    h = len(groups)
    given = {
        label: SETTINGS | {"m": chain["m"], "b0": chain["b0"]} | dict(run) for label, run in runs.items()
    }
    last = max(run["steps"] for run in given.values())
    step = np.arange(0, last + 1, every)
    heads, layers = max(run["heads"] for run in given.values()), max(run["layers"] for run in given.values())
    q = np.arange(window, window + T)
    uniform = np.array([len(group) * np.mean(1 / q) for group in groups])
    shape = (len(given), seeds, len(step))
    arrays = {
        "loss": np.full(shape, np.nan),
        "train_loss": np.full(shape, np.nan),
        "KL": np.full((*shape, h), np.nan),
        "KL_learned": np.full((*shape, max(len(contexts), 1)), np.nan),
        "mass": np.full((*shape, layers, heads, h), np.nan),
        "value_alignment": np.full((*shape, heads, h), np.nan),
        "head_difference": np.full(shape, np.nan),
        "attention": np.full((len(given), seeds, len(map_steps), layers, heads, T, T + window - 1), np.nan),
    }
    for r, run in enumerate(given.values()):
        used = step <= run["steps"]
        t = step[used].astype(float)
        for s in range(seeds):
            times = np.asarray(run.get("times", TIMES))[:h] * (1 + 0.04 * s)
            p = _progress(t, times)
            worth = np.resize(WORTH, h)
            excess = (worth * (1 - p)).sum(-1) + REST
            if "best" in run:
                at, level = run["best"]
                excess = np.where(t < at, excess, level)
                excess = np.maximum(excess, level) + 0.01 * np.clip(t - at, 0, None)
            owners = [0] * run["heads"] if run.get("together") else _owners(run["heads"], h, s)
            mass = make_mass(p, owners, uniform)
            arrays["loss"][r, s, used] = TEACHER + excess
            arrays["train_loss"][r, s, used] = TEACHER + excess - 0.02
            for i in range(h):
                known = (np.arange(h) <= i).astype(float)
                arrays["KL"][r, s, used, i] = (worth * (p - known) ** 2).sum(-1) + 0.03
            for c in range(len(contexts)):
                known = (np.arange(h) <= c).astype(float)
                arrays["KL_learned"][r, s, used, c] = (worth * (p - known) ** 2).sum(-1) + 0.05
            for layer in range(run["layers"]):
                arrays["mass"][r, s, used, layer, : run["heads"]] = mass
                for n, at in enumerate(map_steps):
                    if at in step[used]:
                        attention = spread_attention(mass[list(t).index(at)], groups, T, window)
                        arrays["attention"][r, s, n, layer, : run["heads"]] = attention
            for head, owner in enumerate(owners):
                for k in range(h):
                    dip = -0.12 * (k + 1) * p[:, k] if k else 0.0
                    arrays["value_alignment"][r, s, used, head, k] = p[:, k] if owner == k else dip
            arrays["head_difference"][r, s, used] = 0.0 if run.get("together") else 0.1 * p.sum(-1) + 1e-3
    dims = {
        "loss": ("run", "seed", "step"),
        "train_loss": ("run", "seed", "step"),
        "KL": ("run", "seed", "step", "prefix"),
        "KL_learned": ("run", "seed", "step", "context"),
        "mass": ("run", "seed", "step", "layer", "head", "group"),
        "value_alignment": ("run", "seed", "step", "head", "group"),
        "head_difference": ("run", "seed", "step"),
        "attention": ("run", "seed", "map_step", "layer", "head", "query", "key"),
    }
    if not contexts:
        del arrays["KL_learned"]
    coords: dict[str, Any] = {
        "run": list(given),
        "seed": range(seeds),
        "step": step,
        "prefix": range(1, h + 1),
        "group": range(1, h + 1),
        "layer": range(layers),
        "head": range(heads),
        "map_step": list(map_steps),
        "query": range(T),
        "key": range(T + window - 1),
        **({"context": list(contexts)} if contexts else {}),
    }
    for name in SETTINGS:
        coords[name] = ("run", [run[name] for run in given.values()])
    found = xr.Dataset(
        {name: (dims[name], array.astype(np.float32)) for name, array in arrays.items()}, coords=coords
    )
    level = np.full((len(given), seeds), TEACHER, dtype=np.float32)
    found = found.assign(teacher_loss=(("run", "seed"), level), entropy=(("run", "seed"), level))
    names = {str(run["chain"]) for run in given.values()}
    parameters = {"own": dict(own or {}), **dict.fromkeys(names, chain)}
    return found.assign_attrs(onset_params=json.dumps(parameters))


def make_levels() -> xr.Dataset:
    """The entropy of the base chain at the small sizes."""
    return xr.Dataset(
        {
            "entropy": (("chain", "seed"), [[0.353]]),
        },
        coords={"chain": ["base_chain"], "seed": [0], "d": ("chain", [20])},
    )


SMALL = {"init_scale": 1e-3, "steps": 900, "times": (90.0, 270.0, 500.0)}
FULL = {"model": "full", "chain": "wide_chain", "learning_rate": 0.003}
UNEVEN = {"alpha": [[0.7, 0.3]] * 3, "b0": 10.0}
OVERLAP = {"window": 4, "groups": [[1, 2], [2, 3], [3, 4]], "overlap": True}
REVERSED = {"window": 7, "groups": [[7], [5, 6], [1, 2, 3, 4]], "scaling": "sum", "b0": 10.0}
NEVER = np.inf


def tilt_to_heavy(runs: xr.Dataset) -> xr.Dataset:
    """Attention moved from the odd lags to the even ones, in every pair, as weights .7/.3 ask for."""
    attention = runs.attention.values
    T, window = attention.shape[-2], CHAIN["window"]
    q = np.arange(T)
    learned = runs.map_step.values > 0
    for lag in (1, 3, 5):
        light, heavy = (attention[..., q, q + window - at] for at in (lag, lag + 1))
        both = light + heavy
        share = np.where(learned, 0.3, 0.5)[:, None, None, None]
        attention[..., q, q + window - lag] = share * both
        attention[..., q, q + window - lag - 1] = (1 - share) * both
    return runs


def make_base() -> xr.Dataset:
    return make_runs({"main": SMALL}, map_steps=(0, 100, 300, 900))


def make_scales() -> xr.Dataset:
    stalled = {"init_scale": 0.0, "together": True, "times": (40.0, NEVER, NEVER)}
    return make_runs(
        {
            "xavier": {"times": (60.0, 150.0, 330.0)},
            "u1e-3": {"init_scale": 1e-3, "times": (80.0, 230.0, 420.0)},
            "u1e-6": {"init_scale": 1e-6, "times": (80.0, 325.0, 480.0)},
            "u1e-9": {"init_scale": 1e-9, "times": (80.0, 400.0, 560.0)},
            "u0": stalled,
        },
        seeds=2,
        map_steps=(600,),
    )


def make_importances() -> xr.Dataset:
    return make_runs(
        {
            "m1": {"m": 1.0, "times": (60.0, 170.0, 175.0)},
            "m1.3": {"m": 1.3, "times": (60.0, 150.0, 280.0)},
            "m1.5": {"m": 1.5, "times": (60.0, 160.0, 350.0)},
        },
        map_steps=(600,),
    )


def make_full_variants() -> xr.Dataset:
    labels = ("no_norm", "no_residual", "no_feed_forward", "merged")
    return make_runs({label: FULL for label in labels}, seeds=1, map_steps=(600,))


def make_minimal_variants() -> xr.Dataset:
    late = {"weight_decay": 0.0, "times": (60.0, 183.0, 386.0)}
    return make_runs({"default": {}, "heads5": {"heads": 5}, "no_decay": late}, seeds=1, map_steps=(600,))


def make_sizes() -> xr.Dataset:
    return make_runs(
        {
            "online": {},
            "n50": {"samples": 50, "times": (60.0, NEVER, NEVER), "best": (80, 1.5)},
            "n400": {"samples": 400, "times": (60.0, 200.0, NEVER), "best": (260, 0.8)},
            "n4000": {"samples": 4000, "times": (62.0, 185.0, 390.0), "best": (580, 0.12)},
        },
        contexts=(2, 4, 6),
        map_steps=(600,),
    )


def make_full() -> xr.Dataset:
    runs = make_runs({"main": FULL}, contexts=(2, 4, 6), map_steps=(0, 60, 300, 600))
    return tilt_to_heavy(runs)


def make_two_blocks() -> xr.Dataset:
    return make_runs(
        {"minimal": {"layers": 2}, "full": {"model": "full", "layers": 2}}, seeds=1, map_steps=(600,)
    )


def make_uneven() -> xr.Dataset:
    return tilt_to_heavy(make_runs({"main": {}}, UNEVEN, map_steps=(0, 100, 200, 600)))


def make_overlaps() -> xr.Dataset:
    return make_runs({"heads3": {}, "heads4": {"heads": 4}}, OVERLAP, map_steps=(100, 400, 600))


def make_reversed() -> xr.Dataset:
    return make_runs({"main": FULL}, REVERSED, map_steps=(0, 70, 300, 600))


def make_sgd() -> xr.Dataset:
    run = FULL | {"optimiser": "sgd", "learning_rate": 0.2}
    return make_runs({"main": run}, map_steps=(0, 100, 300, 600))


def _with_levels(role: str, make: Any) -> Any:
    return lambda: {role: make(), "levels": make_levels()}


INPUTS = {
    "fig1": _with_levels("runs", make_base),
    "fig2": lambda: {"runs": make_full()},
    "fig3": _with_levels("runs", make_full),
    "fig4": lambda: {
        "scale": make_scales(),
        "importance": make_importances(),
        "full_variants": make_full_variants(),
        "minimal_variants": make_minimal_variants(),
        "levels": make_levels(),
    },
    "fig5": _with_levels("runs", make_sizes),
    "fig8": lambda: {"runs": make_base()},
    "fig9": lambda: {"runs": make_base()},
    "fig10": _with_levels("runs", make_base),
    "fig11": lambda: {"runs": make_reversed()},
    "fig12": _with_levels("runs", make_reversed),
    "fig13": lambda: {"runs": make_two_blocks()},
    "fig14": lambda: {"runs": make_two_blocks()},
    "fig15": lambda: {"runs": make_uneven()},
    "fig16": lambda: {"runs": make_uneven()},
    "fig17": lambda: {"runs": make_overlaps()},
    "fig18": lambda: {"runs": make_overlaps()},
    "fig19": lambda: {"runs": make_overlaps()},
    "fig20": lambda: {"runs": make_sgd()},
    "fig21": lambda: {"runs": make_sgd()},
}
"""Makers of the inputs of every figure, by role."""


def make_job(figure: str, own: Any, inputs: Mapping[str, xr.Dataset]) -> Job:
    return Job("sparse", figure, "test", "-", own, {"plotting": PLOTTING}, inputs)
