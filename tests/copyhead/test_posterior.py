"""Guarantees of the head's posterior samples:

- chains in a batch equal the same chains alone, for both kinds of attention;
- a killed and resumed block equals an uninterrupted one, bit for bit, records and attention included;
- the dataset has the named variables, with means over the kept records and snapshots where they say;
- a prior start is a standard normal sample of its own for each chain and P;
- order parameters and test loss agree with the dressed theory, from both starts where one phase exists;
- diagnostics cover each quantity, and mark linear chains trapped at c1 cG < 0;
- a diverging chain is named.
"""

import numpy as np
import pytest
import torch
from tests.copyhead.small_jobs import PRIOR, SAMPLING, make_job

from onset.errors import OnsetError
from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.posterior import diagnose_chains, run_chains, sample_posterior
from onset.params.copyhead import Sampling
from onset.randomness import Streams


def sampling(**changes):
    return Sampling(**{**SAMPLING, **changes})


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_batched_chains_equal_chains_alone(attention):
    own = sampling(attention=attention)
    together, records, kept = run_chains(make_job(own, (0, 1, 2)), torch.float64)
    for i in range(3):
        alone, record, attention_alone = run_chains(make_job(own, (i,)), torch.float64)
        for name, tensor in alone.items():
            torch.testing.assert_close(tensor[0], together[name][i], rtol=1e-10, atol=1e-10)
        for name, tensor in record.tensors.items():
            torch.testing.assert_close(tensor[:, 0], records.tensors[name][:, i], rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(attention_alone["sum"][0], kept["sum"][i], rtol=1e-10, atol=1e-10)


def test_one_P_alone_equals_it_among_others():
    together, _, _ = run_chains(make_job(sampling(), (0, 1)), torch.float64)
    alone, _, _ = run_chains(make_job(sampling(P=[12]), (0, 1)), torch.float64)
    torch.testing.assert_close(alone["theta"][:, 0], together["theta"][:, 1], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("attention", "kill_at"), [("linear", 120), ("softmax", 60), ("softmax", 201)])
def test_resumed_equals_uninterrupted(tmp_path, monkeypatch, attention, kill_at):
    own = sampling(attention=attention)
    expected = sample_posterior(make_job(own, (0, 1, 2)))
    calls = iter(range(10000))
    gradient = CopyHead.misfit_gradient

    def killed(*args):
        if next(calls) == kill_at:
            raise KeyboardInterrupt
        return gradient(*args)

    with monkeypatch.context() as patch:
        patch.setattr(CopyHead, "misfit_gradient", killed)
        with pytest.raises(KeyboardInterrupt):
            sample_posterior(make_job(own, (0, 1, 2), state=tmp_path))
    found = sample_posterior(make_job(own, (0, 1, 2), state=tmp_path))
    assert found.dataset.identical(expected.dataset)
    for name, tensor in expected.checkpoint.items():
        assert torch.equal(found.checkpoint[name], tensor)


def test_dataset_and_checkpoint():
    own = sampling(attention="linear", record_every=1, steps=60, snapshots=4)
    result = sample_posterior(make_job(own, (4, 7)))
    dataset = result.dataset
    assert dict(dataset.sizes) == {"chain": 2, "P": 2, "step": 60, "query": 6, "key": 6, "snapshot": 4}
    for name in ("c1", "cG", "s2", "test_loss"):
        assert dataset[name].dims == ("chain", "P", "step")
    assert dataset["attention"].dims == ("chain", "P", "snapshot", "query", "key")
    assert all(v.dtype == np.float32 for v in dataset.data_vars.values())
    assert all(set(v.attrs) >= {"long_name", "units"} for v in dataset.variables.values())
    np.testing.assert_array_equal(dataset["chain"], [4, 7])
    np.testing.assert_array_equal(dataset["step"], np.arange(1, 61))
    np.testing.assert_array_equal(dataset["snapshot_step"], [15, 30, 45, 60])
    np.testing.assert_array_equal(dataset["kept"], np.arange(1, 61) > 30)
    # The order parameters at a snapshot are those of its matrix, and the last one is the checkpoint.
    at = dataset.sel(step=dataset["snapshot_step"].values)
    np.testing.assert_allclose(dataset["attention"].sum(("query", "key")) / 6, at["c1"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose((dataset["attention"] ** 2).sum(("query", "key")), at["s2"], rtol=1e-5)
    theta = result.checkpoint["theta"]
    assert theta.shape == (2, 2, 6, 6) and result.checkpoint["W"].shape == (2, 2, 4, 4)
    np.testing.assert_allclose(dataset["attention"].isel(snapshot=-1), theta.numpy() / 6, rtol=1e-6)
    # Mean attention has the mean of |c1| over kept records as its pooling.
    kept = abs(dataset["c1"].isel(step=dataset["kept"].values)).mean("step")
    np.testing.assert_allclose(dataset["attention_mean"].sum(("query", "key")) / 6, kept, rtol=1e-4)


def test_last_record_is_always_kept():
    dataset = sample_posterior(make_job(sampling(burn_in=0.99), (0,))).dataset
    assert dataset["kept"].values.tolist() == [False] * 19 + [True]
    assert np.isfinite(dataset["attention_mean"]).all()


def test_prior_start_is_standard_normal_and_apart():
    head = CopyHead("softmax", 6, 4, PRIOR.g_OV, PRIOR.v, PRIOR.sigma2)
    streams = Streams(0, "copyhead", "small")
    state = head.prior_state(streams, tuple(range(50)), (5, 12), torch.float32)
    values = torch.cat([tensor.flatten(1) for tensor in state.values()], 1)
    # 5200 numbers: standard errors 0.014 of the mean and 0.01 of the deviation.
    assert abs(float(values.mean())) < 0.05 and abs(float(values.std()) - 1) < 0.04
    assert len(values.flatten().unique()) > 5190
    alone = head.prior_state(streams, (7,), (12,), torch.float32)
    assert torch.equal(alone["theta"][0, 0], state["theta"][7, 1])


def test_divergence_is_named():
    own = sampling(attention="linear", step_size=0.9, P=[5, 200], steps=400)
    with pytest.raises(OnsetError, match=r"not finite at chain 3, P 200 after \d+ steps"):
        sample_posterior(make_job(own, (3,)))


@pytest.mark.parametrize("start", ["prior", "copy"])
def test_softmax_agrees_with_dressed_theory(start):
    own = sampling(start=start, P=[30, 80, 100], chains=8, steps=2500, record_every=20)
    dataset = sample_posterior(make_job(own, tuple(range(8)), L=16, V=8)).dataset
    kept = dataset.isel(step=dataset["kept"].values)
    aG, loss = (kept[name].mean(("chain", "step")).values for name in ("aG", "test_loss"))
    # Outside the coexistence window (39 to 48) both starts relax to one phase.  About 500 effective draws
    # of deviation 0.03 or less; the theory itself is good to 0.002, the step size biases by less than 0.001.
    np.testing.assert_allclose(aG, [0.008, 0.853, 0.878], atol=0.01)
    np.testing.assert_allclose(loss[[0, 2]], [0.937, 0.218], atol=0.01)
    np.testing.assert_allclose(kept["a1"], 1, rtol=1e-6)


def test_linear_agrees_with_dressed_theory():
    own = sampling(attention="linear", P=[50, 100, 150], chains=8, steps=3000, record_every=20)
    job = make_job(own, tuple(range(8)), L=16, V=8)
    dataset = diagnose_chains(job, sample_posterior(job).dataset)
    kept = dataset.isel(step=dataset["kept"].values)
    free = ~dataset["trapped"]  # the theory is of the global saddle
    sign = np.sign(kept["c1"])
    c1 = abs(kept["c1"]).where(free).mean(("chain", "step")).values
    cG = (kept["cG"] * sign).where(free).mean(("chain", "step")).values
    # Finite-size means of the theory.  At P = 100 some 50 effective draws of cG remain (slow crossover),
    # with deviation 0.06; elsewhere they are several hundred.
    np.testing.assert_allclose(c1[1:], [0.664, 0.876], atol=0.03)
    np.testing.assert_allclose(cG[1:], [0.156, 0.463], atol=0.02)
    assert c1[0] < 0.15 and abs(cG[0]) < 0.02  # below the onset at 67: neither pooling nor copy
    assert (dataset["ess_bulk"] > 20).all()


def test_diagnostics_cover_quantities_and_mark_trapped_chains():
    own = sampling(attention="linear", record_every=2)
    job = make_job(own, (0, 1, 2))
    dataset = sample_posterior(job).dataset
    dataset["c1"][:] = -1 + 0.01 * np.random.default_rng(0).standard_normal(dataset["c1"].shape)
    dataset["cG"][:] = -0.2 * dataset["c1"] / dataset["c1"] + 0.01 * dataset["c1"]
    dataset["cG"][1, 0] *= -1  # against the sign of c1
    result = diagnose_chains(job, dataset)
    assert result["quantity"].values.tolist() == ["abs_c1", "cG_sign", "s2"]
    for name in ("r_hat", "ess_bulk", "ess_tail"):
        assert result[name].dims == ("quantity", "P") and result[name].dtype == np.float32
    assert result["trapped"].dtype == bool
    assert result["trapped"].values.tolist() == [[False, False], [True, False], [False, False]]
    assert float(result["r_hat"].sel(quantity="cG_sign", P=5)) > 1.5
    assert float(result["r_hat"].sel(quantity="cG_sign", P=12)) < 1.1


def test_softmax_diagnostics():
    job = make_job(sampling(), (0, 1, 2))
    result = diagnose_chains(job, sample_posterior(job).dataset)
    assert result["quantity"].values.tolist() == ["aG", "s2"]
    assert "trapped" not in result
    assert all(set(v.attrs) >= {"long_name", "units"} for v in result.variables.values())
