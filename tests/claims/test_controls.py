"""Guarantees of controls:

- a claim that also holds on its control is vacuous, whatever its own verdict; one that fails there, or stays
  open, is not; without a control nothing is vacuous
- a control is applied to what a measure reads, once for all claims that share it, and never where the claim
  has nothing to measure
- changes leave their inputs, coordinates, types and missing values as they are, and touch named roles alone
- controls are assigned by id, else the default; a name that no claim has is refused
- an interval over seeds that straddles a bound leaves a claim undecided, one inside or outside does not
- a row names the seeds of the inputs that were read, and what was measured
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import xarray as xr

from onset.claims.changes import (
    chain,
    hold_first,
    replace_variables,
    reverse_along,
    scale_variables,
    swap_roles,
    with_values,
)
from onset.claims.claim import Claim, Measured
from onset.claims.control import Control, assign_controls
from onset.claims.verdict import evaluate, judge


def last_loss(inputs, role: str = "runs", factor: float = 1.0) -> Measured:
    """Loss at the end.

    Not said in the ledger.
    """
    return Measured(factor * float(inputs[role].loss.isel(step=-1).mean()))


def make(name: str = "low", high: float = 0.5, control: Control | None = None, **more) -> Claim:
    given = {"place": "figure 1", "sentence": "It is low.", "standing": "paper", "reason": "so"}
    return Claim(name, low=None, high=high, control=control, **{**given, "measure": last_loss, **more})


@pytest.fixture
def inputs():
    loss = np.array([[1.0, 0.6, 0.1], [1.0, np.nan, 0.3]], dtype=np.float32)
    runs = xr.Dataset(
        {"loss": (("seed", "step"), loss, {"units": "nats"}), "size": ("seed", [3, 4])},
        coords={"seed": [2, 5], "step": [0, 10, 20]},
    )
    return {"runs": runs, "theory": xr.Dataset({"level": ("m", [1.0, 2.0])})}


UNTRAINED = Control("untrained", "every record is the first", hold_first("step"))
HALVED = Control("halved", "losses are half as large", scale_variables("runs", loss=0.5))


def row(claim: Claim, inputs, scale: str = "ci"):
    return evaluate([claim], inputs, scale)[0]


def test_a_claim_that_its_control_refutes(inputs):
    found = row(make(control=UNTRAINED), inputs)
    assert (found["verdict"], found["vacuous"]) == ("held", False)
    assert found["control"] == {
        "name": "untrained",
        "what": "every record is the first",
        "verdict": "failed",
        "value": 1.0,
        "why": "",
    }


@pytest.mark.parametrize(("high", "verdict"), [(0.5, "held"), (0.15, "failed")])
def test_a_claim_that_holds_on_its_control_is_vacuous(inputs, high, verdict):
    found = row(make(high=high, control=HALVED), inputs)
    assert (found["verdict"], found["control"]["verdict"], found["vacuous"]) == (verdict, "held", True)


def test_without_a_control_nothing_is_vacuous(inputs):
    found = row(make(), inputs)
    assert found["control"] is None and found["vacuous"] is False


def test_an_open_verdict_on_the_control_is_no_defect(inputs):
    open_there = Control("none", "nothing", replace_variables("runs", loss=lambda loss: loss * np.nan))
    found = row(make(control=open_there), inputs)
    assert found["control"]["verdict"] == "undecided" and not found["vacuous"]


def test_a_control_is_not_measured_where_the_claim_is_not(inputs):
    def never(role, inputs):
        raise AssertionError

    refused = Control("never", "never", never)
    assert row(make(control=refused, scales=("paper",)), inputs)["control"]["verdict"] == (
        "not run at this scale"
    )
    with pytest.raises(AssertionError):
        row(make(control=refused), inputs)


def test_a_shared_control_is_applied_once_and_to_what_is_read(inputs):
    seen = []

    def change(role, given):
        seen.append(role)
        return given[role]

    shared = Control("same", "the same", change)
    evaluate([make("a", control=shared), make("b", control=shared)], inputs, "ci")
    assert seen == ["runs"]


def test_records_become_the_first(inputs):
    before = inputs["runs"].copy(deep=True)
    found = hold_first("step")("runs", inputs)
    assert inputs["runs"].identical(before)
    assert found.loss.dtype == np.float32 and found.loss.attrs == {"units": "nats"}
    np.testing.assert_array_equal(found.loss.values, np.float32([[1, 1, 1], [1, np.nan, 1]]))
    assert found["size"].identical(before["size"]) and found["step"].identical(before["step"])
    assert hold_first("step", but=("runs",))("runs", inputs) is inputs["runs"]
    assert hold_first("step", only=("theory",))("runs", inputs) is inputs["runs"]


def test_changes_touch_named_roles_and_variables(inputs):
    change = scale_variables("runs", loss=2.0, absent=3.0)
    assert change("theory", inputs) is inputs["theory"]
    found = change("runs", inputs)
    np.testing.assert_array_equal(found.loss.values, 2 * inputs["runs"].loss.values)
    assert found["size"].identical(inputs["runs"]["size"]) and "absent" not in found
    turned = reverse_along("step", "runs", "loss")("runs", inputs)
    np.testing.assert_array_equal(turned.loss.values, inputs["runs"].loss.values[:, ::-1])
    assert turned["step"].identical(inputs["runs"]["step"])


def test_changes_one_after_the_other(inputs):
    both = chain(scale_variables("runs", loss=2.0), hold_first("step"), scale_variables("runs", loss=3.0))
    assert float(both("runs", inputs).loss[0, -1]) == 6.0
    assert both("theory", inputs).identical(inputs["theory"])


def test_roles_are_exchanged(inputs):
    change = swap_roles(runs="theory", theory="runs")
    assert change("runs", inputs) is inputs["theory"] and change("theory", inputs) is inputs["runs"]
    assert Control("swap", "swapped", change).apply(inputs)["theory"] is inputs["runs"]


def test_values_are_repeated_along_missing_dimensions(inputs):
    loss = inputs["runs"].loss
    found = with_values(loss, loss.isel(step=0, drop=True))
    assert found.dims == loss.dims and found.dtype == loss.dtype and (found == 1).all()


def test_controls_are_assigned_by_id():
    own = make("own", control=HALVED)
    found = assign_controls([make("a"), make("b"), own], UNTRAINED, {"b": HALVED})
    assert [claim.control for claim in found] == [UNTRAINED, HALVED, HALVED]
    with pytest.raises(ValueError, match="do not exist: c"):
        assign_controls([make("a")], UNTRAINED, {"c": HALVED})
    with pytest.raises(ValueError, match="two controls"):
        assign_controls([own], UNTRAINED, {"own": UNTRAINED})


@pytest.mark.parametrize(
    ("value", "spread", "verdict"),
    [
        (0.3, (0.2, 0.4), "held"),
        (0.3, (0.2, 0.5), "held"),
        (0.3, (0.2, 0.6), "undecided"),
        (0.7, (0.4, 0.8), "undecided"),
        (0.7, (0.6, 0.8), "failed"),
    ],
)
def test_an_interval_over_seeds(value, spread, verdict):
    found, why = judge(make(), Measured(value, spread=spread))
    assert found == verdict and ("straddles the bound" in why) == (verdict == "undecided")


def test_the_seeds_that_were_read(inputs):
    assert row(make(), inputs)["seeds"] == {"runs": [2, 5]}
    assert row(make(measure=lambda given: Measured(float(given["theory"].level[0]))), inputs)["seeds"] == {}


def test_what_was_measured():
    assert make().describe_quantity() == "Loss at the end"
    given = partial(last_loss, role="population", factor=2.0)
    assert make(measure=given).describe_quantity() == "Loss at the end (factor=2, role=population)"
    assert make(quantity="the loss").describe_quantity() == "the loss"
