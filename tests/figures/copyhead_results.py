"""Made-up results of the copy head in the schemas of the real ones, with the right physics drawn in.

Linear: order parameters that leave 0 at an onset with exponent 1/2; chains scatter around them, and chain 0
and seed 2 at the largest P sit in the metastable state.  Softmax: two branches with a first-order point and
two spinodals; inside the window chains stay on the branch they started from.
"""

from __future__ import annotations

import json

import numpy as np
import xarray as xr

L = 6
ONSET = {"bare": 66.0, "map": 65.5, "dressed": 67.0}
LOWER = {"bare": 33.0, "map": 32.0, "dressed": 38.0}
UPPER = {"bare": 47.0, "map": 47.0, "dressed": 52.0}
TRANSITION = {"bare": 36.0, "map": 35.0, "dressed": 42.0}
THEORIES = list(ONSET)
LINEAR_P = [40, 60, 72, 80, 90, 100, 120, 150]
SOFTMAX_P = [20, 30, 36, 40, 42, 44, 46, 48, 50, 54, 64, 80, 100]
PARAMETERS = {"task": {"L": L, "V": 8}, "prior": {"g_OV": 0.03, "v": 1.0, "sigma2": 0.5052}}


def _described(dataset: xr.Dataset) -> xr.Dataset:
    for name in dataset.variables:
        dataset[name].attrs = {"long_name": f"{name} of the test", "units": "1"}
    dataset.attrs["onset_params"] = json.dumps(PARAMETERS)
    return dataset


def pooling(P: np.ndarray, onset: float) -> np.ndarray:
    return np.sqrt(np.clip(0.6 * (np.asarray(P, float) / onset - 1), 0, None))


def copying(P: np.ndarray, onset: float) -> np.ndarray:
    return 0.4 * pooling(P, onset) ** 4


def loss_linear(P: np.ndarray, onset: float) -> np.ndarray:
    return 1 - 0.8 * pooling(P, onset) ** 3


def linear_theory() -> xr.Dataset:
    P = np.linspace(20, 160, 141)
    c1 = np.stack([pooling(P, ONSET[t]) for t in THEORIES])
    cG = np.stack([copying(P, ONSET[t]) for t in THEORIES])
    exists = np.where(P >= 120, 1.0, np.nan)
    grid = ("theory", "P")
    return _described(
        xr.Dataset(
            {
                "c1": (grid, c1),
                "cG": (grid, cG),
                "action": (grid, -cG),
                "test_loss": (grid, np.stack([loss_linear(P, ONSET[t]) for t in THEORIES])),
                "metastable_c1": (grid, 0.5 * c1 * exists),
                "metastable_cG": (grid, -cG * exists),
                "c1_mean": ("P_finite", np.sqrt(pooling(LINEAR_P, 67.0) ** 2 + 0.002)),
                "cG_mean": ("P_finite", copying(LINEAR_P, 67.0)),
                "onset": ("theory", list(ONSET.values())),
                "metastable_from": ("theory", [120.0, 118.0, 124.0]),
            },
            coords={"theory": THEORIES, "P": P, "P_finite": np.array(LINEAR_P, float)},
        )
    )


def head(pooled: np.ndarray, copied: np.ndarray) -> np.ndarray:
    """Attention of given order parameters (...,) -> (..., L, L)."""
    J, G = np.full((L, L), 1 / L), np.roll(np.eye(L), 1, axis=0)
    return np.asarray(pooled)[..., None, None] * J + np.asarray(copied)[..., None, None] * (G - J)


def _chains(order: dict[str, np.ndarray], P: list[int], quantities: list[str], seed: int) -> xr.Dataset:
    """SGLD results around order parameters (chain, P), with raw signs already in them."""
    rng = np.random.default_rng(seed)
    steps, records = np.arange(1, 41) * 20, 40
    shape = (*next(iter(order.values())).shape, records)
    wiggle = {"a1": 0.0}
    data = {
        name: (
            ("chain", "P", "step"),
            (v[..., None] + wiggle.get(name, 0.004) * rng.normal(size=shape)).astype("f4"),
        )
        for name, v in order.items()
    }
    a, b = (order[n] for n in list(order)[:2])
    sign = np.sign(a) if "c1" in order else 1
    A = head(a * sign, b * sign) + 0.004 * rng.normal(size=(*a.shape, L, L))
    maps = ("query", "key")
    snapshots = np.repeat(head(a, b)[:, :, None], 2, axis=2).astype("f4")
    diagnostic = (("quantity", "P"), np.full((len(quantities), len(P)), 1.01, "f4"))
    return xr.Dataset(
        {
            **data,
            "s2": (("chain", "P", "step"), np.ones(shape, "f4")),
            "attention_mean": (("chain", "P", *maps), A.astype("f4")),
            "attention": (("chain", "P", "snapshot", *maps), snapshots),
            "r_hat": diagnostic,
            "ess_bulk": (diagnostic[0], diagnostic[1] * 400),
            "ess_tail": (diagnostic[0], diagnostic[1] * 400),
        },
        coords={
            "chain": np.arange(shape[0]),
            "P": P,
            "step": steps,
            "query": np.arange(L),
            "key": np.arange(L),
            "kept": ("step", steps > 400),
            "snapshot_step": ("snapshot", [400, 800]),
            "quantity": quantities,
        },
    )


