"""Guarantees of the simulations of the regression flows, at the paper's sizes over short times.

- solver: RK45 hands over to LSODA at the switch without a seam; a failure comes with the solver's message,
  experiment, run, seed and time reached; LSODA is stopped where it would run for ever
- the full flow keeps rows of attention on the simplex, its loss falls as -dL/dt says, half-times and owners
  are right
- the batch of all starts agrees with solve_ivp run by run, and converges to it at the order of its method
- stages begin at the closest approach to a saddle; from a start that is exactly the theory's, the full flow
  is the cooperative flow; from the full flow's states the simplified ones stay near
- the coupled flow stays in its region and obeys its late law; potentials reach their limits
- the noise's other reading: of standard deviation 1e-6 no stage begins before t = 300
- Datasets are labelled, double, and made without a network library
"""

import subprocess
import sys

import numpy as np
import pytest
from tests.sparse import small_flows as small

from onset.dynamics.fixed_step import integrate_steps
from onset.errors import OnsetError
from onset.papers.sparse.flows.cooperative import count_heads, flow_cooperative, pin_attention, start_stage
from onset.papers.sparse.flows.coupled import predict_late_loss
from onset.papers.sparse.flows.features import read_features
from onset.papers.sparse.flows.regression import flow_regression
from onset.papers.sparse.flows.stages import find_boundaries, find_half_times, find_owners
from onset.papers.sparse.flows.starts import draw_starts
from onset.papers.sparse.simulate import regression, stages
from onset.papers.sparse.simulate import solver as solver_module
from onset.papers.sparse.simulate.solver import follow_flow, list_times
from onset.papers.sparse.simulate.sweep import simulate_sweep
from onset.params.sparse import (
    FlowNoise,
    FlowSolver,
    FlowStarts,
    FlowTimes,
    RegressionFlow,
    StageFlow,
    StartSweep,
)

FEATURES = read_features(small.SECTIONS["features"])
SOLVER = small.SECTIONS["flow_solver"]


def test_recorded_times():
    times = list_times(FlowTimes(first_time=1.0, time=100.0, points=50))
    assert (times[0], times[1], times[-1]) == (0.0, 1.0, pytest.approx(100.0))
    np.testing.assert_allclose(np.diff(np.log(times[1:])), np.log(100) / 49)


@pytest.mark.parametrize("times", [[0, 3, 8], [0, 3, 5, 8], [6, 7, 8], [0, 2, 4], [0, 5]])
def test_the_switch_leaves_no_seam(times):
    solver = FlowSolver(switch_time=5.0, rtol=1e-9, late_rtol=1e-10)
    times = np.array(times, dtype=float)
    found = follow_flow(lambda x: {"x": -0.3 * x}, {"x": np.array([2.0])}, times, solver, "decay")
    assert len(found["x"]) == len(times)
    np.testing.assert_allclose(found["x"][:, 0], 2 * np.exp(-0.3 * (times - times[0])), rtol=1e-7)


def test_a_failing_solver_is_quoted():
    # dx/dt = x² from 1 is infinite at t = 1.
    solver = FlowSolver(switch_time=2.0, rtol=1e-8, late_rtol=1e-10)
    with pytest.raises(OnsetError, match=r"flow, run a: .* stopped at time (0\.99\d*|1) of 2: .*step size"):
        follow_flow(lambda x: {"x": x**2}, {"x": np.ones(1)}, np.array([0.0, 2.0]), solver, "flow, run a")


def test_lsoda_is_stopped_where_it_would_not_stop(monkeypatch):
    solver = FlowSolver(switch_time=0.5, rtol=1e-8, late_rtol=1e-10)
    times = np.array([0.0, 2.0])
    with pytest.raises(OnsetError, match=r"flow, run a: .* stopped at time (0\.99\d*|1) of 2: rates are not"):
        follow_flow(lambda x: {"x": x**2}, {"x": np.ones(1)}, times, solver, "flow, run a")
    monkeypatch.setattr(solver_module, "MOST_EVALUATIONS", 3000)
    # dx/dt = -1/(2x) from 1 is sqrt(1 - t), which ends at t = 1.
    with pytest.raises(OnsetError, match=r"stopped at time (0\.99\d*|1) of 2: no end after 3000 evaluations"):
        follow_flow(lambda x: {"x": -0.5 / x}, {"x": np.ones(1)}, times, solver, "flow, run a")


