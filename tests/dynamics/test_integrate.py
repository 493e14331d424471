"""Guarantees of the integration of ordinary differential equations.

- a state packs into a vector and back, leading axes included
- a linear system is solved to its matrix exponential; names and shapes are kept, whatever the flow's order
- the first time returns the start itself
- a blow-up ends with an error that names the run, the solver's message and the time it reached
- a start that is not finite and times that do not increase are refused
"""

import numpy as np
import pytest
from scipy.linalg import expm

from onset.dynamics.integrate import integrate_flow, pack, unpack
from onset.errors import OnsetError


def test_packing_is_undone():
    rng = np.random.default_rng(0)
    state = {"v": rng.normal(size=3), "U": rng.normal(size=(3, 2, 2)), "c": np.float64(0.5)}
    back = unpack(np.stack([pack(state)] * 4), state)
    for name, value in state.items():
        assert back[name].shape == (4, *np.shape(value))
        np.testing.assert_array_equal(back[name][2], value)


def test_linear_system_is_the_matrix_exponential():
    matrix = np.array([[0.0, 1.0, 0.2], [-1.0, -0.1, 0.0], [0.3, 0.0, -0.5]])
    start = {"position": np.array([1.0, 0.0]), "other": np.array([[0.5]])}

    def flow(_, state):
        rates = matrix @ np.array([*state["position"], state["other"][0, 0]])
        return {"other": rates[2:].reshape(1, 1), "position": rates[:2]}

    times = np.array([0.0, 0.7, 3.0, 9.0])
    found = integrate_flow(flow, start, times, label="oscillator")
    want = np.array([expm(matrix * t) @ [1.0, 0.0, 0.5] for t in times])
    np.testing.assert_array_equal(found["position"][0], start["position"])
    np.testing.assert_allclose(found["position"], want[:, :2], atol=1e-8)
    np.testing.assert_allclose(found["other"][:, 0, 0], want[:, 2], atol=1e-8)
    assert found["other"].shape == (4, 1, 1)


def test_time_enters_the_flow():
    found = integrate_flow(lambda t, _: {"x": np.cos(t)}, {"x": np.float64(0)}, [0.0, 1.0, 2.0], label="sine")
    np.testing.assert_allclose(found["x"], np.sin([0.0, 1.0, 2.0]), atol=1e-9)


def test_a_blow_up_names_run_message_and_time():
    # dx/dt = x^2 from 1 is infinite at t = 1.
    with pytest.raises(OnsetError, match=r"fig9_flow, seed 3: .* at time (0\.999\d*|1) of 2: .+"):
        integrate_flow(
            lambda _, s: {"x": s["x"] ** 2}, {"x": np.array([1.0])}, [0.0, 2.0], label="fig9_flow, seed 3"
        )


def test_a_start_that_is_not_finite_is_refused():
    with pytest.raises(OnsetError, match="decay: the state is not finite at the start"):
        integrate_flow(lambda _, s: s, {"x": np.array([np.nan])}, [0.0, 1.0], label="decay")


@pytest.mark.parametrize("times", [[0.0], [0.0, 0.0], [1.0, 0.5]])
def test_times_that_do_not_increase_are_refused(times):
    with pytest.raises(ValueError, match="increasing"):
        integrate_flow(lambda _, s: s, {"x": np.array([1.0])}, times, label="decay")
