"""Guarantees of training:

- it is AdamW on fresh batches with warm-up and cosine, step for step that of a plain loop over a plain model;
- the loss falls; records are what their definitions say, at the steps that were asked for;
- killed anywhere and resumed, a block of seeds ends with the same bits, and repeats no chunk;
- a block of two seeds equals each seed alone; seeds differ; runs of equal seed start alike on every task;
- a loss that is not finite is named, with experiment, seed and step;
- on a GPU, where there is one, the numbers are the same to rounding.
"""

import numpy as np
import pytest
import torch
from tests.gmc.plain_models import PLAIN
from tests.gmc.small_gmc import make_section, make_sets
from tests.gmc.small_training import BACKBONE, OPTIMISER, STREAMS, TASK, TRAINING, draw_test, make_job

from onset.errors import OnsetError
from onset.papers.gmc import runs, training
from onset.papers.gmc.models.registry import TRANSFORMERS
from onset.papers.gmc.models.shape import Shape
from onset.papers.gmc.models.start import draw_start
from onset.papers.gmc.task import draw_batch, open_streams, read_task
from onset.papers.gmc.training import train_backbone


def start_model(name="llama", seed=0, layers=2):
    """The model as it starts, its longest sequence the repeated one of 8 positions."""
    model = TRANSFORMERS[name](Shape(6, 6, 8, layers, 24, 3, 32))
    draw_start(model, open_streams(STREAMS), seed, BACKBONE["init_std"])
    return model


def trained_model(result, name="llama", member=0, layers=2):
    model = start_model(name, layers=layers)
    model.load_state_dict({key: tensor[member] for key, tensor in result.checkpoint.items()})
    return model


def train_plainly(name, seed, clip):
    """Losses of all steps and the final model, by torch's own AdamW on all positions of all layers."""
    model, section = start_model(name, seed), {**OPTIMISER, "clip": clip}
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=1.0, betas=(0.9, 0.95), eps=1e-8, weight_decay=section["weight_decay"]
    )
    losses, steps, warmup = [], TRAINING["steps"], TRAINING["warmup"]
    value_map = draw_test()["value_map"].values
    for i in range(steps):
        batch = draw_batch(open_streams(STREAMS), read_task(TASK), value_map, seed, i, section["batch"])
        prediction = PLAIN[name](model, torch.from_numpy(batch.tokens))[0][:, -1]
        loss = (prediction - torch.from_numpy(batch.targets)).square().mean()
        optimiser.zero_grad()
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        falling = 0.5 * (1 + np.cos(np.pi * (i - warmup) / (steps - warmup)))
        optimiser.param_groups[0]["lr"] = section["learning_rate"] * (i / warmup if i < warmup else falling)
        optimiser.step()
        losses.append(float(loss.detach()))
    return np.array(losses), model


@pytest.mark.parametrize(("name", "clip"), [("llama", None), ("llama", 0.05), ("gpt2", None)])
def test_training_is_that_of_a_plain_loop(name, clip):
    result = train_backbone(make_job(architecture=name, optimiser={"clip": clip}))
    losses, model = train_plainly(name, 0, clip)
    every = TRAINING["evaluate_every"]
    means = losses.reshape(-1, every).mean(1)
    np.testing.assert_allclose(result.dataset["train_loss"][0, 1:], means, rtol=2e-5)
    x = torch.from_numpy(draw_test()["tokens"].values)
    with torch.no_grad():
        expected = PLAIN[name](model, x)[0][:, -1]
        found = trained_model(result, name)(x)
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-4)


def test_the_loss_falls():
    # From the zero prediction, about E|W e|^2/d = 1, to an average of the context at least.
    result = train_backbone(make_job(steps=120, warmup=10, evaluate_every=40, map_steps=[]))
    loss = result.dataset["test_loss"][0]
    assert loss[-1] < 0.9 * loss[0]
    assert "attention" not in result.dataset and "query" not in result.dataset.coords


def test_records_are_their_definitions():
    result, test = train_backbone(make_job(map_steps=[0, 12, 30])), draw_test()
    dataset = result.dataset
    for step, model in ((0, start_model()), (30, trained_model(result))):
        with torch.no_grad():
            y, maps = PLAIN["llama"](model, torch.from_numpy(test["tokens"].values))
            repeated, control = (
                PLAIN["llama"](model, torch.from_numpy(test[name].values))[1].numpy()
                for name in ("repeated", "control")
            )
        maps, match = maps.numpy(), test["match"].values
        T, K = 4, 4
        scores = {
            "PTH": np.mean([maps[..., q, q - 1] for q in range(1, T + 1)], 0),
            "IH_MC": np.stack([maps[i, ..., T, match[i] + 1] for i in range(len(match))]),
            "IH_Repeat": np.mean([repeated[..., K + j, j + 1] for j in range(K)], 0),
            "IH_Repeat_control": np.mean([control[..., K + j, j + 1] for j in range(K)], 0),
        }
        loss = (y[:, -1].numpy() - test["targets"].values) ** 2
        record = dataset.sel(seed=0, step=step)
        assert record["test_loss"] == pytest.approx(loss[:40].mean(), rel=1e-5)
        for name, score in scores.items():
            used = score[:40] if name in ("PTH", "IH_MC") else score
            np.testing.assert_allclose(record[name], used.mean(0), rtol=1e-5, err_msg=name)
        attention = dataset["attention"].sel(seed=0, map_step=step)
        np.testing.assert_allclose(attention, repeated[0], atol=1e-6)
    assert dataset["final_loss"][0] == pytest.approx(loss.mean(), rel=1e-5)
    np.testing.assert_allclose(dataset["final_PTH"][0], scores["PTH"].mean(0), rtol=1e-5)
    np.testing.assert_allclose(dataset["final_IH_MC"][0], scores["IH_MC"].mean(0), rtol=1e-5)
    assert np.isnan(dataset["train_loss"][0, 0]) and np.isfinite(dataset["train_loss"][0, 1:]).all()