def test_a_failure_names_experiment_run_and_seed(monkeypatch):
    def burst(V, s, features):
        return {"V": 1 + V**2, "s": np.zeros_like(s)}

    monkeypatch.setattr(regression, "flow_regression", burst)
    own = RegressionFlow(first_time=1.0, time=100.0, points=50, seeds=1)
    with pytest.raises(OnsetError, match=r"regression_flow, run uniform, seed 0: .* at time 1\.57"):
        regression.simulate_regression(small.make_job("regression_flow", own, {"starts": small.starts()}))


def test_half_times_owners_and_boundaries():
    times = np.array([0.0, 1.0, 2.0, 3.0])
    terms = np.array([[4.0, 1.0, 2.0], [4.0, 1.0, 2.0], [1.0, 0.9, 2.0], [0.0, 0.4, 2.0]])
    np.testing.assert_allclose(find_half_times(times, terms), [1 + 2 / 3, 2.8, np.nan])
    shares = np.array([[0.9, 0.2, 0.1], [0.1, 0.1, 0.8], [0.0, 0.7, 0.1]])
    np.testing.assert_array_equal(find_owners(shares), [0, 2, 1])
    descent = np.array([1.0, 5.0, 0.5, 3.0])
    np.testing.assert_allclose(find_boundaries(times, descent, np.array([0.5, 2.5, np.nan])), [2.0, np.nan])


def test_full_flow():
    flow = small.flow()
    assert dict(flow.sizes) == {
        "run": 2,
        "seed": 2,
        "time": 251,
        "head": 3,
        "feature": 3,
        "position": 40,
        "stage": 2,
    }
    np.testing.assert_allclose(flow.s.sum("position"), 1, atol=1e-9)
    assert float(flow.s.min()) > 0
    np.testing.assert_allclose(flow.loss.isel(time=0), FEATURES.square)
    assert float(flow.loss.diff("time").max()) <= 1e-10
    # Between records the loss falls by the integral of its rate; the trapezium rule is within 2 % of it.
    rate = flow.descent.transpose("time", ...).values
    t = flow.time.values
    fallen = np.sum(0.5 * (rate[1:] + rate[:-1]) * np.diff(t)[:, None, None], axis=0)
    np.testing.assert_allclose(fallen, flow.loss.isel(time=0) - flow.loss.isel(time=-1), rtol=0.02)
    on = flow.s.isel(time=-1, position=slice(3)).values
    shares = flow.V.isel(time=-1).transpose("run", "seed", "head", "feature").values * on / FEATURES.strengths
    owner = flow.owner.transpose("run", "seed", "feature").values
    np.testing.assert_array_equal(shares.argmax(2), owner)
    assert (np.sort(owner) == [0, 1, 2]).all()
    assert (flow.half_time.diff("feature") > 0).all()


def test_the_batch_agrees_with_solve_ivp():
    sweep, flow = small.sweep(), small.flow()
    both = sweep.sel(seed=flow.seed)
    # Half-times are read off records 4 % of the time apart, between which terms are taken to be straight.
    np.testing.assert_allclose(both.half_time, flow.half_time, rtol=1e-2)
    np.testing.assert_array_equal(both.owner, flow.owner)
    lowest = flow.V.sel(time=slice(None, 1500)).min(("time", "head"))
    np.testing.assert_allclose(both.dip, lowest, atol=0.03)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("dopri5", 5)])
