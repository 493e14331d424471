"""Guarantees of the claims of figures 1, 2, 5 and 8, on results in which all of them are true:

- every claim holds there, also those of the paper's scale alone
- no claim holds on its control, also of figures 3 and 4; every claim has one
- zero order parameters make no claim of a measured head hold but those that say it stays at 0
- what is large near a transition, or trapped, makes no claim fail; what a scale leaves out is absent
- the onset is a root of the determinant, and brackets are where chains change phase
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import xarray as xr
from tests.figures import copyhead_inputs as made
from tests.figures import copyhead_results as figures34

from onset.claims.verdict import evaluate
from onset.papers.copyhead import brackets, coverage
from onset.papers.copyhead.claims import controls, fig3, fig4, phase_measures
from onset.papers.copyhead.claims.landscape_measures import is_local_minimum
from onset.papers.copyhead.claims.softmax_measures import split_r_hat
from onset.papers.copyhead.claims.stage_measures import first_crossing

FIGURES = tuple(made.INPUTS)


def claims_of(figure: str):
    return importlib.import_module(f"onset.papers.copyhead.claims.{figure}").CLAIMS


@pytest.fixture(scope="module")
def results():
    return {figure: make() for figure, make in made.INPUTS.items()}


@pytest.fixture
def inputs(results):
    return lambda figure: {role: dataset.copy(deep=True) for role, dataset in results[figure].items()}


def verdicts(figure: str, found, scale: str = "paper") -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in evaluate(claims_of(figure), found, scale)}


@pytest.mark.parametrize("figure", FIGURES)
def test_all_hold_where_they_are_true(figure, inputs):
    assert {name for name, one in verdicts(figure, inputs(figure)).items() if one != "held"} == set()


@pytest.mark.parametrize("figure", FIGURES)
def test_no_claim_holds_on_its_control(figure, inputs):
    rows = evaluate(claims_of(figure), inputs(figure), "paper")
    assert all(row["control"] is not None for row in rows)
    assert {
        row["id"]: row["control"]["verdict"] for row in rows if row["control"]["verdict"] != "failed"
    } == {}


@pytest.mark.parametrize("figure", FIGURES)
def test_claims_are_complete(figure):
    for claim in claims_of(figure):
        assert claim.place and claim.sentence.endswith(".") and claim.reason and claim.describe_quantity()


def test_heads_that_learned_nothing_do_not_pass(inputs):
    # What holds then says that a head stays at 0, or is about theory alone.
    still = {"trivial", "crossover", "softmax-uniform", "qk-adam-softmax", "qk-adam-linear", "qk-adam-map"}
    for figure in ("fig1", "fig5"):
        found = controls.ZERO.apply(inputs(figure))
        held = {name for name, one in verdicts(figure, found).items() if one == "held"}
        assert held <= {*still, "step-bias"}, held - still


def test_trapped_chains_fail_no_claim(inputs):
    found = inputs("fig5")
    runs = found["variants"]
    runs.trapped.loc[{"run": "linear_half", "chain": 0, "P": 120}] = True
    assert "failed" not in verdicts("fig5", found).values()
    rows = {row["id"]: row for row in evaluate(claims_of("fig5"), found, "paper")}
    assert "1 trapped" in rows["step-halving"]["detail"]


def test_chains_near_a_transition_decide_nothing_about_samplers(inputs):
    found = inputs("fig5")
    runs = found["variants"]
    runs["P"] = [20, 30, 42, 45, 72, 85]  # the last of each kind were 80 and 120
    runs["mean"] = runs["mean"].where(~runs.P.isin([72, 85]), runs["mean"] + 0.3)
    assert "failed" not in {v for k, v in verdicts("fig5", found).items() if k in ("collapsed", "minibatch")}


def test_errors_beyond_the_tolerance_decide_nothing(inputs):
    found = inputs("fig5")
    found["variants"]["error"] = found["variants"].error * 10
    told = verdicts("fig5", found)
    assert {told[name] for name in ("collapsed", "minibatch", "copy-start", "step-halving")} == {"undecided"}


@pytest.mark.parametrize("scale", ["ci", "paper"])
def test_wide_heads_are_asked_at_the_papers_scale_alone(inputs, scale):
    told = verdicts("fig5", inputs("fig5"), scale)
    assert told["qk-wide-copying"] == ("held" if scale == "paper" else "not run at this scale")


def test_what_is_not_sampled_is_absent(inputs):
    found = inputs("fig5")
    for role in ("qk_sgld", "qk_adam"):
        found[role] = found[role].sel(run=found[role].run.str.startswith("softmax"))
    told = verdicts("fig5", found)
    absent = {"qk-pooling", "qk-copying", "qk-wide-pooling", "qk-wide-copying", "narrow-jump"}
    absent |= {"qk-adam-linear", "qk-adam-map", "qk-adam-anchored"}
    assert {name for name, one in told.items() if one == "not run at this scale"} == absent


def test_without_a_transition_no_claim_about_the_diagram_fails(inputs):
    found = inputs("fig8")
    for name in ("P_c", "P_lower", "P_upper", "jump", "barrier"):
        for axis in brackets.AXES:
            found["phase"][f"{name}_{axis}"] = found["phase"][f"{name}_{axis}"] * np.nan
    told = verdicts("fig8", found)
    assert "failed" not in told.values()
    assert told["transition"] == told["barrier-grows"] == told["two-starts"] == "not run at this scale"


def test_a_low_barrier_leaves_the_loop_open(inputs):
    found = inputs("fig8")
    found["theory"]["barrier"] = found["theory"].barrier / 3
    assert verdicts("fig8", found)["loop"] == "undecided"


def test_noisy_ways_decide_nothing(inputs):
    found = inputs("fig8")
    noise = np.random.default_rng(0).normal(size=found["hysteresis"]["copy"].shape)
    found["hysteresis"]["copy"] = found["hysteresis"]["copy"] + 0.1 * noise
    assert verdicts("fig8", found)["no-loop"] == "undecided"


def test_brackets_are_where_chains_change_phase(inputs):
    found = inputs("fig8")
    listed = brackets.list_brackets(found["sampled"], {"v": 1.0, "g_OV": 0.03, "L": 16.0})
    assert sorted((b.axis, b.settings[b.axis]) for b in listed) == [("L", 12), ("g_OV", 0.1), ("v", 0.5)]
    for bracket in listed:
        P_c = brackets.predict_transition(found["phase"], bracket)
        assert bracket.lost <= 0.9 * P_c < bracket.lost + 2
        assert bracket.gained - 2 <= 1.1 * P_c < bracket.gained
        assert all(bracket.lost < P < bracket.gained for P in bracket.both)


def test_the_onset_is_a_root_of_the_determinant():
    assert phase_measures.onset_of_determinant(16, 8, 0.03, 1.0, 0.5) == pytest.approx(65.26, abs=0.01)
    assert phase_measures.onset_of_determinant(24, 8, 0.03, 1.0, 0.5) == pytest.approx(65.63, abs=0.01)


def test_coverage_and_cosine_of_known_matrices():
    size = 5
    J, G = np.full((size, size), 1 / size), np.roll(np.eye(size), 1, axis=0)
    noise = np.random.default_rng(0).normal(size=(size, size))
    A = 0.7 * J + 0.3 * (G - J)
    attention = xr.DataArray([A, A + noise], dims=("P", "query", "key"), coords={"P": [1, 2]})
    attention = attention.assign_coords(query=np.arange(size), key=np.arange(size))
    pooling, copy = coverage.measure_plane(attention)
    assert (float(pooling[0]), float(copy[0])) == pytest.approx((0.7, 0.3))
    basis = np.stack([J.ravel(), (G - J).ravel() / 2])
    inside = np.linalg.norm(basis @ (A + noise).ravel()) / np.linalg.norm(A + noise)
    np.testing.assert_allclose(coverage.cover_attention(attention), [1, inside], rtol=1e-12)
    theory = xr.DataArray([0.5, 0.5], coords={"P": [1, 2]}), xr.DataArray([0.1, 0.1], coords={"P": [1, 2]})
    matrix = 0.5 * J + 0.1 * (G - J)
    expected = [np.sum(a * matrix) / np.linalg.norm(a) / np.linalg.norm(matrix) for a in (A, A + noise)]
    np.testing.assert_allclose(coverage.align_attention(attention, *theory), expected, rtol=1e-12)


def test_attention_between_the_phases_has_no_theory():
    theory = made.softmax_inputs()["softmax_theory"]
    aG = xr.DataArray([0.02, 0.4, 0.75], coords={"P": [30, 46, 64]})
    _, copy = coverage.expect_softmax(theory, aG, "dressed")
    np.testing.assert_array_equal(copy.isnull(), [False, True, False])


def test_local_minima_of_a_grid():
    x = np.linspace(-1, 1, 21)
    wells = is_local_minimum((x[:, None] ** 2 - 0.25) ** 2 + x**2)
    assert np.argwhere(wells).tolist() == [[4, 9], [14, 9]]


def test_first_crossing_is_linear_between_points():
    values = xr.DataArray([0.0, 0.2, 0.6], coords={"P": [10, 20, 30]})
    assert first_crossing(values, 0.4) == pytest.approx(25.0)
    assert np.isnan(first_crossing(values, 0.7))


def test_split_r_hat():
    draws = np.random.default_rng(0).normal(size=(4, 2, 200))
    draws[:2, 1] += 5.0
    R = split_r_hat(xr.DataArray(draws, dims=("chain", "P", "step"), coords={"P": [1, 2]}))
    assert float(R[0]) == pytest.approx(1.0, abs=0.02)
    assert float(R[1]) > 2.5


@pytest.mark.parametrize(
    ("claims", "make"), [(fig3.CLAIMS, figures34.linear_inputs), (fig4.CLAIMS, figures34.softmax_inputs)]
)
def test_no_claim_of_figures_3_and_4_holds_on_its_control(claims, make):
    rows = evaluate(claims, make(), "paper")
    assert all(row["control"] is not None for row in rows)
    assert {row["id"] for row in rows if row["vacuous"]} == set()
