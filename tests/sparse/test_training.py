"""Guarantees of training:

- it is AdamW, or SGD with momentum, on clipped gradients at a constant rate, step for step that of a plain
  loop over a plain model, for both architectures;
- records are what their definitions say, at the steps that were asked for; runs that are shorter, or have
  fewer heads or blocks, are padded with NaN;
- killed anywhere and resumed, a block of seeds ends with the same bits, dropout included, and repeats no
  chunk;
- a block of two seeds equals each seed alone; seeds differ; runs of equal seed start and are fed alike;
- heads that start equal stay exactly equal;
- a restricted reference is at divergence 0 from itself; references with too few predictions are refused;
- on a chain of unequal groups the model passes the predictors of one group, two groups, three;
- a loss that is not finite is named, with experiment, run, seed and step;
- on a GPU, where there is one, the numbers are the same to rounding.
"""

import numpy as np
import pytest
import torch
from tests.sparse.plain_transformers import run_full, run_minimal
from tests.sparse.small_sparse import CHAIN, CHAINS, STREAMS, TRAINING, draw_sequences, make_job

from onset.errors import OnsetError
from onset.job.context import Job
from onset.papers.sparse import runs, training
from onset.papers.sparse.chain import choose_batch, draw_batch, read_chain
from onset.papers.sparse.models.full import Parts
from onset.papers.sparse.models.registry import build_model
from onset.papers.sparse.models.start import draw_start
from onset.papers.sparse.predictors import cross_entropy, divergence, prefix_log_probabilities
from onset.papers.sparse.sequences import draw_datasets
from onset.papers.sparse.training import train_runs
from onset.params.sparse import Chain, FullModel, Optimiser, Sequences, Training

FIRST = 3  # input position of the first query, w - 1


@pytest.fixture(autouse=True)
def one_thread():
    """One thread, as the pipeline has it: products this small lose by more, and much where cores are busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def predict_plainly(job, parameters, tokens):
    """Log-probabilities (n, T, d) and attention of the last block at the queries, by the plain models."""
    own, full = job.own, job.sections["full_model"]
    model = build_model(own, full, read_chain(job.sections[own.chain]))
    parts = Parts(full.width, full.ffn, own.normalise, own.residual, own.feed_forward, own.merged)
    if own.model == "minimal":
        logits, maps = run_minimal(model.shape, parameters, tokens)
    else:
        logits, maps = run_full(model.shape, parts, parameters, tokens)
    return torch.log_softmax(logits, -1), maps[-1][:, :, FIRST:]


def train_plainly(job, seed):
    """Losses of all steps and final parameters, by torch's own optimisers."""
    own, section = job.own, job.sections["optimiser"]
    chain = read_chain(job.sections[own.chain])
    model = build_model(own, job.sections["full_model"], chain)
    dtype = getattr(torch, own.dtype)
    parameters = {
        name: torch.from_numpy(values[0]).to(dtype).requires_grad_()
        for name, values in draw_start(STREAMS, model.weights, [seed]).items()
    }
    if own.optimiser == "sgd":
        settings = {"momentum": section.momentum, "weight_decay": own.weight_decay}
        optimiser = torch.optim.SGD(parameters.values(), own.learning_rate, **settings)
    else:
        settings = {"betas": (section.beta1, section.beta2), "weight_decay": own.weight_decay}
        optimiser = torch.optim.AdamW(parameters.values(), own.learning_rate, **settings)
    data = draw_sequences().sel(chain=own.chain, seed=seed)
    losses = []
    for step in range(own.steps):
        if own.samples:
            chosen = choose_batch(STREAMS, own.samples, seed, step, own.batch)
            batch = data["tokens"].values[chosen].astype(np.int64)
        else:
            batch = draw_batch(STREAMS, chain, data["matrices"].values, seed, step, own.batch)
        tokens = torch.from_numpy(batch)
        log_q, _ = predict_plainly(job, parameters, tokens[:, :-1])
        loss = -log_q.gather(-1, tokens[:, -chain.T :, None]).mean()
        optimiser.zero_grad()
        loss.backward()
        if section.clip is not None:
            torch.nn.utils.clip_grad_norm_(parameters.values(), section.clip)
        optimiser.step()
        losses.append(float(loss.detach()))
    return np.array(losses), {name: p.detach() for name, p in parameters.items()}


CASES = {
    "online": {},
    "small start": {"init_scale": 0.01},
    "a set": {"samples": 30},
    "a set smaller than a batch": {"samples": 5},
    "clipped": {"settings": {"clip": 0.05}},
    "sgd": {"optimiser": "sgd", "learning_rate": 0.3},
    "two blocks": {"layers": 2, "heads": 3},
    "restricted": {"context": 2},
    "full": {"model": "full", "learning_rate": 0.01},
    "full sgd": {"model": "full", "optimiser": "sgd", "samples": 20},
    "full two blocks": {"model": "full", "layers": 2},
    "full merged": {"model": "full", "merged": True, "normalise": False},
}


