"""Inputs of figures 8 to 14 by role, small and made by `synthetic`, in which the claims are true."""

from __future__ import annotations

from functools import cache

import numpy as np
import xarray as xr
from tests.linattn import figure_inputs, synthetic

SHARES = (0.0, 0.2, 0.4, 1.0)
STEPS = np.arange(0, 5001, 10)


def fig8() -> dict[str, xr.Dataset]:
    merged = {"model": "merged", "heads": 4, "init_std": 1e-4, "learning_rate": 0.1}
    # Names are out of order, as are those of a result whose parameters were sorted by name.
    separate = {"init_std": 0.01, "heads": 5, "learning_rate": 0.5}
    runs = synthetic.make_runs(
        {
            "another_separate": {**separate, "task": "high32_task"},
            "merged16": {**merged, "task": "high16_task"},
            "merged32": {**merged, "task": "high32_task"},
            "separate16": {**separate, "task": "high16_task"},
        },
        epochs=4000,
        record_every=5,
        snapshot_every=2000,
        seeds=4,
    )
    return {"runs": runs, "theory": synthetic.make_theory()}


def fig9() -> dict[str, xr.Dataset]:
    merged = {**figure_inputs.MERGED, "init_std": 1e-5}
    runs = synthetic.make_runs(
        {
            "aligned": {**merged, "task": "white_task", "start": "aligned", "init_std": 1e-3},
            "merged": {**merged, "samples": 500},
            "population": merged,
        },
        epochs=3000,
        record_every=10,
        snapshot_every=50,
    )
    run = runs.sel(run=["population"])
    time = runs.epoch.values * float(run.time_per_epoch[0])
    flow = xr.Dataset(
        {"A_diagonal": (("run", "seed", "time", "direction"), run.A_diagonal.values.astype(np.float64))},
        coords={"run": ["population"], "seed": runs.seed.values, "time": time},
    )
    return {"runs": runs, "theory": synthetic.make_theory(), "flow": synthetic.described(flow)}


def fig10() -> dict[str, xr.Dataset]:
    inputs = figure_inputs.fig3()
    del inputs["sets"]
    theory = inputs["theory"]
    factor = np.array([1.0, 4.0, 16.0])
    distance = np.broadcast_to(
        0.2 / factor[:, None], (theory.sizes["task"], len(factor), theory.sizes["direction"])
    )
    theory["regression_distance"] = (("task", "factor", "direction"), distance.copy())
    theory["regression_distance"] = theory.regression_distance.where(theory.late_map.notnull())
    inputs["theory"] = theory.assign_coords(factor=factor)
    return inputs


def flow_of(runs: xr.Dataset) -> xr.Dataset:
    """The first seed of each run as its own flow."""
    steps = runs.epoch.values
    first = runs.isel(seed=[0]).rename(epoch="time")
    at = ("run", "seed", "time")
    time = steps * float(runs.time_per_epoch[0])
    return synthetic.described(
        xr.Dataset(
            {
                "loss": (at, first.loss.values),
                "v": ((*at, "head"), first.v.values),
                "drift_key_query": (at[:2], np.full((runs.sizes["run"], 1), 1e-11)),
                "drift_value": (at[:2], np.full((runs.sizes["run"], 1), 1e-10)),
            },
            coords={
                "run": runs.run.values,
                "seed": runs.seed.values[:1],
                "time": time,
                "head": runs["head"].values,
                "step": (("run", "time"), np.broadcast_to(steps, (runs.sizes["run"], len(steps)))),
            },
        )
    )


def fig11() -> dict[str, xr.Dataset]:
    task = {"task": "high16_task", "init_std": 0.01, "learning_rate": 0.3, "heads": 3}
    runs = synthetic.make_runs(
        {
            "rank2": {**task, "rank": 2},
            "rank3": {**task, "rank": 3},
            "rank4": {**task, "rank": 4},
        },
        epochs=14000,
        record_every=10,
        snapshot_every=2000,
        seeds=4,
    )
    return {"runs": runs, "theory": synthetic.make_theory(), "flow": flow_of(runs)}


def fig13() -> dict[str, xr.Dataset]:
    task = {"task": "repeated_task", "init_std": 0.02, "learning_rate": 0.6, "heads": 4}
    runs = synthetic.make_runs(
        {"rank1": task, "rank2": {**task, "rank": 2}, "rank4": {**task, "rank": 4}},
        epochs=3000,
        record_every=10,
        snapshot_every=1500,
        seeds=4,
    )
    return {"runs": runs, "theory": synthetic.make_theory()}


def _fall(first: float, last: float, place: float, width: float = 0.08) -> np.ndarray:
    """A smooth fall, or rise, half-way at a step."""
    return first + (last - first) / (1 + np.exp(-(STEPS - place) / (width * place)))


@cache
def _curves() -> dict[str, np.ndarray]:
    """Losses by kind, (share, epoch): those of the published setting, made up of smooth steps."""
    in_weight = {
        0.0: _fall(1.0, 0.0909, 750),
        0.2: _fall(1.0, 0.255, 600) + _fall(0.0, 0.76, 2600),
        0.4: _fall(1.0, 0.35, 900) + _fall(0.0, 0.73, 2000),
        1.0: _fall(1.0, 1.1, 2970),
    }
    in_context = {
        0.0: _fall(1.0, 2.818, 750),
        0.2: _fall(1.0, 1.245, 700) - _fall(0.0, 0.995, 2500),
        0.4: _fall(1.0, 1.08, 900) - _fall(0.0, 0.925, 1900),
        1.0: _fall(1.0, 0.14, 2970),
    }
    training = {
        0.0: in_weight[0.0],
        0.2: _fall(1.0, 0.12, 750),
        0.4: _fall(1.0, 0.12, 1060),
        1.0: in_context[1.0],
    }
    kinds = {"loss": training, "loss_in_context": in_context, "loss_in_weight": in_weight}
    return {name: np.stack([curves[share] for share in SHARES]) for name, curves in kinds.items()}


def fig14() -> dict[str, xr.Dataset]:
    theory = synthetic.make_theory()
    white = theory.sel(task="white_task")
    levels = {
        (0.0, "loss_in_weight"): float(white.in_weight_floor),
        (0.0, "loss_in_context"): float(white.in_weight_in_context_loss),
        (1.0, "loss_in_context"): float(white.plateau_loss.dropna("plateau")[-1]),
        (1.0, "loss_in_weight"): 1.1,
    }
    theory["in_context_in_weight_loss"] = xr.full_like(theory.in_weight_floor, 1.1)
    data = {}
    for name, curves in _curves().items():
        curves = curves.copy()
        for (share, kind), level in levels.items():
            if kind == name:
                k = SHARES.index(share)
                start, end = curves[k, 0], curves[k, -1]
                curves[k] = start + (curves[k] - start) * (level - start) / ((end - start) or 1.0)
        data[name] = (("share", "seed", "epoch"), np.stack([curves, 1.01 * curves], axis=1))
    runs = xr.Dataset(data, coords={"share": list(SHARES), "seed": [0, 1], "epoch": STEPS})
    own = {"heads": 8, "learning_rate": 0.0155, "init_std": 5.57e-6}
    return {"runs": synthetic.described(runs, {"own": own}), "theory": theory}


INPUTS = {
    "fig8": fig8,
    "fig9": fig9,
    "fig10": fig10,
    "fig11": fig11,
    "fig12": fig11,
    "fig13": fig13,
    "fig14": fig14,
}
