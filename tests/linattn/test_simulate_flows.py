"""Guarantees of the simulations that are laid over trained runs.

- the merged flow is that of the runs' own starts: gradient descent tends to it; Eq. 10 with the effective
  start follows a white run and is NaN elsewhere; conserved quantities are conserved to 1e-8
- the separate flow likewise, at any rank and with runs of different sizes in one experiment
- Eq. 21 passes through v*/2 at time 0 and agrees with the closed form; runs of a small start follow it
- the first drop and the head that makes it are predicted from the start
- what is not learned, or not defined at a rank, is NaN or -1
- a run's task that is not read, runs that do not qualify, and failing integrations end with a message
- variables are double and labelled; no network library is imported
"""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from tests.linattn.small_runs import TASKS, join, train_one

from onset.errors import OnsetError
from onset.job.context import Job
from onset.papers.linattn.simulate.merged import simulate_merged
from onset.papers.linattn.simulate.separate import simulate_separate
from onset.papers.linattn.theory.fixed_points import compute_head_values, compute_plateau_losses
from onset.papers.linattn.theory.landscape import describe_query_loss
from onset.papers.linattn.theory.scalar import solve_scalar_flow
from onset.params.linattn import Flow

LANDSCAPE = describe_query_loss([0.4, 0.3, 0.2, 0.1], 31)


def make_job(runs, own, tasks=("base_task", "white_task")):
    sections = {name: TASKS[name] for name in tasks}
    return Job("linattn", "flow", "test", "0", own, sections, inputs={"runs": runs})


@pytest.fixture(scope="module")
def merged_runs():
    settings = {"rank": 0, "epochs": 1500, "every": 10, "seeds": [0, 4]}
    return join(
        population=train_one("merged", "base_task", heads=8, std=1e-3, rate=0.03, **settings),
        white=train_one("merged", "white_task", heads=5, std=1e-4, rate=0.03, **settings),
    )


@pytest.fixture(scope="module")
def merged(merged_runs):
    return simulate_merged(make_job(merged_runs, Flow(seeds=2, points=901, time=270.0, rtol=1e-9)))


@pytest.fixture(scope="module")
def separate_runs():
    settings = {"rate": 0.3, "seeds": [0, 1, 5]}
    return join(
        rank1=train_one("separate", "base_task", heads=5, rank=1, std=0.01, epochs=3000, every=3, **settings),
        rank2=train_one("separate", "base_task", heads=3, rank=2, std=0.01, epochs=3000, every=3, **settings),
    )


@pytest.fixture(scope="module")
def separate(separate_runs):
    return simulate_separate(make_job(separate_runs, Flow(seeds=2, points=400, time=1800.0, rtol=1e-9)))


def at_records(flow, runs, name, run):
    """The flow at the times of the run's records, and the run, both with dimension epoch."""
    one = runs.sel(run=run)
    times = one["epoch"].values * one["time_per_epoch"].item()
    inside = times <= flow["time"].values[-1]
    value = flow[name].sel(run=run).interp(time=times[inside], method="cubic")
    return value.values, one[name].isel(seed=slice(2), epoch=inside).transpose("seed", "epoch", ...).values


def test_merged_flow_is_that_of_the_runs(merged, merged_runs):
    for run in ("population", "white"):
        flow, descent = at_records(merged, merged_runs, "loss", run)
        # Descent at learning rate 0.03 is early by a few hundredths of tau.
        assert np.abs(flow - descent).max() < 0.02
    assert list(merged["seed"].values) == [0, 4]
    np.testing.assert_allclose(merged["step"].sel(run="white"), merged["time"] / 0.06)


def test_merged_flow_starts_where_the_runs_start(merged, merged_runs):
    np.testing.assert_allclose(
        merged["loss"].isel(time=0), merged_runs["loss"].isel(epoch=0).transpose("run", "seed"), rtol=1e-6
    )


def test_white_course_follows_the_white_run(merged):
    white = merged.sel(run="white")
    mean = white["A_diagonal"].mean("direction")
    assert float(np.abs(mean - white["sigma"]).max()) < 2e-3 * float(white["sigma"].max())
    assert float(np.abs(white["loss"] - white["sigma_loss"]).max()) < 5e-3
    assert bool(merged["sigma"].sel(run="population").isnull().all())
    assert bool((merged["w_init"] > 0).all())


def test_flows_conserve(merged, separate):
    for drift in (merged["drift_value"], separate["drift_value"], separate["drift_key_query"]):
        assert float(drift.max()) < 1e-8


def test_separate_flow_is_that_of_the_runs(separate, separate_runs):
    for run in ("rank1", "rank2"):
        flow, descent = at_records(separate, separate_runs, "loss", run)
        assert np.quantile(np.abs(flow - descent), 0.98) < 0.02
    assert bool(separate["v"].sel(run="rank2", head=slice(3, None)).isnull().all())
    assert bool(separate["v"].sel(run="rank1").notnull().all())


def test_times_of_the_separate_flow_grow_as_squares(separate):
    np.testing.assert_allclose(np.sqrt(separate["time"]), np.sqrt(1800) * np.linspace(0, 1, 400), atol=1e-9)


