"""Guarantees of Adam at finite widths and under other decays:

- the potential and its gradient equal autograd, with decay towards 0 and towards a centre, for any weight;
- with infinite d_k and the matched decay a run is that of `train_adam`;
- the dataset has the named variables along runs, with each run's settings;
- on queries and keys the matched decay ends where the nuclear-norm cost says: at the trivial head.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.copyhead.small_jobs import PRIOR, TRAINING, make_job

from onset.papers.copyhead.gram import count_pairs
from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.training import Decay, potential, potential_gradient, train_adam
from onset.papers.copyhead.training_variants import train_variants
from onset.params.copyhead import Training, VariantTraining

OWN = {
    "attention": "linear",
    "P": [5, 12],
    "seeds": 2,
    "epochs": 60,
    "learning_rate": 0.03,
    "record_every": 20,
}


def make_variants(runs, **changes):
    own = VariantTraining.model_validate({**OWN, "runs": runs, **changes})
    job = make_job(Training(**{**TRAINING, "P": [5, 60]}), None)
    return replace(job, own=own)


@pytest.mark.parametrize("weight", [1.0, 2.5])
@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("d_k", [None, 3])
def test_potential_equals_autograd(weight, anchored, d_k):
    head = CopyHead("softmax", 6, 4, PRIOR.g_OV, PRIOR.v, PRIOR.sigma2, d_k)
    tokens = np.random.default_rng(0).integers(4, size=(9, 6), dtype=np.int8)
    gram = count_pairs(tokens, (9,), 4, torch.float64)
    source = torch.Generator().manual_seed(0)

    def draw():
        return {
            name: torch.randn(1, 1, *shape, dtype=torch.float64, generator=source)
            for name, shape in head.shapes.items()
        }

    parameters, centre = {name: p.requires_grad_() for name, p in draw().items()}, draw()
    decay = Decay(weight, centre if anchored else {})
    energy = parameters["W"].square().sum() / 2
    for name in head.shapes:
        if name != "W":
            energy = (
                energy + weight / 2 * (parameters[name] - (centre[name] if anchored else 0)).square().sum()
            )
    value = head.misfit(gram, parameters).sum() + energy
    expected = torch.autograd.grad(value, parameters.values())
    with torch.no_grad():
        torch.testing.assert_close(potential(head, gram, parameters, decay).sum(), value)
        found = potential_gradient(head, gram, parameters, decay)
        for gradient, wanted in zip(found.values(), expected, strict=True):
            torch.testing.assert_close(gradient, wanted, rtol=1e-10, atol=1e-10)


def test_matched_logits_are_train_adam():
    job = make_variants({"plain": {}})
    found = train_variants(job).dataset.sel(run="plain")
    own = Training(**{**OWN, "block": 2})
    plain = replace(job, own=own, members=(0, 1), streams=replace(job.streams, experiment="small.plain"))
    expected = train_adam(plain).dataset
    for name, other in (("pooling", "c1"), ("copy", "cG"), ("loss", "loss"), ("attention", "attention")):
        np.testing.assert_array_equal(found[name].values, expected[other].values)


def test_dataset():
    runs = {
        "a": {"d_k": 3},
        "b": {"attention": "softmax", "P": [12, 20], "decay": "anchored", "decay_weight": 2.0},
    }
    result = train_variants(make_variants(runs))
    found = result.dataset
    assert dict(found.sizes) == {"run": 2, "seed": 2, "P": 3, "epoch": 3, "query": 6, "key": 6}
    for name in ("pooling", "copy", "s2", "test_loss", "loss"):
        assert found[name].dims == ("run", "seed", "P", "epoch") and found[name].dtype == np.float32
    assert found["attention"].dims == ("run", "seed", "P", "query", "key")
    assert found["attention_kind"].values.tolist() == ["linear", "softmax"]
    assert found["d_k"].values.tolist() == [3, np.inf]
    assert found["decay"].values.tolist() == ["matched", "anchored"]
    assert found["decay_weight"].values.tolist() == [1, 2]
    assert all(set(v.attrs) >= {"long_name", "units"} for v in found.variables.values())
    assert set(result.checkpoint) == {"a.Q", "a.K", "a.W", "b.theta", "b.W"}


def test_matched_decay_of_queries_and_keys_stays_trivial():
    """At d_k = 128, L = 16, P = 60 the nuclear-norm cost keeps both heads trivial, where the posterior has
    c1 = 0.1 of linear and aG = 0.8 of softmax attention."""
    job = make_job(Training(**{**TRAINING, "P": [60]}), None, L=16, V=8)
    runs = {"linear": {}, "softmax": {"attention": "softmax"}}
    own = VariantTraining.model_validate({**OWN, "P": [60], "epochs": 600, "d_k": 128, "runs": runs})
    last = train_variants(replace(job, own=own)).dataset.isel(epoch=-1)
    assert float(abs(last["copy"]).max()) < 0.01
    assert float(abs(last["pooling"].sel(run="linear")).max()) < 0.01
