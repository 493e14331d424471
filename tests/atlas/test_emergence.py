"""The atlas on made-up results of the four papers.

- order parameters with known logistic rates get their times and their kind
- the claims hold on curves made to fit them and fail where the curves are reversed (the control)
- the figures have a row or a line for every order parameter
"""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from onset.claims.verdict import evaluate
from onset.papers.atlas.claims.emergence import SHARPNESS, TIMES
from onset.papers.atlas.emergence import measure_emergence
from onset.papers.atlas.kinds import name_kind
from onset.papers.atlas.sharpness import tabulate
from onset.params.atlas import Emergence
from onset.params.plotting import Plotting
from onset.randomness import Streams

STEP = np.arange(0, 1001, 5)
P = np.array([100, 200, 300, 400, 500, 600, 700])
OWN = Emergence(level=0.5, low=0.1, high=0.9, resamples=200, coverage=0.95, points=21)


def rise(axis, middle, rate):
    return 1 / (1 + np.exp(-rate * (axis - middle)))


def by_seed(axis, middle, rate):
    return np.stack([rise(axis, middle + shift, rate) for shift in (0, 5, 10)])


def make_inputs(reverse=False, softmax=0.1, linear=0.02):
    middles = [150, 400, 600, 800][:: -1 if reverse else 1]
    loss = -by_seed(STEP, 400, 0.01)
    heads = np.stack([0 * by_seed(STEP, 1, 1), by_seed(STEP, 420, 0.1)], -1)[:, :, None]
    gmc = xr.Dataset({s: (("seed", "step", "layer", "head"), heads) for s in ("PTH", "IH_MC", "IH_Repeat")})
    gmc["test_loss"] = (("seed", "step"), loss)
    learned = np.stack([by_seed(STEP, m, 0.1) for m in middles], -1)
    masses = learned[..., :3]
    sparse = xr.Dataset(
        {
            "loss": (("run", "seed", "step"), loss[None]),
            "mass": (("run", "seed", "step", "layer", "head", "group"), masses[None, :, :, None, None]),
        }
    )
    linattn = xr.Dataset(
        {
            "loss": (("run", "seed", "epoch"), loss[None]),
            "A_diagonal": (("run", "seed", "epoch", "direction"), learned[None]),
        }
    )

    def chains(rate, *names):
        values = by_seed(P, 395, rate)[..., None].repeat(2, -1)
        found = xr.Dataset({n: (("chain", "P", "step"), values) for n in names}, coords={"P": P})
        found["test_loss"] = (("chain", "P", "step"), -values)
        return found.assign_coords(kept=("step", [True, True]))

    return {
        "gmc": gmc.assign_coords(step=STEP),
        "sparse": sparse.assign_coords(step=STEP),
        "linattn": linattn.assign_coords(epoch=STEP),
        "linear": chains(linear, "c1", "cG"),
        "from_prior": chains(softmax, "aG"),
        "from_copy": chains(softmax, "aG"),
    }


def measure(**made):
    job = SimpleNamespace(own=OWN, inputs=make_inputs(**made), streams=Streams(0, "atlas", "emergence"))
    return measure_emergence(job)


@pytest.fixture(scope="module")
def found():
    return measure()


def verdicts(found):
    return {row["id"]: row["verdict"] for row in evaluate((*TIMES, *SHARPNESS), {"emergence": found}, "ci")}


def test_known_times_and_kinds(found):
    times = found["time"].sel(order="group 2", definition="crossing")
    assert times.values == pytest.approx([400, 405, 410], abs=0.5)
    table = tabulate(SimpleNamespace(inputs={"emergence": found})).set_index("order parameter")
    assert len(table) == found.sizes["order"] == 14
    assert table.loc["group 2", "sharpness"] == pytest.approx(np.log(81) / 0.1 / 405, rel=0.02)
    assert table.loc["group 2", "kind"] == "abrupt"
    assert name_kind(1.2, 3.0) == "crossover"
    assert name_kind(0.8, 1.2) == "undecided"
    assert name_kind(np.nan, np.nan) == "does not emerge"


def test_same_seeds_give_same_intervals(found):
    xr.testing.assert_identical(found, measure())


def test_claims_hold_on_what_they_say(found):
    assert verdicts(found) == dict.fromkeys(verdicts(found), "held")


def test_claims_fail_on_their_controls():
    reversed_order = verdicts(measure(reverse=True))
    assert reversed_order["directions-in-order"] == reversed_order["groups-in-order"] == "failed"
    assert verdicts(measure(softmax=0.02, linear=0.1))["softmax-sharper-than-linear"] == "failed"
    assert verdicts(measure(softmax=0.05, linear=0.05))["softmax-sharper-than-linear"] == "undecided"


def test_agreement_fails_where_one_definition_is_shuffled(found):
    shuffled = found.copy(deep=True)
    values = shuffled["relative_time_interval"].values
    values[:, 2] = np.random.default_rng(1).permutation(values[:, 2])
    assert verdicts(shuffled)["definitions-agree"] == "failed"


@pytest.mark.parametrize("name, axes", [("fig1", 4), ("fig2", 1), ("fig3", 1)])
def test_figures_show_every_order_parameter(found, name, axes):
    drawn = importlib.import_module(f"onset.papers.atlas.figures.{name}").draw(
        SimpleNamespace(
            own=SimpleNamespace(width=7.0, height=4.0),
            inputs={"emergence": found},
            sections={"plotting": Plotting(font_size=8.0, dpi=50)},
        )
    )
    assert len(drawn.axes) == axes
    if name == "fig1":
        assert sum(len(a.get_legend().get_texts()) for a in drawn.axes) == 14
    else:
        assert len(drawn.axes[0].get_yticks()) == 14