def test_scalar_equation(separate):
    star = compute_head_values(LANDSCAPE)
    for d in range(4):
        time, value = separate["ode_time"].values[d], separate["ode_value"].values[d]
        np.testing.assert_allclose(value, solve_scalar_flow(time, star[d] / 2, d, LANDSCAPE), rtol=1e-6)
        assert np.interp(0.0, time, value) == pytest.approx(star[d] / 2, rel=1e-3)
        assert value[0] == pytest.approx(1e-3 * star[d]) and value[-1] > 0.9999 * star[d]


def test_rank_one_runs_follow_the_scalar_equation(separate):
    one = separate.sel(run="rank1").isel(direction=slice(2))
    assert bool((one["learner"] >= 0).all())
    assert all(len(set(row)) == 2 for row in one["learner"].values)
    assert bool((one["half_time"].diff("direction") > 0).all())
    # At this start drops overlap a little; the median is what is compared.
    assert float(one["ode_deviation"].median()) < 0.05


def test_first_drop_is_predicted(separate, separate_runs):
    for run in ("rank1", "rank2"):
        one = separate.sel(run=run)
        for seed in range(2):
            t = one["time"].values
            fall = -np.gradient(one["loss"].values[seed], t)
            inside = t < 1.3 * float(one["first_drop_predicted"][seed])
            found = t[inside][fall[inside].argmax()]
            assert found == pytest.approx(float(one["first_drop_predicted"][seed]), rel=0.05)
    rank1 = separate.sel(run="rank1")
    np.testing.assert_array_equal(rank1["winner_predicted"], rank1["learner"].sel(direction=0))


def test_higher_ranks_have_half_times_but_no_scalar_equation(separate):
    rank2 = separate.sel(run="rank2")
    assert bool(rank2["ode_deviation"].isnull().all())
    assert bool(rank2["half_time"].sel(direction=[0, 1]).notnull().all())


def test_what_is_not_learned_has_no_time(separate_runs):
    short = separate_runs.isel(epoch=slice(200)).sel(run=["rank1"])
    last = short.isel(snapshot=[0, 0]).assign(A_diagonal=short["A_diagonal"] * 0)
    found = simulate_separate(make_job(last, Flow(seeds=1, points=20, time=10.0, rtol=1e-6)))
    assert bool((found["learner"] == -1).all()) and bool(found["half_time"].isnull().all())


def test_losses_end_at_the_floor(merged):
    floor = compute_plateau_losses(LANDSCAPE)[-1]
    assert float(merged["loss"].sel(run="population").isel(time=-1).max()) == pytest.approx(floor, rel=0.05)


def test_messages(merged_runs, separate_runs):
    own = Flow(seeds=1, points=20, time=10.0, rtol=1e-6)
    with pytest.raises(OnsetError, match="run white has task white_task; add it to what flow reads"):
        simulate_merged(make_job(merged_runs, own, tasks=("base_task",)))
    with pytest.raises(OnsetError, match=r"no run of merged or mlp on the population.*rank1, rank2"):
        simulate_merged(make_job(separate_runs, own))
    on_a_set = merged_runs.assign_coords(samples=("run", [5000, 5000]))
    with pytest.raises(OnsetError, match="samples: 0"):
        simulate_merged(make_job(on_a_set, own))
    broken = merged_runs.copy(deep=True)
    broken["v"][0, 0] = np.nan
    with pytest.raises(OnsetError, match="flow, run population, seed 0: the state is not finite"):
        simulate_merged(make_job(broken, own))


@pytest.mark.parametrize("name", ["merged", "separate"])
def test_every_variable_is_double_and_labelled(name, request):
    dataset: xr.Dataset = request.getfixturevalue(name)
    for variable in dataset.data_vars.values():
        assert variable.dtype == np.float64
        assert variable.attrs["long_name"] and variable.attrs["units"]
    assert all(coordinate.attrs["long_name"] for coordinate in dataset.coords.values())


def test_a_seed_does_not_depend_on_how_many_are_integrated(separate_runs, separate):
    own = Flow(seeds=1, points=400, time=1800.0, rtol=1e-9)
    one = simulate_separate(make_job(separate_runs.sel(run=["rank1"]), own))
    np.testing.assert_array_equal(one["loss"][0, 0], separate["loss"].sel(run="rank1")[0])


def test_simulations_need_no_network_library():
    code = "import sys, onset.papers.linattn.simulate.separate, onset.papers.linattn.simulate.merged; "
    code += "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_progress_is_counted(merged_runs):
    told = []
    counter = SimpleNamespace(advance=told.append)

    class Reporter:
        def steps(self, total, unit):
            told.append((total, unit))
            return self

        def __enter__(self):
            return counter

        def __exit__(self, *_):
            return None

    own = Flow(seeds=2, points=20, time=1.0, rtol=1e-6)
    simulate_merged(Job("linattn", "flow", "test", "0", own, TASKS, inputs={"runs": merged_runs},
                        reporter=Reporter()))  # fmt: skip
    assert told == [(4, "flows"), 1, 1, 1, 1]
