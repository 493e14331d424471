"""Inputs of figures 1 to 7 by role, small and made by `synthetic`, with every claim's own run among them."""

from __future__ import annotations

import numpy as np
import xarray as xr
from tests.linattn import synthetic

from onset.papers.linattn.theory.fixed_points import compute_head_values
from onset.papers.linattn.theory.heads import predict_first_drop
from onset.papers.linattn.theory.scalar import compute_scalar_time
from onset.papers.linattn.theory.white import compute_white_loss, project_start, solve_white_course

MERGED = {"model": "merged", "heads": 4, "init_std": 1e-4, "learning_rate": 0.03}


def fig1() -> dict[str, xr.Dataset]:
    runs = synthetic.make_runs(
        {
            "aligned": {**MERGED, "task": "white_task", "start": "aligned", "init_std": 1e-3},
            "aligned_half": {
                **MERGED,
                "task": "white_task",
                "start": "aligned",
                "init_std": 1e-3,
                "learning_rate": 0.015,
            },
            "merged": {**MERGED, "samples": 500},
            "mlp": {**MERGED, "model": "mlp", "samples": 500},
            "population": MERGED,
            "white": {**MERGED, "task": "white_task"},
        },
        epochs=3000,
        record_every=10,
        snapshot_every=500,
    )
    return {"runs": runs, "theory": synthetic.make_theory(), "flow": flow_of(runs)}


def flow_of(runs: xr.Dataset) -> xr.Dataset:
    """A merged flow: Eq. 10 where white, elsewhere the run itself."""
    time = np.linspace(0, float(runs.epoch[-1]) * 0.03, 200)
    labels = [label for label in runs.run.values if int(runs.samples.sel(run=label)) == 0]
    seeds = runs.seed.values[:1]
    loss, sigma, sigma_loss = (np.full((len(labels), 1, len(time)), np.nan) for _ in range(3))
    w_init = np.full((len(labels), 1), np.nan)
    for i, label in enumerate(labels):
        run = runs.sel(run=label).isel(seed=0)
        landscape = synthetic.describe(str(run.task.values))
        v, U = run.v.isel(epoch=0).values, run.U.isel(snapshot=0).values
        kept = np.isfinite(v)
        own = slice(len(landscape.lam))
        w_init[i, 0] = project_start(v[kept], U[kept][:, own, own], landscape)
        times = run.epoch.values * float(run.time_per_epoch)
        loss[i, 0] = np.interp(time, times, run.loss.values)
        if np.ptp(landscape.lam) == 0:
            sigma[i, 0] = solve_white_course(time, w_init[i, 0], landscape)
            sigma_loss[i, 0] = loss[i, 0] = compute_white_loss(sigma[i, 0], landscape)
    at = ("run", "seed", "time")
    return synthetic.described(
        xr.Dataset(
            {
                "loss": (at, loss),
                "sigma": (at, sigma),
                "sigma_loss": (at, sigma_loss),
                "w_init": (at[:2], w_init),
                "drift_value": (at[:2], np.full_like(w_init, 1e-10)),
            },
            coords={"run": labels, "seed": seeds, "time": time},
        )
    )


def fig3() -> dict[str, xr.Dataset]:
    runs = synthetic.make_runs({"set": {"samples": 500}}, epochs=1200, record_every=2, seeds=5)
    population = synthetic.make_runs(
        {
            "half_rate": {"learning_rate": 0.05, "init_std": 0.02},
            "paper": {"learning_rate": 0.1, "init_std": 0.02},
            "small_start": {"init_std": 0.008, "learning_rate": 0.25},
        },
        epochs=5000,
        record_every=5,
        seeds=5,
    )
    theory = synthetic.make_theory()
    for of in ("squared_eigenvalue", "plateau_loss"):
        theory[f"{of}_sampled"] = theory[of] * 1.001
    return {
        "runs": runs,
        "population": population,
        "theory": theory,
        "flow": separate_flow(population),
        "sets": sets_of(runs),
    }