def make_case(case, **more):
    return make_job(**{"dtype": "float64", **CASES[case], **more})


@pytest.mark.parametrize("case", CASES)
def test_training_is_that_of_a_plain_loop(case):
    job = make_case(case, members=(2,))
    result = train_runs(job)
    losses, parameters = train_plainly(job, 2)
    means = losses.reshape(-1, TRAINING["evaluate_every"]).mean(1)
    # Adam divides by the root of tiny squares, so that rounding of the gradient is scaled up; the Dataset is
    # float32.
    np.testing.assert_allclose(result.dataset["train_loss"][0, 0, 1:], means, rtol=1e-6)
    for name, expected in parameters.items():
        found = result.checkpoint[f"main.{name}"][0]
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-8, msg=name)


@pytest.mark.parametrize("model", ["minimal", "full"])
def test_records_are_their_definitions(model):
    job = make_job(members=(1,), model=model, map_steps=[0, 12], predictions=True)
    result = train_runs(job)
    dataset, chain = result.dataset, read_chain(CHAINS["base_chain"])
    data = draw_sequences().sel(chain="base_chain", seed=1)
    tokens = data["validation"].values[:20].astype(np.int64)
    references = prefix_log_probabilities(chain, data["matrices"].values, tokens)
    built = build_model(job.own, job.sections["full_model"], chain)
    start = {n: torch.from_numpy(w[0]) for n, w in draw_start(STREAMS, built.weights, [1]).items()}
    final = {n.removeprefix("main."): p[0].double() for n, p in result.checkpoint.items()}
    for step, parameters in ((0, start), (12, final)):
        with torch.no_grad():
            log_q, maps = predict_plainly(job, parameters, torch.from_numpy(tokens[:, :-1]))
        log_q, mean = log_q.numpy(), maps.mean(0).numpy()
        record = dataset.sel(run="main", seed=1, step=step)
        assert record["loss"] == pytest.approx(cross_entropy(log_q, tokens), rel=1e-5)
        expected = [divergence(p, log_q).mean() for p in references]
        np.testing.assert_allclose(record["KL"], expected, rtol=1e-4)
        found = dataset["attention"].sel(run="main", seed=1, map_step=step, layer=0)
        np.testing.assert_allclose(found, mean, atol=1e-6)
        lags = {
            (k, q): mean[:, q, [FIRST + q + 1 - i for i in g]].sum(1)
            for k, g in enumerate(chain.groups)
            for q in range(4)
        }
        mass = np.array([[np.mean([lags[k, q][h] for q in range(4)]) for k in range(2)] for h in range(2)])
        np.testing.assert_allclose(record["mass"].sel(layer=0), mass, atol=1e-6)
        if model == "minimal":
            A, V = parameters["blocks.0.A"], parameters["blocks.0.V"]
            matrices = data["matrices"].values
            aligned = [[(v[:, :5].numpy() * M).sum() / (M**2).sum() for M in matrices] for v in V]
            np.testing.assert_allclose(record["value_alignment"], aligned, atol=1e-6)
            difference = max(float((A[0] - A[1]).abs().max()), float((V[0] - V[1]).abs().max()))
            assert record["head_difference"] == pytest.approx(difference, rel=1e-5)
    np.testing.assert_allclose(dataset["log_probability"][0, 0], np.maximum(log_q, np.log(1e-10)), atol=1e-5)
    assert dataset["teacher_loss"][0, 0] == pytest.approx(cross_entropy(references[-1], tokens), rel=1e-6)
    assert np.isnan(dataset["train_loss"][0, 0, 0]) and np.isfinite(dataset["train_loss"][0, 0, 1:]).all()
    assert ("value_alignment" in dataset) is (model == "minimal")


