"""Guarantees of training linear models:

- one run of a batch of seeds equals the same seed alone, and other runs of the section do not change it;
- a killed and resumed job equals an uninterrupted one, bit for bit, within a run and between runs;
- record 0 is the start; loss, A, value weights and snapshots belong to the same weights; padding is NaN;
- the MLP and merged attention start alike and stay alike; starts of two sizes are multiples;
- the loss recorded is that of the sequences, the last weights are the checkpoint;
- a rate above the bound is told in the log;
- conserved quantities drift in proportion to the rate; the bound of stability is that of the Hessian;
- an aligned start follows the closed form of white covariance.
"""

import numpy as np
import pytest
import torch
from tests.linattn.small_linattn import STREAMS, make_job, raw_set, small_sets, training

from onset.errors import OnsetError
from onset.papers.linattn import training as program
from onset.papers.linattn.raw import raw_loss
from onset.papers.linattn.spectrum import mean_label_square, square_context_covariance
from onset.papers.linattn.stability import bound_learning_rate
from onset.papers.linattn.starts import draw_start
from onset.papers.linattn.training import train_runs
from onset.params.linattn import Task


def test_a_seed_and_a_run_alone_equal_those_in_company():
    sets = small_sets()
    together = train_runs(make_job(training(), sets)).dataset
    for label, override in training().runs.items():
        alone = train_runs(make_job(training(seeds=[3], runs={label: override}), sets)).dataset
        for name in alone.data_vars:
            part = together[name].sel(run=[label], seed=[3])
            part = part.isel({dim: slice(alone.sizes[dim]) for dim in ("head", "rank") if dim in part.dims})
            np.testing.assert_allclose(part, alone[name], rtol=1e-5, atol=1e-6, err_msg=name)  # float32


@pytest.mark.parametrize("kill_at", [99, 100, 229, 230, 450, 689])
def test_resumed_equals_uninterrupted(tmp_path, monkeypatch, kill_at):
    monkeypatch.setattr(program, "CHUNK", 50)
    sets = small_sets()
    expected = train_runs(make_job(training(), sets))
    calls, descend = iter(range(10000)), program.descend

    def killed(*args):
        if next(calls) == kill_at:
            raise KeyboardInterrupt
        descend(*args)

    with monkeypatch.context() as patch:
        patch.setattr(program, "descend", killed)
        with pytest.raises(KeyboardInterrupt):
            train_runs(make_job(training(), sets, state=tmp_path))
    assert (tmp_path / "state.safetensors").exists()
    found = train_runs(make_job(training(), sets, state=tmp_path))
    assert found.dataset.identical(expected.dataset)
    for name, array in expected.checkpoint.items():
        np.testing.assert_array_equal(found.checkpoint[name], array)


def test_dataset():
    dataset = train_runs(make_job(training())).dataset
    assert list(dataset["run"].values) == ["separate", "full", "merged"]
    np.testing.assert_array_equal(dataset["epoch"], [0, 40, 80, 120, 160, 200, 230])
    np.testing.assert_array_equal(dataset["snapshot_epoch"], [0, 80, 160, 230])
    np.testing.assert_array_equal(dataset["seed"], [0, 3])
    np.testing.assert_array_equal(dataset["rank_of"], [2, 2, 0])
    np.testing.assert_allclose(dataset["time_per_epoch"], 0.1)
    assert all(variable.dtype == np.float32 for variable in dataset.data_vars.values())
    assert all(set(v.attrs) >= {"long_name", "units"} for v in dataset.variables.values())
    assert dataset["v"].sel(run="separate").isel(head=3).isnull().all()  # 3 heads of 4
    assert (
        dataset["U"].sel(run="separate").isnull().all() and dataset["keys"].sel(run="merged").isnull().all()
    )
    assert dataset["drift_key_query"].sel(run="merged").isnull().all()
    assert (dataset["side_weight"].sel(run=["separate", "merged"]) == 0).all()
    assert (dataset["side_weight"].sel(run="full").isel(epoch=slice(1, None)) > 0).all()
    diagonal = dataset["A_diagonal"].sel(epoch=[0, 80, 160, 230]).values
    snapshot = np.diagonal(dataset["A"].values, axis1=-2, axis2=-1)
    np.testing.assert_array_equal(diagonal, snapshot)
    off = np.sqrt((dataset["A"] ** 2).sum(("direction", "column")).values - (snapshot**2).sum(-1))
    np.testing.assert_allclose(dataset["A_off"].sel(epoch=[0, 80, 160, 230]).values, off, atol=1e-4)
    product = dataset.sel(run="full")
    v = product["v"].sel(epoch=[0, 80, 160, 230]).isel(head=slice(3)).values
    keys, queries = (product[name].isel(head=slice(3)).values for name in ("keys", "queries"))
    A = np.einsum("bsh,bshri,bshrj->bsij", v, keys, queries)
    np.testing.assert_allclose(product["A"], A, rtol=1e-4, atol=1e-5)