def test_the_dataset():
    dataset = train_backbone(make_job(members=(1,), layers=3)).dataset
    sizes = {"seed": 1, "step": 6, "layer": 3, "head": 3, "map_step": 2, "query": 8, "key": 8}
    assert dict(dataset.sizes) == sizes
    assert dataset["seed"].values == [1]
    np.testing.assert_array_equal(dataset["step"], range(0, 31, 6))
    np.testing.assert_array_equal(dataset["map_step"], [0, 12])
    for name, variable in dataset.variables.items():
        assert variable.attrs["long_name"] and variable.attrs["units"] == "1", name
        if name in dataset.data_vars:
            assert variable.dtype == np.float32
            assert np.isfinite(variable).all() or name == "train_loss", name


class Killed(Exception):
    pass


@pytest.mark.parametrize("kill_at", [3, 17, 30, 44])  # steps of two seeds in a row
def test_resumed_equals_uninterrupted(tmp_path, monkeypatch, kill_at):
    expected = train_backbone(make_job(members=(0, 3), map_steps=[0, 12, 30]))
    taken = []
    step = runs.Run.step

    def count(run, i):
        taken.append((run.seed, i))
        if len(taken) == kill_at + 1:
            raise Killed
        step(run, i)

    monkeypatch.setattr(runs.Run, "step", count)
    with pytest.raises(Killed):
        train_backbone(make_job(members=(0, 3), map_steps=[0, 12, 30], state=tmp_path))
    before = taken[:-1]
    taken.clear()
    monkeypatch.setattr(runs.Run, "step", lambda run, i: (taken.append((run.seed, i)), step(run, i)))
    found = train_backbone(make_job(members=(0, 3), map_steps=[0, 12, 30], state=tmp_path))
    whole = [(seed, i) for seed in (0, 3) for i in range(30)]
    assert before == whole[:kill_at]
    assert taken == whole[kill_at // training.CHUNK * training.CHUNK :]
    assert found.dataset.identical(expected.dataset)
    for name, tensor in expected.checkpoint.items():
        assert torch.equal(found.checkpoint[name], tensor), name


def test_a_block_equals_its_seeds_alone():
    together = train_backbone(make_job(members=(0, 3)))
    for member, seed in enumerate((0, 3)):
        alone = train_backbone(make_job(members=(seed,)))
        assert together.dataset.sel(seed=[seed]).identical(alone.dataset)
        for name, tensor in alone.checkpoint.items():
            assert torch.equal(together.checkpoint[name][member], tensor[0]), name
    first, second = together.dataset["test_loss"].values
    assert (first != second).all()


def test_runs_of_equal_seed_start_alike_on_every_task():
    other = make_section(T=4, d_in=6, c=1.5)
    job = make_job()
    changed = type(job)(
        **{
            **vars(job),
            "sections": {**job.sections, "task": other},
            "inputs": {"test": make_sets(other, samples=300, curve_samples=40, repeated_samples=7)},
        }
    )
    here, there = train_backbone(job).dataset, train_backbone(changed).dataset
    np.testing.assert_array_equal(here["IH_Repeat"][0, 0], there["IH_Repeat"][0, 0])
    assert (here["IH_Repeat"][0, 1:] != there["IH_Repeat"][0, 1:]).any()


def test_a_loss_that_is_not_finite_is_named():
    message = (
        r"gmc/small_runs: the loss of seed 5 is not finite at step [2-5]; lower "
        r"gmc\.optimiser\.learning_rate, which is 1e\+25"
    )
    with pytest.raises(OnsetError, match=message):
        train_backbone(make_job(members=(5,), optimiser={"learning_rate": 1e25}))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_gives_the_same_numbers():
    job = make_job()
    here = train_backbone(job).dataset
    there = train_backbone(type(job)(**{**vars(job), "device": "cuda"})).dataset
    for name in here.data_vars:
        np.testing.assert_allclose(there[name], here[name], atol=1e-4, err_msg=name)
