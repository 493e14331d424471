"""Guarantees of figures 6 and 7, on made-up results with the paper's statements drawn in:

- every seed is a line in its cluster's colour; the two losses of the theory are drawn where they exist
- figure 7 draws the P of `at` alone on its left, and every seed at every P on its right
- no texts overlap, and two draws give the same PDF bytes
- every claim holds there but that on the global minimum, which is false of seeds that stay where they start
- none holds on its control; each fails when what it states is made untrue
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from matplotlib.axes import Axes
from tests.figures import copyhead_results as results
from tests.figures import reading
from tests.figures.reading import PLOTTING

from onset.claims.changes import hold_first
from onset.claims.control import Changed
from onset.claims.verdict import evaluate
from onset.job.context import Job
from onset.papers.copyhead.claims import fig6 as claims6
from onset.papers.copyhead.claims import fig7 as claims7
from onset.papers.copyhead.figures import fig6, fig7
from onset.params.copyhead import LossFigure, PlainFigure

P = [100, 200, 400]
LOSS = {"global": [0.8, 0.3, 0.1], "metastable": [np.nan, 0.45, 0.25]}
C1 = {"global": [0.5, 0.7, 0.8], "metastable": [np.nan, 0.4, 0.38]}
CG = {"global": [0.1, 0.4, 0.6], "metastable": [np.nan, -0.4, -0.55]}
HIGH = np.array([[0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
AT = (30, 42, 64)


def cluster_theory() -> xr.Dataset:
    def curve(values: dict[str, list[float]]) -> tuple[tuple[str, ...], np.ndarray]:
        return ("theory", "state", "P"), np.stack([np.array(list(values.values()))] * 3)

    theory = xr.Dataset(
        {"c1": curve(C1), "cG": curve(CG), "test_loss": curve(LOSS)},
        coords={"theory": results.THEORIES, "state": ["global", "metastable"], "P": np.array(P, float)},
    )
    theory["metastable_from"] = ("theory", [150.0, 149.0, 155.0])
    return theory.assign_attrs(onset_params=results.softmax_theory().attrs["onset_params"])


def train(start: np.ndarray | float, end: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """From a start to an end (seed, P), in four records."""
    share = np.array([0.0, 0.5, 0.95, 1.0])
    return ("seed", "P", "epoch"), np.asarray(start)[..., None] * (1 - share) + end[..., None] * share


def cluster_adam() -> xr.Dataset:
    rng, sign = np.random.default_rng(0), np.array([1, -1, 1, -1, 1])[:, None]
    chosen = {
        name: np.where(HIGH, values["metastable"], values["global"]) + 1e-3 * rng.normal(size=HIGH.shape)
        for name, values in {"c1": C1, "cG": CG, "test_loss": LOSS}.items()
    }
    variables = {
        "c1": train(0.01 * sign, sign * chosen["c1"]),
        "cG": train(0.001 * sign, sign * chosen["cG"]),
        "test_loss": train(1 - 1e-4 * rng.random(HIGH.shape), chosen["test_loss"]),
        "loss": train(1.0, chosen["test_loss"]),
    }
    return xr.Dataset(variables, coords={"seed": range(5), "P": P, "epoch": [20, 400, 800, 1000]})


def softmax_adam() -> xr.Dataset:
    grid = np.array(results.SOFTMAX_P)
    copies = results.UPPER["map"] < grid
    aG = np.where(copies, results.copy_branch(grid, "map"), results.uniform_branch(grid, "map"))
    ends = aG + 1e-4 * np.random.default_rng(1).normal(size=(4, len(grid)))
    adam = xr.Dataset(
        {"aG": train(0.0, ends), "test_loss": train(0.999, 1 - ends)},
        coords={"seed": range(4), "P": results.SOFTMAX_P, "epoch": [20, 400, 800, 1000]},
    )
    adam.P.attrs = {"long_name": "training sequences", "units": "1"}
    return adam


def make_job(name: str) -> Job:
    if name == "fig6":
        own, inputs = PlainFigure(width=7.0, height=3.2), {"theory": cluster_theory(), "adam": cluster_adam()}
    else:
        own = LossFigure(at=list(AT), width=7.0, height=3.2)
        inputs = {"theory": results.softmax_theory(), "adam": softmax_adam()}
    return Job("copyhead", name, "test", "-", own, {"plotting": PLOTTING}, inputs)


FIGURES = {"fig6": (fig6.draw, claims6.CLAIMS), "fig7": (fig7.draw, claims7.CLAIMS)}


def verdicts(name: str, inputs=None) -> dict[str, str]:
    rows = evaluate(FIGURES[name][1], make_job(name).inputs if inputs is None else inputs, "test")
    return {row["id"]: row["verdict"] for row in rows}


@pytest.mark.parametrize("name", FIGURES)
def test_two_draws_are_one_file_without_overlaps(name):
    draw = FIGURES[name][0]
    figure = draw(make_job(name))
    assert reading.pdf(figure, PLOTTING) == reading.pdf(draw(make_job(name)), PLOTTING)
    assert reading.overlaps(figure) == []


def count_lines(axes: Axes, values: np.ndarray) -> int:
    """Number of lines of a panel with these values."""
    return sum(np.array_equal(line.get_ydata(), values) for line in axes.lines)


def test_every_seed_is_a_line_in_the_colour_of_its_cluster():
    job = make_job("fig6")
    loss, colours = job.inputs["adam"].test_loss, {}
    for axes, at in zip(fig6.draw(job).get_axes(), P, strict=True):
        for high, curve in zip(HIGH[:, P.index(at)], loss.sel(P=at).values, strict=True):
            (line,) = [line for line in axes.lines if np.array_equal(line.get_ydata(), curve)]
            colours.setdefault(bool(high), set()).add(line.get_color())
    assert len(colours[True]) == len(colours[False]) == 1
    assert colours[True] != colours[False]


def test_losses_of_the_minima_that_exist():
    for number, axes in enumerate(fig6.draw(make_job("fig6")).get_axes()):
        flat = [line.get_ydata()[0] for line in axes.lines if len(line.get_ydata()) == 2]
        expected = [losses[number] for losses in LOSS.values() if np.isfinite(losses[number])]
        np.testing.assert_array_equal(flat, expected)


def test_chosen_P_on_the_left_all_on_the_right():
    job = make_job("fig7")
    loss, shown = job.inputs["adam"].test_loss, reading.panels(fig7.draw(job))
    for here in loss.P.values:
        drawn = [count_lines(shown["a"], curve) for curve in loss.sel(P=here).values]
        assert drawn == [int(here in AT)] * loss.sizes["seed"]
    final = loss.isel(epoch=-1).values
    marked = [line.get_ydata() for line in shown["b"].lines if len(line.get_ydata()) == final.size]
    assert any(np.array_equal(np.sort(ends), np.sort(final.ravel())) for ends in marked)
    for branch in job.inputs["theory"].test_loss.sel(theory="map").values:
        assert any(np.array_equal(line.get_ydata(), branch, equal_nan=True) for line in shown["b"].lines)


@pytest.mark.parametrize("name", FIGURES)
def test_claims_hold_where_they_are_true(name):
    assert {claim for claim, verdict in verdicts(name).items() if verdict != "held"} == FALSE[name]
    for claim in FIGURES[name][1]:
        assert claim.place and claim.sentence.endswith(".") and claim.reason and claim.control


@pytest.mark.parametrize("name", FIGURES)
def test_no_claim_holds_on_its_control(name):
    rows = evaluate(FIGURES[name][1], make_job(name).inputs, "test")
    assert {row["id"] for row in rows if row["vacuous"]} == set()


@pytest.mark.parametrize("name", FIGURES)
def test_untrained_seeds_reach_no_state(name):
    told = verdicts(name, Changed(make_job(name).inputs, hold_first("epoch", only=("adam",))))
    alike = {"one-cluster", "within-cluster", "minority"}  # all seeds have one loss before training
    assert {claim for claim, verdict in told.items() if verdict == "held"} <= alike


def shift(variable: xr.DataArray, by: float, where=True) -> None:
    """Add to a variable in place, only where `where`."""
    variable.values[:] = (variable + by * np.asarray(where)).values


def at(variable: xr.DataArray, *chosen: float) -> np.ndarray:
    """Whether each P is among the chosen: (P, 1), beside epochs."""
    return variable.P.isin(chosen).values[:, None]


# What is done to the results, and all the claims that then do not hold.
SPOILED = {
    "no gap": (
        "fig6",
        lambda i: shift(i["adam"].test_loss, -0.15, HIGH[..., None]),
        {"two-clusters", "high-loss"},
    ),
    "a broad cluster": (
        "fig6",
        lambda i: shift(i["adam"].test_loss, 0.03, np.array([0, 1, 0, -1, 0])[:, None, None]),
        {"within-cluster"},
    ),
    "low loss off": ("fig6", lambda i: shift(i["theory"].test_loss[:, 0], 0.03), {"low-loss"}),
    "high loss off": ("fig6", lambda i: shift(i["theory"].test_loss[:, 1], 0.03), {"high-loss"}),
    "late minimum": (
        "fig6",
        lambda i: i["theory"].metastable_from.values.fill(250.0),
        {"second-state-from"},
    ),
    "most seeds above": ("fig6", lambda i: i.update(adam=i["adam"].isel(seed=[0, 2, 2])), {"minority"}),
    "jump early": (
        "fig7",
        lambda i: i["adam"].update(
            {"test_loss": i["adam"].test_loss.where(~i["adam"].P.isin([40, 42, 44, 46]), 0.3)}
        ),
        {"jump-at-spinodal", "loss-theory"},
    ),
    "loss off": (
        "fig7",
        lambda i: shift(i["adam"].test_loss, 0.03, at(i["adam"], 20)),
        {"loss-theory"},
    ),
    "a seed elsewhere": (
        "fig7",
        lambda i: shift(i["adam"].test_loss, 0.07, at(i["adam"], 80) & (np.arange(4) == 0)[:, None, None]),
        {"one-cluster"},
    ),
    "in the wrong state": (
        "fig7",
        lambda i: shift(i["adam"].test_loss, 0.2, at(i["adam"], 80)),
        {"global-minimum-alone", "loss-theory"},
    ),
    "small jump": (
        "fig7",
        lambda i: shift(i["adam"].test_loss, 0.6, i["adam"].P.values[:, None] > 47),
        {"loss-jump", "loss-theory", "global-minimum-alone"},
    ),
}
FALSE = {"fig6": set(), "fig7": {"global-minimum"}}
"""Between P_c and the upper spinodal made-up seeds stay in uniform attention, as real ones do."""


@pytest.mark.parametrize("spoiled", SPOILED)
def test_each_claim_fails_when_made_untrue(spoiled):
    name, change, expected = SPOILED[spoiled]
    inputs = make_job(name).inputs
    change(inputs)
    found = {claim for claim, verdict in verdicts(name, inputs).items() if verdict != "held"}
    assert found == expected | FALSE[name]


def test_without_a_second_cluster_nothing_is_decided_about_it():
    inputs = make_job("fig6").inputs
    inputs["adam"] = inputs["adam"].isel(seed=[1, 3, 4])
    found = {claim for claim, verdict in verdicts("fig6", inputs).items() if verdict == "undecided"}
    assert found == {"two-clusters", "high-loss", "second-state-from"}


def test_without_a_transition_nothing_is_said_of_it():
    job = make_job("fig7")
    for name in ("P_c", "P_lower", "P_upper"):
        job.inputs["theory"][name] = job.inputs["theory"][name] * np.nan
    told = verdicts("fig7", job.inputs)
    assert "failed" not in told.values()
    assert told["global-minimum"] == told["loss-theory"] == "undecided"
    assert reading.pdf(fig7.draw(job), PLOTTING)
