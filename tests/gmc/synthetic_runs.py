"""Results of training in the schema of the real ones, made of smooth steps; test sets and floors are real."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import xarray as xr
from tests.figures.reading import PLOTTING
from tests.gmc.small_gmc import make_section, make_sets

from onset.job.context import Job
from onset.papers.gmc.floors import solve_floors
from onset.papers.gmc.selection import random_scores, score_ceilings, take_levels
from onset.params.gmc import Floors
from onset.randomness import Streams

SECTIONS = {
    "base": make_section(c=1.1),
    "close": make_section(c=1.05),
    "loose": make_section(c=1.2),
    "long": make_section(c=1.1, T=10),
    "wide": make_section(c=1.1, d_in=20),
}
BACKBONE: dict[str, Any] = {
    "width": 24,
    "heads": 3,
    "ffn": 32,
    "init_std": 0.02,
    "projections": "default",
    "rope_theta": 1e4,
}
OPTIMISER = {"batch": 16, "learning_rate": 0.01}
STEPS = 400


@cache
def make_test() -> xr.Dataset:
    test = make_sets(SECTIONS["base"])
    return test.assign_attrs(onset_params=json.dumps({"task": SECTIONS["base"].model_dump(mode="json")}))


@cache
def make_floors() -> xr.Dataset:
    """Floors of all tasks; the base task's posterior is as uncertain as the loose one's, as in the paper."""
    tests = {role: make_sets(section, samples=300) for role, section in SECTIONS.items()}
    streams = Streams(0, "gmc", "floors")
    found = solve_floors(
        Job("gmc", "floors", "test", "-", Floors(draws=2000), SECTIONS, tests, streams=streams)
    )
    found.match_weight.loc[{"task": "base"}] = found.match_weight.sel(task="loose").values
    return found


def _rise(step: np.ndarray, at: float, width: float) -> np.ndarray:
    """0 to 1 with half at `at`, a quarter to three quarters in `width`."""
    return 1 / (1 + np.exp(-(step - at) * np.log(9) / width))


def build_map(length: int, offset: int, weight: float) -> np.ndarray:
    """Attention (length, length) with `weight` on key q - offset where there is one, the rest even."""
    q = np.arange(length)
    attention = np.tril(np.ones((length, length))) / (q[:, None] + 1)
    rows = q[q >= offset]
    attention[rows] *= 1 - weight
    attention[rows, rows - offset] += weight
    return attention


def make_runs(
    role: str = "base",
    emerges: float = 160.0,
    width: float = 40.0,
    layers: int = 2,
    seeds: int = 3,
    steps: int = STEPS,
    architecture: str = "llama",
    learned: float = 0.995,
    maps: bool = True,
) -> xr.Dataset:
    """Runs whose loss leaves the uniform average for the Bayes floor at `emerges`, scores with it.

    `learned` is how far all get; 0 leaves loss and IH-MC on the plateau, as one layer does.  Head 0 of
    layer 0 looks back by one, head 1 of the last layer follows the match.
    """
    section = SECTIONS[role if role in SECTIONS else "base"]
    levels, T, K, heads = take_levels(make_floors(), role), section.T, section.T, BACKBONE["heads"]
    step = np.arange(0, steps + 1, 5)
    at = emerges + 3.0 * (np.arange(seeds) - (seeds - 1) / 2)
    way = learned * np.stack([_rise(step, one, width) for one in at])
    first = np.exp(-step / 12.0)
    uniform, bayes = float(levels.uniform_loss), float(levels.bayes_loss)
    loss = uniform + (bayes - uniform) * way + (float(levels.zero_loss) - uniform) * first
    start, end = random_scores(T, K), score_ceilings(levels)
    axes = ("seed", "step", "layer", "head")
    scores = {name: np.full((seeds, len(step), layers, heads), start[name]) for name in start}
    previous, follows = (slice(None), slice(None), 0, 0), (slice(None), slice(None), layers - 1, 1)
    for name, place, lag in (("PTH", previous, -6.0), ("IH_MC", follows, 2.0), ("IH_Repeat", follows, -10.0)):
        share = max(learned, 0.995 * (name != "IH_MC")) * np.stack(
            [_rise(step, one + lag, width) for one in at]
        )
        scores[name][place] += (end[name] - start[name]) * share
    control = np.full_like(scores["PTH"], start["IH_Repeat"])
    if learned == 0:
        control[:] = scores["IH_Repeat"] - 0.02
    overall = take_levels(make_floors(), role, "all")
    ends = float(overall.uniform_loss), float(overall.bayes_loss)
    data: dict[str, Any] = {
        "test_loss": (("seed", "step"), loss, "test loss"),
        "train_loss": (("seed", "step"), np.where(step == 0, np.nan, loss), "training loss"),
        "IH_Repeat_control": (axes, control, "IH-Repeat on sequences that do not repeat"),
        "final_loss": (("seed",), ends[0] + (ends[1] - ends[0]) * way[:, -1], "test loss at the end"),
        "final_PTH": (axes[:1] + axes[2:], scores["PTH"][:, -1], "PTH at the end"),
        "final_IH_MC": (axes[:1] + axes[2:], scores["IH_MC"][:, -1], "IH-MC at the end"),
    }
    data |= {name: (axes, values, name) for name, values in scores.items()}
    coords = {"seed": np.arange(seeds), "step": step, "layer": np.arange(layers), "head": np.arange(heads)}
    if maps:
        kept = np.array([0, steps])
        attention = np.zeros((seeds, 2, layers, heads, 2 * K, 2 * K))
        attention[:] = build_map(2 * K, 0, 0.0)
        attention[:, 1, 0, 0] = build_map(2 * K, 1, 0.95)
        attention[:, 1, layers - 1, 1] = build_map(2 * K, K - 1, 0.9)
        dims = ("seed", "map_step", "layer", "head", "query", "key")
        data["attention"] = (dims, attention, "attention on a repeated sequence")
        coords |= {"map_step": kept, "query": np.arange(2 * K), "key": np.arange(2 * K)}
    given = {
        "own": {"architecture": architecture, "layers": layers, "steps": steps},
        "task": section.model_dump(mode="json"),
        "backbone": BACKBONE,
        "optimiser": OPTIMISER,
    }
    return xr.Dataset(
        {
            name: (dims, values.astype(np.float32), {"long_name": text, "units": "1"})
            for name, (dims, values, text) in data.items()
        },
        coords={name: (name, values, {"long_name": name, "units": "1"}) for name, values in coords.items()},
        attrs={"onset_params": json.dumps(given)},
    )


def fig1() -> dict[str, xr.Dataset]:
    return {"test": make_test()}


def fig2() -> dict[str, xr.Dataset]:
    return {"runs": make_runs(), "floors": make_floors()}


def fig5() -> dict[str, xr.Dataset]:
    return {
        "base": make_runs(),
        "gpt2": make_runs(emerges=230, width=60, architecture="gpt2"),
        "close": make_runs("close", emerges=130, width=30),
        "loose": make_runs("loose", emerges=200, width=50),
        "long": make_runs("long", emerges=220, width=60),
        "wide": make_runs("wide", emerges=250, width=70),
        "floors": make_floors(),
    }


def fig6() -> dict[str, xr.Dataset]:
    return {
        "depth1": make_runs(layers=1, learned=0.0),
        "base": make_runs(),
        "depth4": make_runs(layers=4, emerges=150),
        "depth8": make_runs(layers=8, emerges=140, seeds=1),
        "depth16": make_runs(layers=16, steps=10, seeds=1, maps=False),
        "depth32": make_runs(layers=32, steps=10, seeds=1, maps=False),
        "floors": make_floors(),
    }


INPUTS = {"fig1": fig1, "fig2": fig2, "fig5": fig5, "fig6": fig6, "fig7": fig2, "fig8": fig2}


def make_job(figure: str, own: Any, inputs: dict[str, xr.Dataset]) -> Job:
    return Job("gmc", figure, "test", "-", own, {"plotting": PLOTTING}, inputs)
