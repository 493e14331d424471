"""Made-up results of figures 1, 2, 5 and 8 of the copy head, in which what their claims state is true.

Landscapes and the phase diagram are those of the theory, which is cheap; what chains and seeds did is made
up: chains of every sampler have the same means, finite widths follow their theory, Adam with matched decay
stays at 0, chains change phase around the predicted transition, and only softmax attention has a loop.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import xarray as xr
from tests.figures import copyhead_results as results

from onset.job.context import Job
from onset.papers.copyhead.theory.landscapes import solve_landscapes
from onset.papers.copyhead.theory.phases import solve_phases
from onset.params.copyhead import Landscapes, PhaseDiagram, Prior, Task

L = 16
SECTIONS = {"task": Task(L=L, V=8), "prior": Prior(g_OV=0.03, v=1.0, sigma2=0.5)}
PARAMETERS = json.dumps({name: section.model_dump() for name, section in SECTIONS.items()})
WIDTHS = [32, 128, 320]
ONSETS = {32: 55.0, 128: 66.0, 320: 67.0}
QUANTITIES = ["pooling", "copy", "s2", "test_loss"]
CHAINS, RECORDS = 3, 12


def described(dataset: xr.Dataset) -> xr.Dataset:
    for name in dataset.variables:
        dataset[name].attrs = {"long_name": f"{name} of the test", "units": "1"}
    return dataset.assign_attrs(onset_params=PARAMETERS)


@functools.cache
def landscapes() -> xr.Dataset:
    own = Landscapes(
        linear_P=[50, 80, 105, 200], softmax_P=[28, 33, 36, 40, 60], c1_max=1.3, cG_max=0.9, points=41
    )
    return described(solve_landscapes(Job("copyhead", "landscapes", "test", "-", own, SECTIONS)))


@functools.cache
def phases() -> xr.Dataset:
    own = PhaseDiagram(v=[0.5, 1.0, 2.0], g_OV=[0.03, 0.1], L=[12, 16, 24], P_max=100, bins=40, scan=80)
    return described(solve_phases(Job("copyhead", "phase_theory", "test", "-", own, SECTIONS)))


def coverage(P: Any) -> np.ndarray:
    """Share of a single sample of linear attention in the plane."""
    return 0.1 + 0.8 * np.clip(np.asarray(P, float) / 150, 0, 1)


def covered(sgld: xr.Dataset, share: np.ndarray, names: tuple[str, str]) -> xr.Dataset:
    """Chains whose s2 makes `share` (P,) the share of a sample in the plane."""
    size = results.L
    inside = sgld[names[0]].astype(float) ** 2 + (size - 1) * sgld[names[1]].astype(float) ** 2
    return sgld.assign(s2=inside / xr.DataArray(share**2, dims="P"))


def linear_inputs() -> dict[str, xr.Dataset]:
    theory = results.linear_theory()
    curve = np.broadcast_to(coverage(theory.P), (3, theory.sizes["P"])).copy()
    theory = theory.assign(
        coverage=(("theory", "P"), curve), coverage_mean=("P_finite", coverage(theory.P_finite))
    )
    sgld = covered(results.linear_sgld(), coverage(results.LINEAR_P), ("c1", "cG"))
    return {"linear_theory": theory, "linear_sgld": sgld, "linear_adam": results.linear_adam()}


def softmax_inputs() -> dict[str, xr.Dataset]:
    theory = results.softmax_theory()
    share = theory.aG * 0 + xr.DataArray([0.7, 0.98], dims="branch", coords={"branch": theory.branch})
    sgld = results.softmax_sgld("prior")
    copies = results.UPPER["dressed"] < np.array(results.SOFTMAX_P)
    sgld = covered(sgld, np.where(copies, 0.98, 0.7), ("a1", "aG"))
    return {
        "softmax_theory": theory.assign(coverage=share),
        "softmax_sgld": sgld,
        "softmax_adam": results.softmax_adam(),
    }


def summary(runs: dict[str, dict[str, Any]], means: dict[str, dict[int, tuple[float, float]]]) -> xr.Dataset:
    """Runs of chains with means of both order parameters (run -> P -> pooling, copy), and their settings."""
    every = sorted({P for run in means.values() for P in run})
    shape = (len(runs), len(QUANTITIES), len(every))
    mean = np.full(shape, np.nan)
    for i, label in enumerate(runs):
        for P, (pooling, copy) in means[label].items():
            mean[i, :, every.index(P)] = pooling, copy, 1.5, 1 - copy
    base = {
        "attention": "linear",
        "start": "prior",
        "weights": "sampled",
        "d_k": np.inf,
        "batch": 0,
        "L": L,
        "v": 1.0,
        "g_OV": 0.03,
        "step_size": 0.04,
        "steps": 1000,
    }
    dims = ("run", "quantity", "P")
    return described(
        xr.Dataset(
            {
                "mean": (dims, mean),
                "error": (dims, np.where(np.isnan(mean), np.nan, 0.002)),
                "reference_mean": (dims, mean + 0.001),
                "reference_error": (dims, np.where(np.isnan(mean), np.nan, 0.002)),
                "trapped": (("run", "chain", "P"), np.zeros((len(runs), CHAINS, len(every)), bool)),
            },
            coords={
                "run": list(runs),
                "quantity": QUANTITIES,
                "chain": np.arange(CHAINS),
                "P": every,
                **{key: ("run", [{**base, **own}[key] for own in runs.values()]) for key in base},
            },
        )
    )


def linear_order(P: int) -> tuple[float, float]:
    return float(results.pooling(P, 67.0)), float(results.copying(P, 67.0))


def softmax_order(P: int) -> tuple[float, float]:
    branch = results.uniform_branch if P < 45 else results.copy_branch
    return 1.0, float(branch(P, "dressed"))


def variants() -> xr.Dataset:
    softmax = {"attention": "softmax", "step_size": 0.03}
    settings = {
        "collapsed": {"weights": "integrated"},
        "minibatch": {"batch": 20, "step_size": 0.02},
        "half": {"step_size": 0.015},
    }
    runs: dict[str, dict[str, Any]] = {"linear_copy": {"start": "copy"}}
    for name, own in settings.items():
        runs |= {f"linear_{name}": own, f"softmax_{name}": {**softmax, **own}}
    grid = {"linear": [40, 100, 120], "softmax": [20, 30, 80]}
    order = {"linear": linear_order, "softmax": softmax_order}
    means = {}
    for label in runs:
        kind = label.split("_")[0]
        means[label] = {P: order[kind](P) for P in grid[kind]}
    return summary(runs, means)


def width_order(d_k: int, P: Any) -> tuple[np.ndarray, np.ndarray]:
    """c1 and cG of a width: a jump where it is narrow."""
    at = np.asarray(P, float)
    if d_k == 32:
        return np.where(at >= ONSETS[32], 0.9, 0.0), np.where(at >= ONSETS[32], 0.05, 0.0)
    return results.pooling(at, ONSETS[d_k]), results.copying(at, ONSETS[d_k])


def qk_theory() -> xr.Dataset:
    P = np.linspace(20, 160, 29)
    per_width = np.stack([width_order(d_k, P) for d_k in WIDTHS], axis=1)
    late = np.where(P >= 120, 0.9, 0.0)
    c1 = np.stack([per_width[0], np.stack([late] * 3), per_width[0]])
    cG = np.stack([per_width[1], 0 * per_width[1], per_width[1]])
    aG = np.stack([results.softmax_theory().aG.interp(P=P, kwargs={"fill_value": np.nan}).values] * 3, axis=2)
    aG[1, 0] = 0.0
    ones = np.ones((3, 3))
    curves, branches = ("theory", "d_k", "P"), ("theory", "branch", "d_k", "P")
    onset = np.stack([[ONSETS[d_k] for d_k in WIDTHS], [120.0] * 3, [ONSETS[d_k] for d_k in WIDTHS]])
    return described(
        xr.Dataset(
            {
                "linear_c1": (curves, c1),
                "linear_cG": (curves, cG),
                "linear_onset": (("theory", "d_k"), onset),
                "softmax_aG": (branches, aG),
                "softmax_P_c": (("theory", "d_k"), 42 * ones),
                "softmax_P_lower": (("theory", "d_k"), 38 * ones),
                "softmax_P_upper": (("theory", "d_k"), 52 * ones),
            },
            coords={"theory": results.THEORIES, "branch": ["uniform", "copy"], "d_k": WIDTHS, "P": P},
        )
    )


def qk_sgld() -> xr.Dataset:
    runs: dict[str, dict[str, Any]] = {f"linear{d_k}": {"d_k": float(d_k)} for d_k in WIDTHS}
    runs["softmax128"] = {"attention": "softmax", "d_k": 128.0}
    grid = {32: [40, 50, 60, 70], 128: [80, 100, 120], 320: [80, 100, 120]}
    means = {
        f"linear{d_k}": {P: tuple(float(x) for x in width_order(d_k, P)) for P in at}
        for d_k, at in grid.items()
    }
    return summary(runs, {**means, "softmax128": {P: softmax_order(P) for P in (30, 80, 100)}})


def qk_adam(seeds: int = 3) -> xr.Dataset:
    P = [80, 100, 120, 150]
    runs = {"linear": "matched", "softmax": "matched", "linear_anchored": "anchored"}
    sign = np.array([1, -1, 1])[:seeds, None]
    pooled, copied = width_order(128, P)
    final = {
        "linear": (0 * pooled, 0 * copied),
        "softmax": (np.ones(4), 0 * copied),
        "linear_anchored": (pooled - 0.05, copied - 0.02),
    }
    data = np.stack([[s * sign if run != "softmax" else s + 0 * sign for s in final[run]] for run in runs])
    ramp = np.array([0.2, 0.7, 1.0])
    dims = ("run", "seed", "P", "epoch")
    return described(
        xr.Dataset(
            {
                "pooling": (dims, data[:, 0, ..., None] * ramp),
                "copy": (dims, data[:, 1, ..., None] * ramp),
            },
            coords={
                "run": list(runs),
                "seed": np.arange(seeds),
                "P": P,
                "epoch": [100, 500, 1000],
                "attention_kind": ("run", ["linear", "softmax", "linear"]),
                "decay": ("run", list(runs.values())),
                "decay_weight": ("run", [1.0, 1.0, 2.0]),
                "d_k": ("run", [128.0] * 3),
            },
        )
    )


SETTINGS = {"L12": ("L", 12), "v_low": ("v", 0.5), "g_high": ("g_OV", 0.1)}


def phase_sgld() -> xr.Dataset:
    """Chains from copying lose it below P_c, those from the prior gain it above: a fifth of P_c apart."""
    theory = phases().sel(theory="dressed")
    P_c = {label: float(theory[f"P_c_{axis}"].sel({axis: x})) for label, (axis, x) in SETTINGS.items()}
    P = np.arange(20, 80, 2)
    runs, shares = {}, []
    for label, (axis, x) in SETTINGS.items():
        for start, switch in (("prior", 1.1), ("copy", 0.9)):
            runs[f"{label}_{start}"] = {"attention": "softmax", "start": start, axis: x}
            share = (switch * P_c[label] < P).astype(float)
            near = (0.6 * P_c[label] < P) & (1.5 * P_c[label] > P)
            shares.append(np.broadcast_to(np.where(near, share, np.nan), (CHAINS, len(P))))
    found = summary(runs, {label: dict.fromkeys(P.tolist(), (1.0, 0.5)) for label in runs})
    return found.assign(copying=(("run", "chain", "P"), np.stack(shares)))


def hysteresis() -> xr.Dataset:
    """Softmax attention jumps at 38 on the way down, at 50 on the way up; linear attention has one way."""
    rng = np.random.default_rng(5)
    P = np.arange(32, 121, 2)
    softmax = np.stack([np.where(switch < P, 0.7, 0.02) for switch in (50, 38)])
    softmax = np.where(P <= 58, softmax, np.nan)
    linear = np.where(P >= 60, results.copying(P, 67.0), np.nan)
    copy = np.stack([softmax, np.stack([linear] * 2)])[:, None] + 0.003 * rng.normal(size=(2, 4, 2, len(P)))
    dims = ("run", "chain", "direction", "P")
    area = [12 * 0.68, 0.0]
    found = described(
        xr.Dataset(
            {
                "copy": (dims, copy),
                "copying": (dims, np.where(np.isnan(copy), np.nan, copy > 0.35)),
                "trapped": (dims, np.zeros(copy.shape, bool)),
                "loop_area": ("run", area),
            },
            coords={
                "run": ["softmax", "linear"],
                "chain": np.arange(4),
                "direction": ["up", "down"],
                "P": P,
                "attention": ("run", ["softmax", "linear"]),
                "dwell": ("run", [500, 500]),
                "step_size": ("run", [0.05, 0.05]),
            },
        )
    )
    found.P.attrs["long_name"] = "training sequences"
    return found


def fig1() -> dict[str, xr.Dataset]:
    both = {**linear_inputs(), **softmax_inputs()}
    return {role: both[role] for role in ("linear_theory", "softmax_theory", "linear_sgld", "softmax_sgld")}


def fig2() -> dict[str, xr.Dataset]:
    return {"landscapes": landscapes().copy(deep=True)}


def fig5() -> dict[str, xr.Dataset]:
    return {
        **linear_inputs(),
        **softmax_inputs(),
        "variants": variants(),
        "qk_theory": qk_theory(),
        "qk_sgld": qk_sgld(),
        "qk_adam": qk_adam(),
    }


def fig8() -> dict[str, xr.Dataset]:
    theory = results.softmax_theory().assign_attrs(onset_params=PARAMETERS)
    return {
        "phase": phases().copy(deep=True),
        "sampled": phase_sgld(),
        "hysteresis": hysteresis(),
        "theory": theory,
    }


INPUTS = {"fig1": fig1, "fig2": fig2, "fig5": fig5, "fig8": fig8}
