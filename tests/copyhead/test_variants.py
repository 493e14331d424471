"""Guarantees of runs of Langevin chains that differ in the sampler, the size or the priors:

- the dataset has the named variables along runs and the union of their P, with each run's settings;
- a run does not depend on the runs beside it, and has random streams of its own;
- overrides reach the head: width, variances, length with sequences of its own;
- means and errors are over chains that are not trapped, and errors are those of the mean;
- the deviation from reference chains is in units of both errors;
- a killed and resumed experiment equals an uninterrupted one;
- a diverging chain is named with its run.
"""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from tests.copyhead.small_jobs import SAMPLING, make_job

from onset.errors import OnsetError
from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.posterior import sample_posterior
from onset.papers.copyhead.summaries import compare_means, summarise_chains
from onset.papers.copyhead.variants import open_part, sample_variants
from onset.params.copyhead import Sampling, VariantSampling

RUNS = {
    "collapsed": {"weights": "integrated"},
    "softmax": {"attention": "softmax", "P": [5, 20], "start": "copy"},
    "minibatch": {"batch": 5, "step_size": 0.02},
    "narrow": {"d_k": 3, "v": 0.5},
    "long": {"L": 8, "g_OV": 0.1, "attention": "softmax"},
}
OWN = {
    "attention": "linear",
    "start": "prior",
    "P": [12, 20],
    "chains": 3,
    "steps": 200,
    "step_size": 0.04,
    "burn_in": 0.5,
    "record_every": 10,
}


def make_variants(runs=RUNS, state=None, **changes):
    own = VariantSampling.model_validate({**OWN, "runs": runs, **changes})
    job = make_job(Sampling(**{**SAMPLING, "P": [5, 60]}), None, state=state)
    return replace(job, own=own)


@pytest.fixture(scope="module")
def result():
    return sample_variants(make_variants())


def test_dataset(result):
    found = result.dataset
    assert dict(found.sizes) == {"run": 5, "chain": 3, "P": 3, "record": 20, "quantity": 4}
    assert found["run"].values.tolist() == list(RUNS)
    assert found["P"].values.tolist() == [5, 12, 20]
    for name in ("pooling", "copy", "s2", "test_loss"):
        assert found[name].dims == ("run", "chain", "P", "record") and found[name].dtype == np.float32
    for name in ("mean", "error", "r_hat", "ess_bulk", "ess_tail"):
        assert found[name].dims == ("run", "quantity", "P") and found[name].dtype == np.float32
    for name, kind in (("trapped", bool), ("copying", np.float32)):
        assert found[name].dims == ("run", "chain", "P") and found[name].dtype == kind
    there = found["s2"].notnull().all(("chain", "record"))
    assert there.values.tolist() == [[False, True, True], [True, False, True], *[[False, True, True]] * 3]
    assert all(set(v.attrs) >= {"long_name", "units"} for v in found.variables.values())
    assert found["step"].dims == ("run", "record") and int(found["step"][0, -1]) == 200
    assert found["kept"].values.tolist() == [False] * 10 + [True] * 10
    assert found["d_k"].values.tolist() == [np.inf, np.inf, np.inf, 3, np.inf]
    assert found["batch"].values.tolist() == [0, 0, 5, 0, 0]
    assert found["L"].values.tolist() == [6, 6, 6, 6, 8]
    assert found["v"].values.tolist() == [1, 1, 1, 0.5, 1]
    assert found["g_OV"].values.tolist() == [0.03, 0.03, 0.03, 0.03, 0.1]
    assert found["weights"].values.tolist() == ["integrated", *["sampled"] * 4]
    assert set(result.checkpoint) >= {"collapsed.theta", "narrow.Q", "narrow.K", "narrow.W", "long.W"}
    assert "collapsed.W" not in result.checkpoint
    assert result.checkpoint["long.theta"].shape == (3, 2, 8, 8)
    np.testing.assert_allclose(found["pooling"].sel(run="long", P=[12, 20]), 1, rtol=1e-5)


def test_runs_do_not_depend_on_each_other(result):
    for label in ("narrow", "minibatch"):
        alone = sample_variants(make_variants({label: RUNS[label]})).dataset.sel(run=label)
        there = result.dataset.sel(run=label, P=[12, 20])
        for name in ("copy", "test_loss", "mean", "error", "trapped"):
            np.testing.assert_array_equal(alone[name].values, there[name].values)


def test_runs_have_streams_of_their_own():
    found = sample_variants(make_variants({"a": {}, "b": {}})).dataset
    assert float(abs(found["s2"].sel(run="a") - found["s2"].sel(run="b")).min()) > 0