def test_the_batch_converges_to_solve_ivp_at_its_order(method, order):
    s = small.starts().s.isel(run=0, seed=slice(2)).values
    tight = FlowSolver(switch_time=1000.0, rtol=1e-11, late_rtol=1e-11)
    V = np.zeros((2, 3, 3))
    exact = follow_flow(
        lambda V, s: flow_regression(V, s, FEATURES), {"V": V, "s": s}, np.array([0.0, 30.0]), tight, "exact"
    )
    errors = []
    for step in (0.5, 0.25):
        times = np.arange(0, 30 + step / 2, step)
        found = integrate_steps(
            lambda _, state: flow_regression(**state, features=FEATURES),
            {"V": V, "s": s},
            times,
            [len(times) - 1],
            label="batch",
            method=method,
        )
        errors.append(np.abs(found["V"][-1] - exact["V"][-1]).max())
    assert errors[1] < 1e-4
    # At these steps terms of the next order still count.
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.7)


@pytest.mark.parametrize("n", [2, 3])
def test_the_full_flow_of_a_stage_is_the_cooperative_flow(n):
    V, s = start_stage(n, 0.05, FEATURES)
    counts = count_heads(n, FEATURES).astype(int)
    start = {"V": np.repeat(V, counts, axis=0), "s": np.repeat(pin_attention(s, n), counts, axis=0)}
    times = np.array([0.0, 5.0, 20.0, 60.0])
    full = follow_flow(lambda V, s: flow_regression(V, s, FEATURES), start, times, SOLVER, "full")
    less = follow_flow(lambda V, s: flow_cooperative(V, s, FEATURES), {"V": V, "s": s}, times, SOLVER, "less")
    np.testing.assert_allclose(full["V"], np.repeat(less["V"], counts, axis=1), atol=1e-6)
    np.testing.assert_allclose(full["s"][:, -1], less["s"], atol=1e-6)


def test_simplified_flows_begin_on_the_full_flow_and_stay_near():
    flow, found = small.flow(), small.stages()
    np.testing.assert_allclose(found.begin, flow.boundary)
    for run in flow.run.values:
        for seed in flow.seed.values:
            one, two = flow.sel(run=run, seed=seed), found.sel(run=run, seed=seed)
            for n in two.stage.values:
                stage = two.sel(stage=n)
                head = int(stage.free_head)
                assert head == int(one.owner.sel(feature=n))
                begin = float(stage.begin)
                full = one.s.sel(time=begin, head=head).values[:3]
                np.testing.assert_allclose(stage.s.sel(time=begin, head=head, system="reduced"), full)
                assert stage.V.sel(time=slice(None, 0.999 * begin)).isnull().all()
                # Simplified: every other head attends to one position.
                others = stage.s.sel(time=begin, system="cooperative").drop_sel(head=head)
                np.testing.assert_array_equal(np.sort(others), [[0, 0, 1]] * 2)
    assert float(found.rms_s.sel(system="cooperative").max()) < 0.15
    np.testing.assert_allclose(found.product.sel(stage=2), 1.7, rtol=1e-3)
    assert float(found.full_dip.max()) < 0


def test_given_boundaries():
    flow = small.flow()
    # Shortly before each stage's half-time, which differs from run to run.
    own = StageFlow(boundaries=[30.0, 60.0])
    found = stages.simulate_stages(small.make_job("stage_flow", own, {"flow": flow}))
    t = flow.time.values
    expected = [t[t >= 30.0][0], t[t >= 60.0][0]]
    np.testing.assert_allclose(found.begin.isel(run=0, seed=0), expected)


def test_a_stage_that_is_not_reached_has_no_numbers():
    own = RegressionFlow(first_time=1.0, time=60.0, points=60, seeds=1)
    early = regression.simulate_regression(small.make_job("regression_flow", own, {"starts": small.starts()}))
    assert early.half_time.sel(feature=3).isnull().all()
    found = stages.simulate_stages(small.make_job("stage_flow", StageFlow(boundaries=None), {"flow": early}))
    late = found.sel(stage=3)
    assert late.begin.isnull().all() and late.rms_s.isnull().all() and late.V.isnull().all()
    assert (late.free_head == -1).all()
    with pytest.raises(
        OnsetError, match=r"stage_flow, run uniform, seed 0: heads .* follow the full flow for longer"
    ):
        stages.simulate_stages(
            small.make_job(
                "stage_flow",
                StageFlow(boundaries=[25.0, 50.0]),
                {"flow": early.assign(owner=early.owner * 0)},
            )
        )


