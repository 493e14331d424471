"""Guarantees of the claims of figures 3 and 4, on made-up results in which all of them are true:

- every claim holds there
- each claim fails when what it states is made untrue, and only for that reason
- R-hat inside the coexistence window and trapped chains do not make any claim fail
- without the needed P, transition, chains or parameters the verdict is `not run at this scale` or `undecided`
- every claim names its place, standing, reason and a sentence, and no two have one name
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.figures import copyhead_results as results

from onset.claims.verdict import claims_document, dump_document, evaluate
from onset.papers.copyhead.claims import fig3, fig4

FIGURES = {"fig3": (fig3.CLAIMS, results.linear_inputs), "fig4": (fig4.CLAIMS, results.softmax_inputs)}


def verdicts(figure: str, inputs=None) -> dict[str, str]:
    claims, make = FIGURES[figure]
    return {
        row["id"]: row["verdict"] for row in evaluate(claims, make() if inputs is None else inputs, "test")
    }


@pytest.mark.parametrize("figure", FIGURES)
def test_all_hold_where_they_are_true(figure):
    assert set(verdicts(figure).values()) == {"held"}


@pytest.mark.parametrize("figure", FIGURES)
def test_claims_are_complete_and_repeatable(figure):
    claims, make = FIGURES[figure]
    for claim in claims:
        assert claim.place and claim.sentence.endswith(".") and claim.reason
        assert claim.standing in ("paper", "reconstruction")
    texts = {
        dump_document(claims_document(figure, "c", "t", "", evaluate(claims, make(), "t"))) for _ in "ab"
    }
    assert len(texts) == 1


def shift(variable, by, where=True):
    """Add to a float variable in place, only where `where`."""
    variable.values[:] = (variable + by * np.asarray(where)).values


def near_onset(sgld):
    return ((sgld.P > 67) & (sgld.P < 91)).values[None, :, None]


# What is done to the results, and all the claims that then fail.
SPOILED_LINEAR = {
    "bare onset 3 % high": (lambda i: shift(i["theory"].onset, [2.0, 0, 0]), {"onset-formula", "exponent"}),
    "linear growth": (
        lambda i: i["theory"].c1.values.__setitem__(0, i["theory"].c1.values[0] ** 2),
        {"exponent"},
    ),
    "pooling off far from the onset": (
        lambda i: shift(i["sgld"].c1, 0.04 * np.sign(i["sgld"].c1.values), ~near_onset(i["sgld"])),
        {"pooling-far"},
    ),
    "pooling off near the onset": (
        lambda i: shift(i["sgld"].c1, 0.08 * np.sign(i["sgld"].c1.values), near_onset(i["sgld"])),
        {"pooling-near", "onset-sgld"},
    ),
    "copying off": (
        lambda i: shift(
            i["sgld"].cG, 0.03 * np.sign(i["sgld"].c1.values), (i["sgld"].P == 100).values[None, :, None]
        ),
        {"copying"},
    ),
    "copying at once": (
        lambda i: shift(
            i["sgld"].cG, 0.2 * np.sign(i["sgld"].c1.values), (i["sgld"].P > 80).values[None, :, None]
        ),
        {"copying", "gradual", "pooling-first", "adam-sgld"},
    ),
    "Adam off": (lambda i: shift(i["adam"].c1, 0.02 * np.sign(i["adam"].c1.values)), {"adam-map"}),
    "loss off": (lambda i: shift(i["sgld"].test_loss, 0.03), {"test-loss"}),
    "one row learns more": (lambda i: shift(i["sgld"].attention_mean[..., 2, 1], 0.1), {"rows"}),
    "trapped before the state exists": (
        lambda i: i["theory"].metastable_from.values.fill(170.0),
        {"trapped"},
    ),
    "trapped seeds at no cost": (
        lambda i: i["adam"].test_loss.values[2].__setitem__(-1, 0.4),
        {"two-clusters"},
    ),
    "chains differ": (lambda i: i["sgld"].r_hat.values.fill(1.2), {"chains-agree"}),
}
SPOILED_SOFTMAX = {
    "rows do not sum to 1": (lambda i: shift(i["from_copy"].a1, 1e-3), {"row-sums"}),
    "small jump": (lambda i: shift(i["theory"].aG_at_P_c, [[0, 0], [0, 0], [0.15, -0.15]]), {"jump"}),
    "aG off": (
        lambda i: [
            shift(i[s].aG, -0.015, (i[s].P == 80).values[None, :, None]) for s in ("from_prior", "from_copy")
        ],
        {"order-parameter"},
    ),
    "starts differ": (
        lambda i: shift(i["from_copy"].aG, -0.015, (i["from_copy"].P == 80).values[None, :, None]),
        {"starts-agree"},
    ),
    "above the bare theory": (
        lambda i: i["theory"].aG.values.__setitem__((0, 1), i["theory"].aG.values[0, 1] - 0.02),
        {"bare-excess"},
    ),
    "P_c elsewhere": (lambda i: shift(i["theory"].P_c, [0, 0, 20.0]), {"transition"}),
    "bare P_c above the dressed": (lambda i: shift(i["theory"].P_c, [8.0, 0, 0]), {"bare-transition"}),
    "records in the gap": (
        lambda i: i["from_prior"].aG.values.__setitem__((slice(None), 5), 0.36),
        {"nothing-between"},
    ),
    "copying kept below": (
        lambda i: i["from_copy"].aG.values.__setitem__((slice(None), 2), 0.7),
        {"copying-lost"},
    ),
    "uniform kept above": (
        lambda i: i["from_prior"].aG.values.__setitem__((slice(None), -1), 0.02),
        {"uniform-lost", "order-parameter", "starts-agree", "adam-sgld"},
    ),
    "no hysteresis": (
        lambda i: i.update(from_copy=i["from_prior"]),
        {"coexistence", "transition", "phases-disagree"},
    ),
    "Adam off": (lambda i: shift(i["adam"].aG, 0.01), {"adam-map"}),
    "Adam early": (
        lambda i: i["adam"].aG.values.__setitem__((slice(None), slice(4, 7)), 0.75),
        {"adam-onset"},
    ),
    "Adam rises slowly": (
        lambda i: i["adam"].aG.values.__setitem__((slice(None), 6), 0.4),
        {"adam-jump"},
    ),
    "a seed of its own": (
        lambda i: i["adam"].aG.values.__setitem__((0, 1), 0.1),
        {"adam-one-cluster"},
    ),
    "loss off": (lambda i: shift(i["from_prior"].test_loss, 0.02), {"test-loss"}),
    "one row learns more": (lambda i: shift(i["from_prior"].attention_mean[..., 2, 1], 0.1), {"rows"}),
    "chains differ outside the window": (
        lambda i: i["from_copy"].r_hat.values.__setitem__((slice(None), 0), 1.5),
        {"chains-agree"},
    ),
    "chains differ inside the window": (
        lambda i: i["from_prior"].r_hat.values.__setitem__((slice(None), slice(3, 9)), 8.0),
        set(),
    ),
}


def failing(figure: str, spoil) -> set[str]:
    inputs = FIGURES[figure][1]()
    spoil(inputs)
    return {name for name, verdict in verdicts(figure, inputs).items() if verdict == "failed"}


@pytest.mark.parametrize("case", SPOILED_LINEAR)
def test_linear_claims_fail_when_untrue(case):
    spoil, expected = SPOILED_LINEAR[case]
    assert failing("fig3", spoil) == expected


@pytest.mark.parametrize("case", SPOILED_SOFTMAX)
def test_softmax_claims_fail_when_untrue(case):
    spoil, expected = SPOILED_SOFTMAX[case]
    assert failing("fig4", spoil) == expected


def test_trapped_chains_are_not_averaged():
    inputs = results.linear_inputs()
    inputs["sgld"].c1.values[0, -1] = 0.01
    assert set(verdicts("fig3", inputs).values()) == {"held"}


def undecidable(figure: str, change) -> dict[str, str]:
    inputs = FIGURES[figure][1]()
    change(inputs)
    return {name: verdict for name, verdict in verdicts(figure, inputs).items() if verdict != "held"}


def test_noisy_chains_decide_nothing():
    def spread(inputs):
        inputs["sgld"]["c1"] = inputs["sgld"].c1 * np.array([1.2, 1.1, 0.9, 0.8])[:, None, None]

    found = undecidable("fig3", spread)
    assert found["pooling-far"] == found["pooling-near"] == "undecided"


def test_without_parameters_the_formula_decides_nothing():
    assert undecidable("fig3", lambda i: i["theory"].attrs.clear()) == {"onset-formula": "undecided"}


def test_a_coarse_grid_is_not_asked():
    def thin(inputs):
        for role in ("sgld", "adam"):
            inputs[role] = inputs[role].sel(P=[40, 60, 80])
        inputs["theory"] = inputs["theory"].sel(P=[40, 60, 80, 100])

    found = undecidable("fig3", thin)
    missing = {"exponent", "onset-sgld", "adam-map", "adam-sgld", "pooling-first"}
    unseen = {"trapped", "two-clusters"}
    assert found == {
        **dict.fromkeys(missing, "not run at this scale"),
        **dict.fromkeys(unseen, "undecided"),
    }


def test_a_coarse_softmax_grid_is_not_asked():
    def thin(inputs):
        for role in ("from_prior", "from_copy", "adam"):
            inputs[role] = inputs[role].sel(P=[20, 30, 42, 80])

    assert undecidable("fig4", thin) == {
        "nothing-between": "not run at this scale",
        "coexistence": "not run at this scale",
        "transition": "undecided",
        "bare-transition": "undecided",
    }


def test_a_low_barrier_decides_nothing_about_coexistence():
    def lower(inputs):
        inputs["theory"]["barrier"] = inputs["theory"].barrier / 3

    assert undecidable("fig4", lower) == {"coexistence": "undecided"}


def test_without_a_transition_no_claim_fails():
    def remove(inputs):
        theory = inputs["theory"]
        for name in ("P_c", "P_lower", "P_upper", "aG_at_P_c", "barrier"):
            theory[name] = theory[name] * np.nan

    found = undecidable("fig4", remove)
    assert set(found.values()) == {"undecided", "not run at this scale"}
    assert set(found) == {c.id for c in fig4.CLAIMS} - {"row-sums", "adam-one-cluster"}