def test_part_has_what_the_run_sets():
    job = make_variants()
    part = open_part(job, "narrow", job.own.model_copy(update={"d_k": 3, "v": 0.5}))
    head = CopyHead.of("linear", part.sections["task"], part.sections["prior"])
    assert (head.d_k, head.v, head.g_OV, head.L) == (3, 0.5, 0.03, 6)
    assert part.streams.experiment == "small.narrow"


def chains(copy, seed=0, attention="linear", count=400):
    """Independent draws around given means of the copy order parameter, (chain,)."""
    noise = np.random.default_rng(seed).standard_normal((4, len(copy), 1, count))
    copy = 0.05 * noise[0] + np.asarray(copy)[:, None, None]
    values = {"pooling": -1 + 0.1 * noise[1], "copy": -copy, "s2": 1 + noise[2], "test_loss": noise[3]}
    dataset = xr.Dataset(
        {name: (("chain", "P", "record"), value) for name, value in values.items()},
        coords={
            "P": [7],
            "kept": ("record", np.arange(count) >= 0),
            "step": ("record", np.arange(count)),
            "attention": attention,
        },
    )
    return dataset


def test_means_leave_out_trapped_chains():
    found = summarise_chains(chains([0.3, 0.3, -0.4, 0.3])).sel(P=7)
    assert found["trapped"].values.tolist() == [False, False, True, False]
    mean, error = (found[name].sel(quantity="copy") for name in ("mean", "error"))
    # 1200 independent draws of deviation 0.05; the error of their standard deviation is a few per cent.
    assert float(error) == pytest.approx(0.05 / 1200**0.5, rel=0.25)
    assert abs(float(mean) - 0.3) < 4 * float(error)
    assert float(found["mean"].sel(quantity="pooling")) == pytest.approx(1, abs=0.02)
    assert float(found["r_hat"].sel(quantity="copy")) > 1.5
    np.testing.assert_allclose(found["copying"], [0.16, 0.16, 0, 0.16], atol=0.06)
    everywhere = summarise_chains(chains([-0.4, -0.4]))
    assert everywhere["mean"].isnull().all() and everywhere["trapped"].all()


def test_deviation_is_in_units_of_both_errors():
    own, other = (chains([0.3, 0.3], seed) for seed in (1, 2))
    reference = other.rename(pooling="c1", copy="cG", record="step_").drop_vars("step")
    reference = reference.rename(step_="step").assign_coords(step=np.arange(400))
    found = compare_means(summarise_chains(own), reference.drop_vars("attention")).sel(P=7)
    assert (abs(found["deviation"]) < 4).all()
    shift = summarise_chains(chains([0.32, 0.32], 1))
    moved = compare_means(shift, reference.drop_vars("attention")).sel(P=7, quantity="copy")
    # Errors of 0.05/sqrt(800) each.
    step = float(moved["deviation"] - found["deviation"].sel(quantity="copy"))
    assert step == pytest.approx(0.02 / (0.05 * (2 / 800) ** 0.5), rel=0.25)
    assert float(moved["reference_mean"]) == pytest.approx(0.3, abs=0.01)


def test_reference_is_of_the_same_attention():
    linear = Sampling(**{**SAMPLING, "attention": "linear", "P": [12]})
    reference = sample_posterior(make_job(linear, (0, 1, 2))).dataset
    job = make_variants({"collapsed": RUNS["collapsed"], "softmax": RUNS["softmax"]})
    job = replace(job, inputs={**job.inputs, "linear": reference})
    found = sample_variants(job).dataset["deviation"]
    there = found.notnull().any("quantity")
    assert there.values.tolist() == [[False, True, False], [False, False, False]]


def test_resumed_equals_uninterrupted(tmp_path, monkeypatch, result):
    calls = iter(range(10000))
    gradient = CopyHead.misfit_gradient

    def killed(*args):
        if next(calls) == 290:  # in the second run of those with all weights and all sequences
            raise KeyboardInterrupt
        return gradient(*args)

    with monkeypatch.context() as patch:
        patch.setattr(CopyHead, "misfit_gradient", killed)
        with pytest.raises(KeyboardInterrupt):
            sample_variants(make_variants(state=tmp_path))
    found = sample_variants(make_variants(state=tmp_path))
    assert found.dataset.identical(result.dataset)


def test_divergence_is_named():
    job = make_variants(
        {"plain": {}, "wild": {"step_size": 0.99, "P": [5, 60], "steps": 800, "record_every": 40}}
    )
    with pytest.raises(OnsetError, match=r"^run wild: .* is not finite at chain \d, P \d+ after \d+ steps"):
        sample_variants(job)
