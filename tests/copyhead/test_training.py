"""Guarantees of the head's training with Adam:

- the potential and its gradient equal autograd on raw sequences plus the prior, for both kinds of attention;
- seeds and P in a batch equal the same ones alone;
- a killed and resumed block equals an uninterrupted one, bit for bit;
- the dataset has the named variables, and its last record is the final state;
- it ends at a stationary point of the potential, where the MAP theory says.
"""

import numpy as np
import pytest
import torch
from tests.copyhead.small_jobs import PRIOR, TRAINING, make_job, raw_squared_error

from onset.papers.copyhead.gram import count_pairs
from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.training import potential, potential_gradient, run_seeds, train_adam
from onset.params.copyhead import Training


def training(**changes):
    return Training(**{**TRAINING, **changes})


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_potential_equals_autograd_on_raw_data(attention):
    head = CopyHead(attention, 6, 4, PRIOR.g_OV, PRIOR.v, PRIOR.sigma2)
    tokens = np.random.default_rng(0).integers(4, size=(9, 6), dtype=np.int8)
    gram = count_pairs(tokens, (9,), 4, torch.float64)
    draw = torch.Generator().manual_seed(0)
    parameters = {
        name: torch.randn(1, 1, *shape, dtype=torch.float64, generator=draw).requires_grad_()
        for name, shape in head.shapes.items()
    }
    A, W = head.actual(parameters)
    raw = raw_squared_error(tokens, A[0, 0], W[0, 0]) / (2 * PRIOR.sigma2)
    raw = raw + sum(p.square().sum() for p in parameters.values()) / 2
    expected = torch.autograd.grad(raw, parameters.values())
    with torch.no_grad():
        torch.testing.assert_close(potential(head, gram, parameters)[0, 0], raw, rtol=1e-12, atol=0)
        for found, wanted in zip(potential_gradient(head, gram, parameters).values(), expected, strict=True):
            torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_batched_equals_alone(attention):
    own = training(attention=attention)
    _, together, records = run_seeds(make_job(own, (0, 1, 2)), torch.float64)
    for i in range(3):
        for j, P in enumerate(own.P):
            alone_own = training(attention=attention, P=[P])
            job = make_job(alone_own, (i,))
            _, alone, record = run_seeds(job, torch.float64)
            for name, tensor in alone.items():
                torch.testing.assert_close(tensor[0, 0], together[name][i, j], rtol=1e-12, atol=1e-12)
            for name, tensor in record.tensors.items():
                torch.testing.assert_close(
                    tensor[:, 0, 0], records.tensors[name][:, i, j], rtol=1e-12, atol=1e-12
                )


@pytest.mark.parametrize("kill_at", [49, 50, 101, 129])
def test_resumed_equals_uninterrupted(tmp_path, monkeypatch, kill_at):
    own = training()
    expected = train_adam(make_job(own, (0, 1, 2)))
    calls = iter(range(10000))
    gradient = CopyHead.misfit_gradient

    def killed(*args):
        if next(calls) == kill_at:
            raise KeyboardInterrupt
        return gradient(*args)

    with monkeypatch.context() as patch:
        patch.setattr(CopyHead, "misfit_gradient", killed)
        with pytest.raises(KeyboardInterrupt):
            train_adam(make_job(own, (0, 1, 2), state=tmp_path))
    found = train_adam(make_job(own, (0, 1, 2), state=tmp_path))
    assert found.dataset.identical(expected.dataset)
    for name, tensor in expected.checkpoint.items():
        assert torch.equal(found.checkpoint[name], tensor)


def test_dataset_and_checkpoint():
    own = training()
    result = train_adam(make_job(own, (2, 5)))
    dataset = result.dataset
    assert dict(dataset.sizes) == {"seed": 2, "P": 2, "epoch": 4, "query": 6, "key": 6}
    np.testing.assert_array_equal(dataset["epoch"], [40, 80, 120, 130])
    np.testing.assert_array_equal(dataset["seed"], [2, 5])
    for name in ("a1", "aG", "s2", "test_loss", "loss"):
        assert dataset[name].dims == ("seed", "P", "epoch") and dataset[name].dtype == np.float32
    assert all(set(v.attrs) >= {"long_name", "units"} for v in dataset.variables.values())
    squares = (dataset["attention"] ** 2).sum(("query", "key"))
    np.testing.assert_allclose(squares, dataset["s2"].isel(epoch=-1), rtol=1e-5)
    A = torch.softmax(result.checkpoint["theta"], -1)
    np.testing.assert_allclose(dataset["attention"], A.numpy(), rtol=1e-6)
    assert (dataset["loss"].diff("epoch") < 0).all()


def test_softmax_reaches_the_map_theory():
    own = training(P=[20, 60, 100], seeds=3, epochs=2000, record_every=2000)
    job = make_job(own, (0, 1, 2), L=16, V=8)
    head, parameters, records = run_seeds(job)
    aG = records.tensors["aG"][-1]
    # MAP theory of averaged data: 0.827 and 0.889.  Between data sets aG scatters by 0.0005; its mean over
    # them is within 0.001 of the theory.
    np.testing.assert_allclose(aG[:, 1:].numpy(), [[0.827, 0.889]] * 3, atol=0.005)
    assert (aG[:, 0] < 0.05).all()  # below the spinodal at 47 all seeds stay uniform
    gram = count_pairs(job.inputs["sequences"]["tokens"].values, own.P, 8)
    for gradient in potential_gradient(head, gram, parameters).values():
        assert float(gradient.abs().max()) < 1e-3  # of terms of order 10 that cancel


def test_linear_reaches_the_map_theory():
    own = training(attention="linear", P=[100, 150], seeds=4, epochs=1000, record_every=1000)
    dataset = train_adam(make_job(own, (0, 1, 2, 3), L=16, V=8)).dataset.isel(epoch=-1)
    sign = np.sign(dataset["c1"])
    # MAP theory of averaged data.  Between data sets c1 scatters by 0.006 and 0.004, cG by 0.001; cG at
    # P = 100 is above the theory by 0.006 on average.
    np.testing.assert_allclose(abs(dataset["c1"]).median("seed"), [0.709, 0.884], atol=0.02)
    np.testing.assert_allclose((dataset["cG"] * sign).median("seed"), [0.205, 0.480], atol=0.01)