def test_the_dataset_pads_what_runs_lack():
    job = make_job(
        members=(1, 3),
        runs={
            "short": {"steps": 6, "samples": 30, "learning_rate": 0.02},
            "heads": {"heads": 3, "chain": "steep_chain", "init_scale": 1e-3, "context": 3},
            "gone": None,
            "blocks": {"layers": 2, "model": "full", "weight_decay": 0.0},
        },
        map_steps=[0, 9],
    )
    dataset = train_runs(job).dataset
    sizes = {"run": 3, "seed": 2, "step": 5, "prefix": 2, "layer": 2, "head": 3, "group": 2, "map_step": 2}
    assert dict(dataset.sizes) == {**sizes, "query": 4, "key": 7}
    np.testing.assert_array_equal(dataset["seed"], [1, 3])
    np.testing.assert_array_equal(dataset["step"], [0, 3, 6, 9, 12])
    np.testing.assert_array_equal(dataset["prefix"], [1, 2])
    np.testing.assert_array_equal(dataset["group"], [1, 2])
    np.testing.assert_array_equal(dataset["map_step"], [0, 9])
    settings = {
        "run": ["short", "heads", "blocks"],
        "chain": ["base_chain", "steep_chain", "base_chain"],
        "model": ["minimal", "minimal", "full"],
        "layers": [1, 1, 2],
        "heads": [2, 3, 2],
        "samples": [30, 0, 0],
        "steps": [6, 12, 12],
        "context_of": [0, 3, 0],
        "init_scale": [np.nan, 1e-3, np.nan],
        "m": [1.5, 3.0, 1.5],
        "learning_rate": [0.02, 0.05, 0.05],
        "weight_decay": [0.01, 0.01, 0.0],
    }
    for name, values in settings.items():
        np.testing.assert_array_equal(dataset[name], values, err_msg=name)
    loss = np.isfinite(dataset["loss"]).all("seed")
    np.testing.assert_array_equal(loss.sum("step"), [3, 5, 5])
    assert np.isfinite(dataset["mass"].sel(run="heads", layer=0)).all()
    assert np.isnan(dataset["mass"].sel(run="heads", layer=1)).all()
    assert np.isnan(dataset["mass"].sel(run="short", head=2)).all()
    assert np.isfinite(dataset["mass"].sel(run="blocks", head=[0, 1])).all()
    assert np.isnan(dataset["attention"].sel(run="short", map_step=9)).all()
    assert np.isnan(dataset["value_alignment"].sel(run="blocks")).all()
    sums = dataset["attention"].sel(run="heads", layer=0).sum("key")
    np.testing.assert_allclose(sums, 1, atol=1e-6)
    for name, variable in dataset.variables.items():
        assert variable.attrs["long_name"] and variable.attrs["units"], name
        if name in dataset.data_vars:
            assert variable.dtype == np.float32, name


class Killed(Exception):
    pass


RESUMED = {
    "members": (0, 3),
    "full": {"dropout": 0.2},
    "runs": {
        "set": {"samples": 30},
        "full": {"model": "full", "steps": 9, "optimiser": "sgd", "learning_rate": 0.1},
    },
}


@pytest.mark.parametrize("kill_at", [1, 7, 11, 12, 18])  # of 12 steps of one run, then 9 of the other
def test_resumed_equals_uninterrupted(tmp_path, monkeypatch, kill_at):
    expected = train_runs(make_job(**RESUMED))
    taken = []
    step = runs.Run.step

    def count(run, i):
        taken.append((run.label, i))
        if len(taken) == kill_at + 1:
            raise Killed
        step(run, i)

    monkeypatch.setattr(runs.Run, "step", count)
    with pytest.raises(Killed):
        train_runs(make_job(state=tmp_path, **RESUMED))
    before = taken[:-1]
    taken.clear()
    kill_at = -2
    found = train_runs(make_job(state=tmp_path, **RESUMED))
    kept = len(before) - len(before) % training.CHUNK
    assert before[:kept] + taken == [("set", i) for i in range(12)] + [("full", i) for i in range(9)]
    assert found.dataset.identical(expected.dataset)
    assert found.checkpoint.keys() == expected.checkpoint.keys()
    for name, tensor in expected.checkpoint.items():
        assert torch.equal(found.checkpoint[name], tensor), name


@pytest.mark.parametrize("model", ["minimal", "full"])
def test_a_block_equals_its_members_alone(model):
    settings = {"model": model, "full": {"dropout": 0.2}}
    both = train_runs(make_job(members=(2, 0), **settings))
    for index, seed in enumerate((2, 0)):
        alone = train_runs(make_job(members=(seed,), **settings))
        assert alone.dataset.identical(both.dataset.isel(seed=[index]))
        for name, tensor in alone.checkpoint.items():
            assert torch.equal(tensor[0], both.checkpoint[name][index]), name
    assert not np.array_equal(*both.dataset["loss"].values[0])


