"""Guarantees of training like runs together:

- runs of one model share a batch whatever their rank, rate, start, seeds' sets and task of that dimension;
  runs of other models, losses or sizes do not, nor those that would not fit the cache;
- each run is what it is alone, to rounding, also with ranks filled up, and what fills them stays zero;
- the Dataset has the runs in the order of the section.
"""

import numpy as np
import pytest
from tests.linattn.small_linattn import make_job, small_sets, training

from onset.papers.linattn import batches
from onset.papers.linattn.batches import stack_runs
from onset.papers.linattn.losses import PopulationLoss, SetLoss, join_losses
from onset.papers.linattn.models import descend
from onset.papers.linattn.runs import prepare_runs
from onset.papers.linattn.training import train_runs

RUNS = {
    "rank2": {"learning_rate": 0.1},
    "merged": {"model": "merged"},
    "rank1": {"rank": 1, "init_std": 0.1},
    "population": {"samples": 0, "rank": 3},
    "rank3": {"rank": 3},
    "full1": {"rank": 1, "free_side_blocks": True, "learning_rate": 0.01},
    "full2": {"free_side_blocks": True},
    "mlp": {"model": "mlp", "learning_rate": 0.02},
    "wide": {"heads": 5},
    "slow": {"samples": 0, "learning_rate": 0.01},
}


def list_batches(**changes):
    own = training(**{"runs": RUNS, **changes})
    return [[run.label for run in batch.runs] for batch in stack_runs(prepare_runs(make_job(own)))]


def test_like_runs_share_a_batch(monkeypatch):
    assert list_batches() == [
        ["rank2", "rank1", "rank3"],
        ["merged", "mlp"],
        ["population", "slow"],
        ["full1", "full2"],
        ["wide"],
    ]
    # Two runs of 2 seeds and 3 heads fit, with rank and dimension 3; and two of rank 2 or 1.
    monkeypatch.setattr(batches, "LARGEST", 2 * 2 * 3 * 3 * 3)
    runs = {name: RUNS[name] for name in ("rank2", "rank1", "rank3")}
    assert list_batches(runs=runs) == [["rank2", "rank1"], ["rank3"]]


@pytest.fixture(scope="module")
def together():
    sets = small_sets()
    return sets, train_runs(make_job(training(runs=RUNS), sets))


@pytest.mark.parametrize("label", RUNS)
def test_a_run_is_what_it_is_alone(together, label):
    sets, found = together
    alone = train_runs(make_job(training(runs={label: RUNS[label]}), sets))
    for name, array in alone.checkpoint.items():
        np.testing.assert_allclose(found.checkpoint[name], array, rtol=1e-10, atol=1e-13)
    assert {name for name in found.checkpoint if name.startswith(f"{label}.")} == alone.checkpoint.keys()
    for name, variable in alone.dataset.data_vars.items():
        part = found.dataset[name].sel(run=[label])
        part = part.isel({dim: slice(variable.sizes[dim]) for dim in ("head", "rank") if dim in part.dims})
        np.testing.assert_allclose(part, variable, rtol=1e-5, atol=1e-7, err_msg=name)  # float32


def test_runs_keep_their_order(together):
    assert list(together[1].dataset["run"].values) == list(RUNS)


def test_what_fills_up_a_rank_stays_zero():
    job = make_job(training(runs=RUNS))
    (batch,) = (batch for batch in stack_runs(prepare_runs(job)) if batch.runs[0].label == "full1")
    assert batch.weights["K"].shape[:3] == (4, 3, 2) and batch.rank == 2
    for _ in range(50):
        descend(batch.model, batch.loss, batch.weights, batch.learning_rate)
    for name in batches.RANKED:
        assert (batch.weights[name][:2, :, 1:] == 0).all() and (batch.weights[name][2:, :, 1:] != 0).all()


def test_joined_losses_are_those_of_the_members():
    draw = np.random.default_rng(0)
    one, other = (PopulationLoss(np.sort(draw.random(3))[::-1], draw.random(3)) for _ in range(2))
    w = draw.normal(size=(5, 9))
    joined = join_losses([one, other], [2, 3])
    for name in ("value", "gradient"):
        expected = np.concatenate([getattr(one, name)(w[:2]), getattr(other, name)(w[2:])])
        np.testing.assert_array_equal(getattr(joined, name)(w), expected)
    sets = SetLoss(draw.normal(size=(1, 9, 9)), draw.normal(size=(1, 9)), draw.normal(size=1))
    with pytest.raises(TypeError, match="different kinds"):
        join_losses([one, sets], [2, 1])