def separate_flow(runs: xr.Dataset) -> xr.Dataset:
    """The scalar equation in closed form, and what the starts predict."""
    landscape = synthetic.describe("base_task")
    star = compute_head_values(landscape)
    share = 1 / (1 + np.exp(-np.linspace(np.log(1e-3), 12.0, 200)))
    times = np.stack([compute_scalar_time(share * s, s / 2, d, landscape) for d, s in enumerate(star)])
    predicted, winner = (np.zeros((runs.sizes["run"], 2)) for _ in range(2))
    for i, j in np.ndindex(*predicted.shape):
        one = runs.isel(run=i, seed=j)
        K, Q = one["keys"].isel(snapshot=0).values, one.queries.isel(snapshot=0).values
        first = predict_first_drop(one.v.isel(epoch=0).values, K, Q, landscape)
        predicted[i, j], winner[i, j] = first.time, first.head
    per_run = ("run", "seed")
    return synthetic.described(
        xr.Dataset(
            {
                "ode_time": (("direction", "point"), times),
                "ode_value": (("direction", "point"), share * star[:, None]),
                "first_drop_predicted": (per_run, predicted),
                "winner_predicted": (per_run, winner),
                "drift_value": (per_run, np.full_like(predicted, 1e-10)),
                "drift_key_query": (per_run, np.full_like(predicted, 1e-11)),
            },
            coords={"run": runs.run.values, "seed": runs.seed.values[:2], "direction": np.arange(len(star))},
        )
    )


def sets_of(runs: xr.Dataset) -> xr.Dataset:
    """Moments of an infinite set under the name of the runs' sets."""
    landscape = synthetic.describe("base_task")
    seeds, P = runs.seed.values, np.unique(runs.samples.values)
    S = np.kron(np.diag(landscape.a), np.diag(landscape.lam))
    b = np.diag(landscape.b).ravel()
    shape = (len(P), len(seeds))
    return synthetic.described(
        xr.Dataset(
            {
                "S_reduced": (("P", "seed", "reduced", "reduced2"), np.broadcast_to(S, (*shape, *S.shape))),
                "b_reduced": (("P", "seed", "reduced"), np.broadcast_to(b, (*shape, *b.shape))),
                "c_reduced": (("P", "seed"), np.full(shape, landscape.trace)),
            },
            coords={"P": P, "seed": seeds},
        )
    )


def fig2() -> dict[str, xr.Dataset]:
    return {"runs": fig3()["runs"]}


def fig4() -> dict[str, xr.Dataset]:
    task = {"task": "square_task", "init_std": 0.02, "learning_rate": 0.2, "heads": 5}
    small = {**task, "init_std": 0.005}
    runs = synthetic.make_runs(
        {
            "rank1": task,
            "rank2": {**task, "rank": 2},
            "small2": {**small, "rank": 2},
            "small4": {**small, "rank": 4},
        },
        epochs=8000,
        record_every=10,
        snapshot_every=2000,
        seeds=4,
    )
    return {"runs": runs, "theory": synthetic.make_theory(), "sets": sets_of(runs)}


def fig5() -> dict[str, xr.Dataset]:
    linear_merged, linear_separate = fig1()["runs"], fig3()["runs"]
    steps = np.arange(0, 3001, 5)
    falls = {"merged": [300], "separate": [100, 400, 1500]}
    found = {}
    for model, places in falls.items():
        loss = 1 - sum(0.8 / len(places) / (1 + (place / np.maximum(steps, 1)) ** 12) for place in places)
        data = {"loss": (("seed", "epoch"), np.stack([loss, loss]))}
        own = {"heads": 3, "samples": 100, "init_std": 0.02, "learning_rate": 0.1}
        dataset = xr.Dataset(data, coords={"seed": [0, 1], "epoch": steps})
        found[model] = synthetic.described(dataset, {"own": own})
    return {**found, "linear_merged": linear_merged, "linear_separate": linear_separate}


def fig6() -> dict[str, xr.Dataset]:
    runs = synthetic.make_runs(
        {
            "merged_1": {**MERGED, "init_std": 1e-5},
            "merged_2": {**MERGED, "init_std": 1e-3},
            "separate_1": {"init_std": 0.03, "learning_rate": 0.1},
            "separate_2": {"init_std": 0.06, "learning_rate": 0.1},
            "separate_3": {"init_std": 1.0, "learning_rate": 0.05},
        },
        epochs=3000,
        record_every=5,
        snapshot_every=1000,
    )
    return {"runs": runs, "theory": synthetic.make_theory()}


def fig7() -> dict[str, xr.Dataset]:
    token = {"loss": "next_token"}
    runs = synthetic.make_runs(
        {
            "merged": {**MERGED, **token, "samples": 500},
            "separate": {**token, "samples": 500},
            "separate_population": token,
        },
        epochs=3000,
        record_every=5,
        snapshot_every=1000,
        seeds=5,
    )
    return {"runs": runs, "theory": synthetic.make_theory()}


INPUTS = {"fig1": fig1, "fig2": fig2, "fig3": fig3, "fig4": fig4, "fig5": fig5, "fig6": fig6, "fig7": fig7}