def test_losses_are_those_of_the_sequences():
    result = train_runs(make_job(training()))
    for i, seed in enumerate((0, 3)):
        _, _, tokens, target = raw_set(40, seed)
        for label in ("separate", "full"):
            weights = {
                name.partition(".")[2]: torch.from_numpy(array[i : i + 1])
                for name, array in result.checkpoint.items()
                if name.startswith(f"{label}.")
            }
            if label == "separate":
                # raw attention sees the query token too; without side blocks its label 0 adds nothing
                assert not {"v_side", "k_side"} & weights.keys()
            found = float(result.dataset["loss"].sel(run=label, seed=seed).isel(epoch=-1))
            assert found == pytest.approx(float(raw_loss(weights, tokens, target)), rel=1e-6)


def test_mlp_and_merged_attention_are_alike():
    runs = {"mlp": {"model": "mlp"}, "merged": {"model": "merged"}}
    dataset = train_runs(make_job(training(runs=runs))).dataset
    for name in ("loss", "v", "A", "U"):
        np.testing.assert_array_equal(dataset[name].sel(run="mlp"), dataset[name].sel(run="merged"))
    assert float(dataset["loss"].isel(epoch=-1).max()) < float(dataset["loss"].isel(epoch=0).min())


def test_starts_of_two_sizes_are_multiples():
    small, large = (draw_start(STREAMS, "separate", 3, 4, 2, std, (5, 1)) for std in (0.01, 0.05))
    alone = draw_start(STREAMS, "separate", 3, 4, 2, 0.01, (1,))
    for name, array in small.items():
        np.testing.assert_allclose(5 * array, large[name], rtol=1e-12)
        np.testing.assert_array_equal(array[1:], alone[name])


def test_next_token_training_reaches_the_least_squares_loss():
    runs = {"all": {"model": "merged", "heads": 9, "learning_rate": 0.1}}
    sets = small_sets()
    own = training(loss="next_token", runs=runs, epochs=4000, record_every=400, snapshot_every=4000)
    dataset = train_runs(make_job(own, sets)).dataset
    for seed in (0, 3):
        one = sets.sel(P=40, seed=seed)
        floor = one["c_next"] - one["b_next"].values @ np.linalg.solve(
            one["S_next"].values, one["b_next"].values
        )
        assert float(dataset["loss"].sel(seed=seed).isel(epoch=-1, run=0)) == pytest.approx(
            float(floor), rel=0.03
        )


def test_a_rate_above_the_bound_is_told():
    job = make_job(training(runs={"fine": {}, "wild": {"model": "merged", "learning_rate": 40.0}}, epochs=1))
    train_runs(job)
    assert "warning: run wild: learning_rate 40 exceeds" in job.reporter.log.getvalue()
    assert "run fine" not in job.reporter.log.getvalue()


def test_missing_sets_are_named():
    job = make_job(training())
    job.inputs.clear()
    with pytest.raises(OnsetError, match="samples = 40, but the experiment needs no base_sets"):
        train_runs(job)


def test_conserved_quantities_drift_in_proportion_to_the_rate():
    runs = {
        "one": {"learning_rate": 0.02},
        "half": {"learning_rate": 0.01},
        "full_one": {"learning_rate": 0.02, "free_side_blocks": True},
        "full_half": {"learning_rate": 0.01, "free_side_blocks": True},
    }
    own = training(runs=runs, epochs=2000, record_every=100, snapshot_every=2000)
    dataset = train_runs(make_job(own)).dataset
    for kind in ("", "full_"):
        for name in ("drift_value", "drift_key_query"):
            one = dataset[name].sel(run=f"{kind}one", epoch=1000)
            half = dataset[name].sel(run=f"{kind}half", epoch=2000)
            assert float(half.max()) > 0
            np.testing.assert_allclose(one / half, 2.0, rtol=0.05)