def linear_sgld(chains: int = 4) -> xr.Dataset:
    rng = np.random.default_rng(1)
    theory = linear_theory()
    sign = np.where(rng.random((chains, len(LINEAR_P))) < 0.5, -1, 1)
    c1 = sign * (theory.c1_mean.values + 0.004 * rng.normal(size=sign.shape))
    cG = sign * (theory.cG_mean.values + 0.004 * rng.normal(size=sign.shape))
    c1[0, -1], cG[0, -1] = 0.35 * sign[0, -1], -0.5 * sign[0, -1]
    loss = np.broadcast_to(loss_linear(LINEAR_P, 67.0), c1.shape).copy()
    loss[0, -1] = 0.9
    dataset = _chains({"c1": c1, "cG": cG, "test_loss": loss}, LINEAR_P, ["abs_c1", "cG_sign", "s2"], 2)
    trapped = np.zeros(c1.shape, bool)
    trapped[0, -1] = True
    return _described(dataset.assign(trapped=(("chain", "P"), trapped)))


def _seeds(order: dict[str, np.ndarray], P: list[int]) -> xr.Dataset:
    seeds = next(iter(order.values())).shape[0]
    ramp = np.array([0.2, 0.7, 1.0])
    data = {name: (("seed", "P", "epoch"), (v[..., None] * ramp).astype("f4")) for name, v in order.items()}
    a, b = (order[n] for n in list(order)[:2])
    return _described(
        xr.Dataset(
            {**data, "attention": (("seed", "P", "query", "key"), head(a, b).astype("f4"))},
            coords={
                "seed": np.arange(seeds),
                "P": P,
                "epoch": [100, 500, 1000],
                "query": np.arange(L),
                "key": np.arange(L),
            },
        )
    )


def linear_adam(seeds: int = 3) -> xr.Dataset:
    sign = np.array([1, -1, 1])[:seeds, None]
    c1 = sign * (pooling(LINEAR_P, 65.5) + 1e-4)
    cG = sign * copying(LINEAR_P, 65.5)
    loss = np.broadcast_to(loss_linear(LINEAR_P, 65.5), c1.shape).copy()
    c1[2, -1], cG[2, -1], loss[2, -1] = 0.3, -0.5, 0.9
    return _seeds({"c1": c1, "cG": cG, "loss": loss, "test_loss": loss}, LINEAR_P)


def copy_branch(P: np.ndarray, theory: str) -> np.ndarray:
    at = np.asarray(P, float)
    shift = {"bare": 0.01, "map": 0.015, "dressed": 0.0}[theory]
    return np.where(at >= LOWER[theory], 0.95 - 10 / at + shift, np.nan)


def uniform_branch(P: np.ndarray, theory: str) -> np.ndarray:
    at = np.asarray(P, float)
    return np.where(at <= UPPER[theory], 0.0003 * at, np.nan)


def softmax_theory() -> xr.Dataset:
    P = np.linspace(10, 100, 91)
    branches = np.stack([[uniform_branch(P, t), copy_branch(P, t)] for t in THEORIES])
    after = P[None] >= np.array([TRANSITION[t] for t in THEORIES])[:, None]
    at = np.array([[uniform_branch(TRANSITION[t], t), copy_branch(TRANSITION[t], t)] for t in THEORIES])
    return _described(
        xr.Dataset(
            {
                "aG": (("theory", "branch", "P"), branches),
                "action": (("theory", "branch", "P"), -branches),
                "test_loss": (("theory", "branch", "P"), 1 - branches),
                "aG_equilibrium": (("theory", "P"), np.where(after, branches[:, 1], branches[:, 0])),
                "P_c": ("theory", list(TRANSITION.values())),
                "P_lower": ("theory", list(LOWER.values())),
                "P_upper": ("theory", list(UPPER.values())),
                "aG_at_P_c": (("theory", "branch"), at),
                "barrier": ("theory", [9.0, 9.0, 15.0]),
            },
            coords={"theory": THEORIES, "branch": ["uniform", "copy"], "P": P},
        )
    )


def softmax_sgld(start: str, chains: int = 4) -> xr.Dataset:
    rng = np.random.default_rng(3)
    P = np.array(SOFTMAX_P)
    leaves = UPPER["dressed"] if start == "prior" else LOWER["dressed"]
    mean = np.where(leaves < P, copy_branch(P, "dressed"), uniform_branch(P, "dressed"))
    aG = mean + 0.002 * rng.normal(size=(chains, len(P)))
    a1 = np.ones_like(aG)
    return _described(_chains({"a1": a1, "aG": aG, "test_loss": 1 - aG}, SOFTMAX_P, ["aG", "s2"], 4))


def softmax_adam(seeds: int = 3) -> xr.Dataset:
    P = np.array(SOFTMAX_P)
    mean = np.where(UPPER["map"] < P, copy_branch(P, "map"), uniform_branch(P, "map"))
    aG = np.broadcast_to(mean, (seeds, len(P))).copy()
    a1 = np.ones_like(aG)
    dataset = _seeds({"aG": aG, "loss": 1 - aG, "test_loss": 1 - aG}, SOFTMAX_P)
    dataset["a1"] = (("seed", "P", "epoch"), np.repeat(a1[..., None], 3, axis=-1).astype("f4"))
    dataset["attention"] = (("seed", "P", "query", "key"), head(a1, aG).astype("f4"))
    return _described(dataset)


def linear_inputs() -> dict[str, xr.Dataset]:
    """Inputs of figure 3 by role."""
    return {"theory": linear_theory(), "sgld": linear_sgld(), "adam": linear_adam()}


def softmax_inputs() -> dict[str, xr.Dataset]:
    """Inputs of figure 4 by role."""
    starts = {f"from_{start}": softmax_sgld(start) for start in ("prior", "copy")}
    return {"theory": softmax_theory(), **starts, "adam": softmax_adam()}
