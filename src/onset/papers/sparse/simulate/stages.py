"""The simplified flows of each stage, begun from the full flow's own state, beside the full flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onset.errors import OnsetError
from onset.papers.sparse.flows.cooperative import count_heads, flow_cooperative, slave_values
from onset.papers.sparse.flows.features import Array, read_features
from onset.papers.sparse.flows.labels import carry_coordinates, label_flows
from onset.papers.sparse.flows.reduced import flow_reduced
from onset.papers.sparse.flows.stages import find_half_times
from onset.papers.sparse.simulate.solver import follow_flow

if TYPE_CHECKING:
    import xarray as xr

    from onset.job.context import Job
    from onset.papers.sparse.flows.features import Features
    from onset.params.sparse import FlowSolver

SYSTEMS = ("cooperative", "reduced")

VARIABLES = {
    "V": (("system", "time", "head", "feature"), "component of the value matrix along the feature's"),
    "s": (("system", "time", "head", "feature"), "attention on the feature's position"),
    "begin": ((), "time at which the simplified flows begin"),
    "free_head": ((), "head that is free in the stage, -1 where the stage is not reached"),
    "rms_s": (
        ("system",),
        "root mean square distance of the free head's attention on the features' positions",
    ),
    "rms_V": (("system",), "root mean square distance of the free head's values"),
    "half_time": (("system",), "time at which the stage's own loss term is halved"),
    "dip": (("system",), "lowest value of the stage's feature that the ensemble delivers at position 1"),
    "full_dip": ((), "the same in the full flow"),
    "product": (("system",), "V'<s', s_n*> at the end, along the stage's feature"),
}


@dataclass(frozen=True)
class Stage:
    """Stage n of a run: the free head, those settled on features 2..n-1, and the ensemble of the rest."""

    n: int
    free: int
    settled: tuple[int, ...]
    ensemble: tuple[int, ...]


def assign_heads(n: int, owners: Array, h: int, label: str) -> Stage:
    """Heads of stage n by the features (h,) that they own at the end of the full run.

    Raises OnsetError where heads own several features, so that there is no such stage.
    """
    free, settled = int(owners[n - 1]), tuple(int(head) for head in owners[1 : n - 1])
    ensemble = tuple(head for head in range(h) if head != free and head not in settled)
    if len({free, *settled}) < n - 1 or int(owners[0]) not in ensemble:
        raise OnsetError(
            f"{label}: heads {', '.join(map(str, owners[:n]))} deliver features 1 to {n}; stage {n} needs a "
            "head for each, so follow the full flow for longer"
        )
    return Stage(n, free, settled, ensemble)


def follow_stage(
    V: Array,
    s: Array,
    stage: Stage,
    system: str,
    times: Array,
    features: Features,
    solver: FlowSolver,
    label: str,
) -> tuple[Array, Array]:
    """(V (time, rows, h), s (time, T)) of a simplified flow from the free head's V (h,) and s (T,).

    Rows are those of the cooperative flow; it begins with all but the last at rest under the free head.  In
    the reduced flow they are at rest at all times.   Raises OnsetError where the solver fails.
    """
    n = stage.n
    if system == "cooperative":
        start = {"V": slave_values(V, s, n, features), "s": s}
        found = follow_flow(lambda V, s: flow_cooperative(V, s, features), start, times, solver, label)
        return found["V"], found["s"]
    found = follow_flow(lambda V, s: flow_reduced(V, s, n, features), {"V": V, "s": s}, times, solver, label)
    return slave_values(found["V"], found["s"], n, features), found["s"]


def spread_rows(V: Array, s: Array, stage: Stage, features: Features) -> tuple[Array, Array]:
    """Rows of a simplified flow as heads: V and s at the features' positions, each (time, head, h)."""
    h = features.h
    heads_V, heads_s = np.zeros((2, len(V), h, h))
    for head in range(h):
        if head == stage.free:
            heads_V[:, head], heads_s[:, head] = V[:, -1], s[:, :h]
            continue
        row = stage.settled.index(head) + 1 if head in stage.settled else 0
        heads_V[:, head], heads_s[:, head, row] = V[:, row], 1.0
    return heads_V, heads_s


