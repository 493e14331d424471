"""Short simulations of the regression flows, each made once for all tests of a process; not to be changed."""

from __future__ import annotations

from functools import cache

import xarray as xr

from onset.job.context import Job
from onset.papers.sparse.flows.starts import draw_starts
from onset.papers.sparse.simulate.escape import simulate_escape
from onset.papers.sparse.simulate.ideal import simulate_ideal
from onset.papers.sparse.simulate.regression import simulate_regression
from onset.papers.sparse.simulate.stages import simulate_stages
from onset.papers.sparse.simulate.sweep import simulate_sweep
from onset.params.sparse import (
    EscapeFlow,
    Features,
    FlowNoise,
    FlowSolver,
    FlowStarts,
    IdealFlow,
    RegressionFlow,
    StageFlow,
    StartSweep,
)
from onset.randomness import Streams

SECTIONS = {
    "features": Features(h=3, T=40, m=1.7),
    "flow_solver": FlowSolver(switch_time=1000.0, rtol=1e-8, late_rtol=1e-10),
}
NOISES = {
    "uniform": FlowNoise(noise="uniform", epsilon=1e-3),
    "gaussian": FlowNoise(noise="gaussian", epsilon=1e-3),
}
SEGMENTS = [{"until": 50.0, "step": 0.25}, {"until": 350.0, "step": 0.5}, {"until": 1500.0, "step": 1.0}]


def make_job(name: str, own, inputs: dict[str, xr.Dataset] | None = None, **sections) -> Job:
    streams = Streams(0, "sparse", name)
    return Job("sparse", name, "test", "-", own, SECTIONS | sections, inputs or {}, streams=streams)


@cache
def starts() -> xr.Dataset:
    own = FlowStarts(seeds=4, runs=NOISES, random_starts=3)
    return draw_starts(make_job("flow_starts", own))


@cache
def flow() -> xr.Dataset:
    own = RegressionFlow(first_time=1.0, time=3000.0, points=250, seeds=2)
    return simulate_regression(make_job("regression_flow", own, {"starts": starts()}))


@cache
def stages() -> xr.Dataset:
    return simulate_stages(make_job("stage_flow", StageFlow(boundaries=None), {"flow": flow()}))


@cache
def ideal() -> xr.Dataset:
    own = IdealFlow(first_time=1.0, time=1e5, points=150, epsilons=[0.02, 0.1])
    return simulate_ideal(make_job("ideal_flow", own, {"starts": starts()}))


@cache
def escape() -> xr.Dataset:
    own = EscapeFlow(first_time=1.0, time=1000.0, points=300, noises=[1e-4, 1e-5, 1e-6])
    return simulate_escape(make_job("escape_flow", own))


@cache
def sweep() -> xr.Dataset:
    own = StartSweep(method="dopri5", segments=SEGMENTS, points=200)
    return simulate_sweep(make_job("start_sweep", own, {"starts": starts()}))


def inputs() -> dict[str, xr.Dataset]:
    """Inputs of both figures by role; copies, which may be changed."""
    made = {"flow": flow, "stages": stages, "ideal": ideal, "escape": escape, "sweep": sweep}
    return {role: make().copy(deep=True) for role, make in made.items()}