def test_runs_of_equal_seed_start_and_are_fed_alike():
    job = make_job(
        runs={"a": {}, "b": {}, "slow": {"learning_rate": 0.001}, "other": {"chain": "steep_chain"}}
    )
    dataset = train_runs(job).dataset
    a, b, slow, other = (
        dataset.isel(run=[i]).drop_vars(["run", "learning_rate", "chain", "m"]) for i in range(4)
    )
    assert a.identical(b)
    first = {"step": 0, "seed": 0}
    np.testing.assert_array_equal(a["mass"].sel(first), slow["mass"].sel(first))
    assert not np.array_equal(a["loss"], slow["loss"])
    assert not np.array_equal(a["loss"], other["loss"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("heads", [2, 3])
def test_heads_that_start_equal_stay_exactly_equal(dtype, heads):
    job = make_job(init_scale=0.0, heads=heads, dtype=dtype, batch=40, steps=30)
    dataset = train_runs(job).dataset
    assert not dataset["head_difference"].any()
    mass = dataset["mass"]
    assert (mass == mass.isel(head=0)).all()
    assert dataset["loss"][0, 0, -1] < dataset["loss"][0, 0, 0] - 0.2


def test_references():
    references = train_runs(
        make_job(runs={"gram4": {"context": 4}, "gram2": {"context": 2}}, predictions=True, members=(0, 1))
    ).dataset
    own = train_runs(make_job(members=(1,), context=2, inputs={"references": references})).dataset
    np.testing.assert_array_equal(own["context"], [4, 2])
    # The second reference is this very run, of equal seed, start and batches.
    assert own["KL_learned"].sel(context=2)[0, 0, -1] == pytest.approx(0, abs=1e-6)
    assert own["KL_learned"].sel(context=4)[0, 0, -1] > 1e-3
    tokens = draw_sequences().sel(chain="base_chain", seed=1)["validation"].values[:20]
    with pytest.raises(OnsetError, match=r"references hold predictions on 20 .* evaluation_samples = 25"):
        train_runs(make_job(members=(1,), evaluation_samples=25, inputs={"references": references}))
    assert references.sizes["validation_sample"] == len(tokens)


def test_stages_come_in_the_order_of_importance():
    # The small-scale recipe with a Xavier start; the third stage is under way when it ends, so that its
    # divergence is still falling.
    chain = Chain(**{**CHAIN, "d": 20, "T": 10, "window": 6, "groups": [[1, 2], [3, 4], [5, 6]], "b0": 20.0})
    sequences = draw_datasets(
        Job(
            "sparse",
            "s",
            "t",
            "r",
            Sequences(samples=1, validation=100, seeds=1),
            {"base_chain": chain},
            streams=STREAMS,
        )
    )
    own = {"heads": 3, "learning_rate": 0.08, "batch": 128, "steps": 320, "evaluate_every": 10}
    job = Job(
        "sparse",
        "stages",
        "test",
        "r",
        Training.model_validate({**TRAINING, **own, "evaluation_samples": 100, "map_steps": []}),
        {
            "base_chain": chain,
            "full_model": FullModel(width=20, ffn=4, dropout=0.0),
            "optimiser": Optimiser(beta1=0.9, beta2=0.999, epsilon=1e-8, momentum=0.9, clip=1.0),
        },
        {"sequences": sequences},
        (0,),
        STREAMS,
    )
    dataset = train_runs(job).dataset
    KL = dataset["KL"].isel(run=0, seed=0)
    nearest = [int(KL["step"][KL.sel(prefix=i).argmin("step")]) for i in (1, 2, 3)]
    assert 0 < nearest[0] < nearest[1] < nearest[2]
    assert KL.sel(prefix=3)[-1] < 0.5 * KL.sel(prefix=3).sel(step=nearest[0])
    assert "attention" not in dataset and "key" not in dataset.coords


@pytest.mark.parametrize(("case", "seed"), [({"samples": 30}, 3), ({"model": "full"}, 0)])
def test_a_loss_that_is_not_finite_is_named(monkeypatch, case, seed):
    step = runs.Run.step

    def spoil(run, i):
        if run.label == "wild" and i == 4:
            for tensor in run.parameters.values():
                tensor[run.seeds.index(seed)] = torch.inf
        step(run, i)

    monkeypatch.setattr(runs.Run, "step", spoil)
    with pytest.raises(OnsetError) as raised:
        train_runs(make_job(members=(0, 3), runs={"tame": {}, "wild": {"learning_rate": 0.25}}, **case))
    message = str(raised.value)
    assert "sparse/small_runs: the loss of run wild" in message
    assert f"seed {seed} is not finite at step 4" in message and "0.25" in message


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("model", ["minimal", "full"])
def test_a_gpu_gives_the_same_numbers(model):
    settings = {"model": model, "full": {"dropout": 0.2}, "members": (0, 3), "dtype": "float64"}
    expected = train_runs(make_job(**settings)).dataset
    found = train_runs(make_job(**settings, device="cuda")).dataset
    for name in expected.data_vars:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, atol=1e-6, err_msg=name)
    assert train_runs(make_job(**settings, device="cuda")).dataset.identical(found)