def measure_system(
    V: Array,
    s: Array,
    full_V: Array,
    full_s: Array,
    stage: Stage,
    times: Array,
    end: float,
    features: Features,
) -> dict[str, Array | float]:
    """What VARIABLES says of one system: rows V (time, n, h) and s (time, T) beside the full flow's heads.

    Distances and dips up to `end`, half-time and product over all of `times`.
    """
    n, h = stage.n, features.h
    window = times <= end
    delivered = V[:, -1, n - 1] * s[:, n - 1]
    strength = features.strengths[n - 1]
    terms = 0.5 * (strength - np.append(0.0, delivered)) ** 2
    return {
        "rms_s": root_mean_square((s[:, :h] - full_s[:, stage.free, :h])[window]),
        "rms_V": root_mean_square((V[:, -1] - full_V[:, stage.free])[window]),
        "half_time": find_half_times(np.append(0.0, times), terms),
        "dip": (count_heads(n, features)[0] * V[window, 0, n - 1]).min(),
        "product": delivered[-1],
    }


def root_mean_square(values: Array) -> float:
    """Root of the mean square of all entries."""
    return float(np.sqrt(np.mean(values**2)))


def compare_stage(
    run: xr.Dataset, n: int, begin: float, end: float, features: Features, solver: FlowSolver, label: str
) -> dict[str, Array]:
    """VARIABLES of stage n of one run of the full flow, from its first record at or after `begin`.

    Records are evenly spaced in the logarithm of time, and so weighted are the distances, taken up to `end`.
    Trajectories are NaN before `begin`; all is NaN where `begin` is.
    """
    times, h = run["time"].values, features.h
    sizes = {"system": len(SYSTEMS), "time": len(times), "head": h, "feature": h}
    found = {name: np.full([sizes[dim] for dim in dims], np.nan) for name, (dims, _) in VARIABLES.items()}
    if not np.isfinite(begin):
        return found | {"free_head": np.array(-1)}
    stage = assign_heads(n, run["owner"].values, h, label)
    first = int(np.searchsorted(times, begin))
    later, V, s = times[first:], run["V"].values[first:], run["s"].values[first:]
    for i, system in enumerate(SYSTEMS):
        rows, free_s = follow_stage(
            V[0, stage.free],
            s[0, stage.free],
            stage,
            system,
            later,
            features,
            solver,
            f"{label}, stage {n}, {system} flow",
        )
        found["V"][i, first:], found["s"][i, first:] = spread_rows(rows, free_s, stage, features)
        for name, value in measure_system(rows, free_s, V, s, stage, later, end, features).items():
            found[name][i] = value
    window = later <= end
    delivered = V[window][:, stage.ensemble, n - 1] * s[window][:, stage.ensemble, 0]
    return found | {
        "begin": later[0],
        "free_head": np.array(stage.free),
        "full_dip": delivered.sum(-1).min(),
    }


def simulate_stages(job: Job) -> xr.Dataset:
    """Cooperative and reduced flows of stages 2..h over every run of the full flow.

    A stage begins at the closest approach to the saddle before it, read off the run, or at the time that
    `own.boundaries` gives, and is compared up to where the next one begins.  The free head's V' and s' are
    the full flow's there and all other heads are at rest, so that nothing is fitted.
    Dimensions run, seed, stage (2..h), system, time, head, feature.
    Raises OnsetError where an integration fails or a run has no such stage.
    Source: arXiv 2602.19143, section 3.3 and appendices B.4 and D.1; where stages begin is our choice.
    """
    features, flow = read_features(job.sections["features"]), job.inputs["flow"]
    given = job.own.boundaries

    def compare(run: str, seed: int) -> list[dict[str, Array]]:
        one = flow.sel(run=run, seed=seed)
        label = f"{job.name}, run {run}, seed {seed}"
        begins = np.asarray(one["boundary"].values if given is None else given, dtype=np.float64)
        ends = np.append(begins[1:], one["time"].values[-1])
        ends = np.where(np.isfinite(ends), ends, one["time"].values[-1])
        stages = zip(one["stage"].values, begins, ends, strict=True)
        return [
            compare_stage(one, int(n), begin, end, features, job.sections["flow_solver"], label)
            for n, begin, end in stages
        ]

    runs = [[compare(run, seed) for seed in flow["seed"].values] for run in flow["run"].values]
    return label_flows(
        {
            name: (
                ("run", "seed", "stage", *dims),
                [[[one[name] for one in stages] for stages in seeds] for seeds in runs],
                title,
            )
            for name, (dims, title) in VARIABLES.items()
        },
        features,
        {
            **carry_coordinates(flow, "run", "noise", "epsilon", "seed", "stage", "time"),
            "system": (("system",), list(SYSTEMS), "simplified flow"),
        },
    )