def test_coupled_flow():
    ideal = small.ideal()
    assert float(ideal.margin.min()) >= -1e-12
    assert float(ideal.coupled_rise.min()) >= -1e-12
    limit = FEATURES.strengths[0] ** 2 / 6
    np.testing.assert_allclose(ideal.coupled_potential.isel(time=-1), limit, rtol=1e-5)
    one = ideal.sel(start=0).sel(time=slice(1e4, None))
    late = 3 * (limit - one.coupled_potential)
    # Relative corrections of order 1/sqrt(t).
    np.testing.assert_allclose(late, predict_late_loss(one.time, FEATURES), rtol=0.02)
    assert float(ideal.norm.sel(start=0).max()) > 2 * FEATURES.strengths[0] / 3


def test_stages_from_the_theory_reach_their_limits():
    ideal = small.ideal()
    last = ideal.isel(time=-1)
    m = FEATURES.strengths
    np.testing.assert_allclose(last.potential.sel(system="cooperative", stage=2), (m[0] ** 2 + m[1] ** 2) / 2)
    np.testing.assert_allclose(last.potential.sel(system="reduced", stage=3), m[2] ** 2 / 2)
    # What converges is the product, not attention: a share stays on position 1.
    own = last.sel(stage=2, feature=2)
    np.testing.assert_allclose(own.V * own.s, 1.7, rtol=1e-9)
    assert (own.s < 0.75).all()


def test_escape_slows_down_as_the_root_of_time():
    half = small.escape().half_time
    roots = np.sqrt(half.sel(feature=2).values)
    assert np.diff(roots) == pytest.approx(np.diff(roots).mean(), rel=0.1)
    assert np.ptp(half.sel(feature=1).values) < 0.1


def test_noise_of_standard_deviation_1e_6_is_too_late_for_the_published_times():
    own = FlowStarts(seeds=4, runs={"tiny": FlowNoise(noise="gaussian", epsilon=1e-6)}, random_starts=1)
    drawn = draw_starts(small.make_job("flow_starts", own))
    sweep = StartSweep(method="dopri5", segments=small.SEGMENTS[:2], points=100)
    found = simulate_sweep(small.make_job("start_sweep", sweep, {"starts": drawn}))
    assert (found.half_time.sel(feature=2).fillna(np.inf) > 300).all()


def test_more_seeds_change_none():
    own = FlowStarts(seeds=6, runs=small.NOISES, random_starts=5)
    more = draw_starts(small.make_job("flow_starts", own))
    few = small.starts()
    np.testing.assert_array_equal(more.s.sel(seed=few.seed), few.s)
    np.testing.assert_array_equal(more.random_V.sel(start=few.start), few.random_V)


@pytest.mark.parametrize(
    "make", [small.starts, small.flow, small.stages, small.ideal, small.escape, small.sweep]
)
def test_everything_is_labelled_and_double(make):
    dataset = make()
    for name, variable in dataset.variables.items():
        assert {"long_name", "units"} <= set(variable.attrs), name
    for name, variable in dataset.data_vars.items():
        assert variable.dtype == (np.int64 if name in {"owner", "free_head"} else np.float64), name


def test_no_network_library_is_loaded():
    modules = [
        "starts",
        *(f"simulate.{name}" for name in ("regression", "stages", "ideal", "escape", "sweep")),
    ]
    names = [f"onset.papers.sparse.{'flows.' if m == 'starts' else ''}{m}" for m in modules]
    code = f"import sys, {', '.join(names)}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
