"""Guarantees of the integration of many initial conditions by steps fixed in advance.

- both methods have their order, on a non-linear equation with a closed solution and with time in the rate
- their coefficients agree with SciPy's Dormand-Prince pair and with the conditions up to order 3
- starts do not affect one another, names and shapes are kept; the result equals solve_ivp's to the order of
  the method
- times are planned segment by segment, records are the nearest times, each once
- a state that is not finite ends with an error that names the run and the time it reached
- times that do not lead on, or records out of order, are refused
"""

import numpy as np
import pytest
from scipy.integrate import RK45, solve_ivp

from onset.dynamics.fixed_step import METHODS, choose_records, integrate_steps, plan_times
from onset.errors import OnsetError


def logistic(t, state):
    y = state["y"]
    return {"y": y * (1 - y) * (1 + np.cos(t))}


def solve_logistic(t, y):
    grown = np.exp(t + np.sin(t)) * y / (1 - y)
    return grown / (1 + grown)


STARTS = np.array([[0.1, 0.4, 0.9], [0.01, 0.5, 0.2]])


@pytest.mark.parametrize("method", METHODS)
def test_order_of_convergence(method):
    errors = []
    for count in (16, 32, 64):
        times = np.linspace(0, 4, count + 1)
        found = integrate_steps(logistic, {"y": STARTS}, times, [count], label="growth", method=method)
        errors.append(np.abs(found["y"][0] - solve_logistic(4.0, STARTS)).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    # A method of order p divides the error by 2^p as steps halve, up to terms of the next order.
    assert np.all(np.abs(orders - METHODS[method].order) < 0.5), orders


@pytest.mark.parametrize("method", METHODS)
def test_conditions_of_order(method):
    tableau = METHODS[method]
    b, c = np.array(tableau.weights), np.array(tableau.nodes)
    A = np.array([[*row, *[0.0] * (len(b) - len(row))] for row in tableau.stages])
    for power in range(tableau.order):
        assert b @ c**power == pytest.approx(1 / (power + 1))
    assert b @ A @ c == pytest.approx(1 / 6)


def test_coefficients_are_those_of_dormand_and_prince():
    tableau = METHODS["dopri5"]
    np.testing.assert_allclose(tableau.weights, RK45.B, atol=1e-15)
    np.testing.assert_allclose(tableau.nodes, RK45.C, atol=1e-15)
    for row, given in zip(tableau.stages, RK45.A, strict=True):
        np.testing.assert_allclose(row, given[: len(row)], atol=1e-15)


def test_starts_are_runs_of_their_own_and_agree_with_solve_ivp():
    def pendulum(_, state):
        # Names in another order than the start's.
        return {"speed": -np.sin(state["angle"]), "angle": state["speed"]}

    starts = {"angle": np.array([0.3, 1.0, 2.5]), "speed": np.array([0.0, 0.5, -0.2])}
    times = plan_times([(10.0, 0.02)])
    records = choose_records(times, [1.0, 5.0])
    together = integrate_steps(pendulum, starts, times, records, label="pendula", method="dopri5")
    for i in range(3):
        own = {name: value[[i]] for name, value in starts.items()}
        alone = integrate_steps(pendulum, own, times, records, label="pendulum", method="dopri5")
        exact = solve_ivp(
            lambda t, y: [y[1], -np.sin(y[0])],
            (0, 10),
            [own["angle"][0], own["speed"][0]],
            t_eval=times[records],
            rtol=1e-12,
            atol=1e-13,
        )
        for name, wanted in zip(starts, exact.y, strict=True):
            np.testing.assert_allclose(together[name][:, [i]], alone[name], rtol=0, atol=1e-14)
            # Fifth order at steps of 0.02: about 10 (0.02)^5.
            np.testing.assert_allclose(together[name][:, i], wanted, atol=1e-8)
            assert together[name][0, i] == starts[name][i]


def test_times_are_planned_by_segments():
    np.testing.assert_allclose(plan_times([(1.0, 0.5), (2.0, 0.4)]), [0, 0.5, 1, 4 / 3, 5 / 3, 2])
    assert len(plan_times([(0.3, 0.1)])) == 4, "rounding is no further step"
    with pytest.raises(ValueError, match="do not lead on"):
        plan_times([(1.0, 0.1), (1.0, 0.1)])
    with pytest.raises(ValueError, match="do not lead on"):
        plan_times([(1.0, 0.0)])


def test_records_are_the_nearest_times_once():
    times = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    np.testing.assert_array_equal(choose_records(times, [0.9, 1.1, 3.1, 7.0]), [0, 1, 3, 4])
    np.testing.assert_array_equal(choose_records(times, []), [0, 4])


def test_a_blow_up_names_run_and_time():
    with pytest.raises(OnsetError, match=r"sweep: the state is not finite at time \d\S* of 3; take shorter"):
        integrate_steps(
            lambda _, s: {"y": s["y"] ** 2},
            {"y": np.ones(2)},
            np.linspace(0, 3, 31),
            range(31),
            label="sweep",
        )


def test_what_is_out_of_order_is_refused():
    for times, records in (([0.0, 1.0, 1.0], [0]), ([0.0, 1.0, 2.0], [1, 1])):
        with pytest.raises(ValueError, match="strictly increasing"):
            integrate_steps(logistic, {"y": STARTS}, np.array(times), records, label="growth")
