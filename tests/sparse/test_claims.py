"""Guarantees of the claims of all figures but 6 and 7, on small results:

- every claim holds where what it states is true, with the published numbers at the paper's scale too
- each fails when what it states is made untrue, and only those that state it
- none holds of a run whose records are all those before training
- seeds that are not finished leave a claim undecided only where they could turn the verdict
- runs, steps and chains that a scale leaves out give `not run at this scale`
- every claim names its place, standing, reason and a sentence, and no two of a figure have one name
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import xarray as xr
from tests.sparse import synthetic_sparse
from tests.sparse.spoiled_claims import SPOILED
from tests.sparse.synthetic_sparse import NEVER, make_runs

from onset.claims.verdict import claims_document, dump_document, evaluate
from onset.papers.sparse.claims import loss_measures
from onset.papers.sparse.claims.seeds import judge_share, take_extreme, take_median

FIGURES = tuple(synthetic_sparse.INPUTS)
ONE_SCALE = {
    "fig1": {"entropy-base-paper", "entropy-base-ci"},
    "fig2": {"all-on-first-at-60", "one-on-second-at-300", "all-on-first", "one-on-second"},
    "fig3": {"first-switch", "second-switch", "entropy-wide-paper"},
    "fig4": {"entropy-m1-paper"},
    "fig5": {"best-n600", "best-n2000", "best-step-n600", "best-step-n2000"},
}


def claims_of(figure: str):
    return importlib.import_module(f"onset.papers.sparse.claims.{figure}").CLAIMS


@pytest.fixture(scope="module")
def results():
    """Inputs of every figure, made once; take copies."""
    return {figure: make() for figure, make in synthetic_sparse.INPUTS.items()}


@pytest.fixture
def inputs(results):
    return lambda figure: {role: dataset.copy(deep=True) for role, dataset in results[figure].items()}


def rows(figure: str, found, scale: str = "test"):
    return {row["id"]: row for row in evaluate(claims_of(figure), found, scale)}


def verdicts(figure: str, found, scale: str = "test") -> dict[str, str]:
    return {name: row["verdict"] for name, row in rows(figure, found, scale).items()}


@pytest.mark.parametrize("figure", FIGURES)
def test_all_hold_where_they_are_true(figure, inputs):
    found = verdicts(figure, inputs(figure))
    absent = {name for name, verdict in found.items() if verdict == "not run at this scale"}
    assert absent == ONE_SCALE.get(figure, set())
    assert {name: found[name] for name in set(found) - absent if found[name] != "held"} == {}
    small = verdicts(figure, inputs(figure), "ci")
    assert {name: verdict for name, verdict in small.items() if verdict in ("failed", "undecided")} == {}


@pytest.mark.parametrize("figure", FIGURES)
def test_claims_are_complete_and_repeatable(figure, inputs):
    claims = claims_of(figure)
    for claim in claims:
        assert claim.place and claim.sentence.endswith(".") and claim.reason
        assert claim.standing in ("paper", "reconstruction")
    texts = {
        dump_document(claims_document(figure, "sparse", "test", "", evaluate(claims, inputs(figure), "test")))
        for _ in "ab"
    }
    assert len(texts) == 1


def untrain(runs: xr.Dataset) -> xr.Dataset:
    """Every record replaced by the first, every map by one of even attention."""
    found = runs.copy(deep=True)
    for name in runs.data_vars:
        if "step" in runs[name].dims:
            at = runs[name].dims.index("step")
            first = np.take(runs[name].values, [0], axis=at)
            found[name].values[:] = np.where(np.isfinite(runs[name].values), first, np.nan)
    window = runs.sizes["key"] - runs.sizes["query"] + 1
    allowed = np.arange(runs.sizes["key"]) <= np.arange(runs.sizes["query"])[:, None] + window - 1
    even = allowed / allowed.sum(-1, keepdims=True)
    kept = np.isfinite(runs.attention.values)
    found["attention"].values[:] = np.where(kept, even, np.nan)
    return found


@pytest.mark.parametrize("scale", ("test", "paper", "ci"))
@pytest.mark.parametrize("figure", FIGURES)
def test_nothing_holds_of_untrained_models(figure, scale, inputs):
    given = {
        role: dataset if role == "levels" else untrain(dataset) for role, dataset in inputs(figure).items()
    }
    held = {name for name, verdict in verdicts(figure, given, scale).items() if verdict == "held"}
    assert {name for name in held if not name.startswith("entropy-")} == set()


@pytest.mark.parametrize(
    ("figure", "what"), [(figure, what) for figure in SPOILED for what in SPOILED[figure]]
)
def test_fails_when_untrue(figure, what, inputs):
    spoil, expected = SPOILED[figure][what]
    given = inputs(figure)
    spoil(given)
    found = verdicts(figure, given, "ci")
    assert {name: found[name] for name in expected if found[name] != "failed"} == {}


def test_every_claim_can_fail():
    for figure in FIGURES:
        broken = set().union(*(expected for _, expected in SPOILED[figure].values()))
        assert {claim.id for claim in claims_of(figure)} == broken | ONE_SCALE.get(figure, set())


def test_published_numbers_at_the_papers_scale():
    stages = {"times": (50.0, 75.0, 480.0), "steps": 1000}
    full_runs = make_runs(
        {"main": synthetic_sparse.FULL | stages}, contexts=(4, 8, 12), map_steps=(0, 60, 300, 1000), seeds=1
    )
    found = rows("fig3", {"runs": full_runs, "levels": synthetic_sparse.make_levels()}, "paper")
    assert found["first-switch"]["verdict"] == "held" and found["second-switch"]["verdict"] == "held"
    assert found["entropy-wide-paper"]["why"] == "there is no wide_chain at this scale"
    sizes = make_runs(
        {
            "n600": {"samples": 600, "times": (40.0, NEVER, NEVER), "best": (70, 1.33)},
            "n2000": {"samples": 2000, "times": (40.0, 250.0, NEVER), "best": (260, 0.81)},
            "online": {},
        },
        contexts=(2, 4, 6),
    )
    found = verdicts("fig5", {"runs": sizes, "levels": synthetic_sparse.make_levels()}, "paper")
    assert {found[name] for name in ONE_SCALE["fig5"]} == {"held"}
    late = {"times": (20.0, 200.0, 800.0), "steps": 1000}
    runs = make_runs({"main": synthetic_sparse.FULL | late}, map_steps=(0, 60, 300, 1000))
    found = verdicts("fig2", {"runs": runs}, "paper")
    assert found["all-on-first-at-60"] == found["one-on-second-at-300"] == "held"
    early = {"times": (20.0, 25.0, 800.0), "steps": 1000}
    runs = make_runs({"main": synthetic_sparse.FULL | early}, map_steps=(0, 60, 300, 1000))
    assert verdicts("fig2", {"runs": runs}, "paper")["all-on-first-at-60"] == "failed"
    runs = make_runs({"main": synthetic_sparse.FULL | {"steps": 1000}}, map_steps=(0, 60, 1000), every=40)
    assert rows("fig2", {"runs": runs}, "paper")["all-on-first-at-60"]["why"] == "step 60 was not evaluated"


@pytest.mark.parametrize(("entropy", "verdict"), ((0.67, "held"), (0.69, "failed")))
def test_entropies(entropy, verdict):
    levels = synthetic_sparse.make_levels().assign(entropy=(("chain", "seed"), [[entropy]]))
    claim = next(claim for claim in claims_of("fig1") if claim.id == "entropy-base-paper")
    assert evaluate([claim], {"levels": levels}, "paper")[0]["verdict"] == verdict


def test_unfinished_runs_decide_nothing():
    unfinished = synthetic_sparse.SMALL | {"times": (90.0, 270.0, NEVER), "steps": 320}
    runs = make_runs({"main": unfinished}, map_steps=(0, 100, 300))
    found = verdicts("fig1", {"runs": runs, "levels": synthetic_sparse.make_levels()})
    assert found["order"] == found["acquisition"] == "undecided"
    runs = make_runs({"m1.5": {"times": (60.0, 160.0, NEVER)}, "m1": {}, "m1.3": {}})
    given = {"importance": runs} | {role: runs for role in ("scale", "full_variants", "minimal_variants")}
    found = verdicts("fig4", given | {"levels": synthetic_sparse.make_levels()})
    assert found["three-stages-at-m15"] == found["separation"] == "undecided"


def test_groups_out_of_order_are_so_even_if_unfinished():
    runs = synthetic_sparse.make_base()
    runs["mass"].values[...] = 0.1
    runs["mass"].values[:, :, 10:, :, 0, 1] = 0.6
    found = verdicts("fig1", {"runs": runs, "levels": synthetic_sparse.make_levels()})
    assert found["acquisition"] == "failed"


def test_seeds_that_disagree(inputs):
    given = inputs("fig1")
    given["runs"]["KL"].values[:, 0, :, 0] += 1.0
    row = rows("fig1", given)["nearest-to-the-first"]
    assert row["verdict"] == "undecided" and "seeds disagree" in row["why"]


def test_runs_that_a_scale_leaves_out(inputs):
    given = inputs("fig4")
    given["scale"] = given["scale"].sel(run=["u1e-3"])
    given["importance"] = given["importance"].sel(run=["m1.3"])
    given["minimal_variants"] = given["minimal_variants"].sel(run=["no_decay"])
    given["full_variants"] = given["full_variants"].sel(run=["merged"])
    found = verdicts("fig4", given)
    present = {"order-small", "acquisition-small", "three-stages-at-m13", "order-no-decay", "order-merged"}
    assert {name for name, verdict in found.items() if verdict == "held"} == present
    assert {found[name] for name in set(found) - present} == {"not run at this scale"}


def test_a_measure_of_all_datasets_that_stay_near_one_context(inputs):
    given = inputs("fig5")
    given["runs"]["KL_learned"].values[..., 0] = 0.0
    assert rows("fig5", given)["best-context-grows"]["verdict"] == "undecided"


def seeds(*values) -> xr.DataArray:
    return xr.DataArray(list(values), dims="seed", coords={"seed": range(len(values))})


@pytest.mark.parametrize(
    ("holds", "known", "value"),
    (
        ([True, True, True, True, False], [True] * 5, 0.8),
        ([True, True, True, False, False], [True] * 5, 0.6),
        ([True, True, True, True, False], [True, True, True, True, False], 0.8),
        ([True, True, True, False, False], [True, True, True, False, False], None),
        ([False, False, False, False, False], [True, True, False, False, False], 0.6),
    ),
)
def test_shares_of_seeds(holds, known, value):
    found = judge_share(seeds(*holds), seeds(*known), 0.8)
    assert found.value == value and bool(found.undecided) == (value is None)


def test_medians_and_extremes():
    assert take_median(seeds(1.0, 5.0, 2.0)).value == 2
    assert take_median(seeds(1.0, np.nan, 3.0)).value == 2
    assert take_median(seeds(1.0, np.nan)).undecided
    assert take_extreme(seeds(1.0, 5.0), largest=True).value == 5
    assert take_extreme(seeds(1.0, 5.0), largest=False).value == 1
    assert take_extreme(seeds(1.0, np.nan), largest=False).undecided


def test_a_step_that_was_not_evaluated(inputs):
    assert loss_measures.stall(inputs("fig4"), "u0", "scale", step=105).absent