def balanced_minimum(model, A, rank):
    """Weights of the population's minimum diag(A): heads carry successive groups of `rank` directions."""
    D = len(A)
    if model == "merged":
        v = np.sqrt(np.linalg.norm(A))
        return {"v": np.array([[v]]), "U": np.diag(A)[None, None] / v}
    H = -(-D // rank)
    v, K = np.zeros((1, H)), np.zeros((1, H, rank, D))
    for h in range(H):
        group = range(h * rank, min(h * rank + rank, D))
        v[0, h] = A[list(group)].sum() ** (1 / 3)
        for r, d in enumerate(group):
            K[0, h, r, d] = np.sqrt(A[d] / v[0, h])
    return {"v": v, "K": K, "Q": K.copy()}


@pytest.mark.parametrize("model, rank", [("separate", 1), ("separate", 2), ("separate", 4), ("merged", 1)])
@pytest.mark.parametrize("eigenvalues", [[0.4, 0.3, 0.2, 0.1], [0.9, 0.04, 0.02, 0.001]])
def test_bound_is_two_over_the_largest_hessian_eigenvalue(model, rank, eigenvalues):
    eigenvalues = np.asarray(eigenvalues)
    second = square_context_covariance(eigenvalues, 31)
    weights = balanced_minimum(model, eigenvalues / second, rank)
    sizes, names = [a.size for a in weights.values()], list(weights)
    weight = torch.from_numpy(np.outer(second, eigenvalues))
    target = torch.from_numpy(np.diag(eigenvalues**2))

    def loss(flat):
        parts = dict(zip(names, flat.split(sizes), strict=True))
        w = {name: parts[name].reshape(weights[name].shape) for name in names}
        U = w["U"] if "U" in w else w["K"].transpose(-1, -2) @ w["Q"]
        A = (w["v"][..., None, None] * U).sum((0, 1))
        return (weight * A**2 - 2 * target * A).sum()

    flat = torch.from_numpy(np.concatenate([a.ravel() for a in weights.values()]))
    assert float(torch.func.grad(loss)(flat).abs().max()) < 1e-12
    largest = float(torch.linalg.eigvalsh(torch.func.hessian(loss)(flat)).max())
    assert bound_learning_rate(model, eigenvalues, second, rank=rank) == pytest.approx(2 / largest, rel=1e-9)


def test_rank_one_bound_is_its_closed_form():
    eigenvalues = np.array([0.4, 0.3, 0.2, 0.1])
    second = square_context_covariance(eigenvalues, 31)
    v = (0.4 / second[0]) ** (1 / 3)
    assert bound_learning_rate("separate", eigenvalues, second) == pytest.approx(
        1 / (3 * 0.16 * v), rel=1e-12
    )
    label_square = mean_label_square(eigenvalues, 31)
    side = bound_learning_rate("separate", eigenvalues, second, label_square=label_square)
    largest = max(eigenvalues * (eigenvalues / second) ** (4 / 3))
    assert side == pytest.approx(1 / (label_square * largest), rel=1e-12)


def test_aligned_start_follows_the_closed_form():
    """Eq. 10 with tau dW/dt = -1/2 dL/dW; the error of gradient descent halves with its rate."""
    task, lam, w = Task(N=31, law="white", D=4, trace=4.0), 1.0, 0.01
    c = 1 + 5 / 31
    errors = []
    for rate, epochs in ((4e-3, 1000), (2e-3, 2000)):
        runs = {"aligned": {"model": "merged", "start": "aligned", "samples": 0, "learning_rate": rate}}
        own = training(init_std=w, epochs=epochs, record_every=10, snapshot_every=epochs, runs=runs)
        job = make_job(own)
        job.sections["base_task"] = task
        dataset = train_runs(job).dataset.isel(run=0, seed=0)
        e = np.exp(2 * 2 * lam**2 * 2 * rate * dataset["epoch"].values)
        sigma = e / (c * (e - 1) + 2 / w**2)
        errors.append(abs(dataset["A_diagonal"].values - sigma[:, None]).max() * c)
        assert float(dataset["A_off"].max()) < 1e-6
    assert errors[1] < 0.015 and errors[0] / errors[1] == pytest.approx(2, rel=0.05)
