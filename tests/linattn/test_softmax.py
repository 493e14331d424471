"""Guarantees of softmax attention:

- predictions are those of the layer written token by token, all tokens included, no scaling;
- the gradient equals autograd, for both models and however the sequences are split, to 1e-10 in float64;
- seeds in a block equal seeds alone, and a killed and resumed block an uninterrupted one, bit for bit;
- a seed has the sequences and the start of linear attention; a diverging run is refused with seed and step.
"""

import numpy as np
import pytest
import torch
from tests.linattn.small_linattn import TASK, as_leaves, make_job, random_weights, raw_set

from onset.errors import OnsetError
from onset.papers.linattn import softmax_training
from onset.papers.linattn.raw import predict_softmax
from onset.papers.linattn.softmax import softmax_gradient, split_sequences
from onset.papers.linattn.softmax_training import read_tokens, train_softmax
from onset.params.linattn import SoftmaxTraining

OWN = {
    "task": "base_task",
    "model": "separate",
    "rank": 2,
    "heads": 3,
    "init_std": 0.3,
    "learning_rate": 0.05,
    "samples": 40,
    "epochs": 70,
    "record_every": 15,
    "seeds": 3,
    "block": 3,
}


def softmax_job(members=(0, 1, 2), state=None, **changes):
    job = make_job(SoftmaxTraining.model_validate({**OWN, **changes}), sets=object(), state=state)
    return type(job)(**{**job.__dict__, "members": members})


def test_prediction_token_by_token():
    _, _, tokens, _ = raw_set(4)
    weights = random_weights("separate", True)
    found = predict_softmax({name: torch.from_numpy(a) for name, a in weights.items()}, tokens)
    for b in range(2):
        for p in range(4):
            t, total = tokens[p].numpy(), 0.0
            for h in range(4):
                keys = t @ np.concatenate([weights["K"][b, h], weights["k_side"][b, h][:, None]], 1).T
                scores = keys @ (weights["Q"][b, h] @ t[-1, :-1])
                attention = np.exp(scores) / np.exp(scores).sum()
                total += attention @ t @ np.append(weights["v_side"][b, h], weights["v"][b, h])
            assert float(found[b, p]) == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("model", ["merged", "separate"])
@pytest.mark.parametrize("size", [50, 17])
def test_gradient_equals_autograd(model, size):
    _, _, tokens, target = raw_set(50)
    tokens = torch.stack([tokens, tokens.flip(0).flip(2)])  # members have sequences of their own
    target = torch.stack([target, target.square()])
    weights = random_weights(model, True)
    leaves = as_leaves(weights)
    loss = (predict_softmax(leaves, tokens) - target).square().mean(1)
    expected = torch.autograd.grad(loss.sum(), list(leaves.values()))
    value, found = softmax_gradient(weights, split_sequences(tokens.numpy(), target.numpy(), size))
    np.testing.assert_allclose(value, loss.detach(), rtol=1e-12)
    assert found.keys() == leaves.keys()
    for name, gradient in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(found[name], gradient, rtol=1e-10, atol=1e-12)


def test_block_equals_seeds_alone():
    together = train_softmax(softmax_job(), np.float64).dataset
    assert together["loss"].dims == ("seed", "epoch") and together["v"].dims == ("seed", "epoch", "head")
    np.testing.assert_array_equal(together["epoch"], [0, 15, 30, 45, 60, 70])
    for seed in range(3):
        alone = train_softmax(softmax_job((seed,)), np.float64).dataset
        np.testing.assert_allclose(alone["loss"], together["loss"].sel(seed=[seed]), rtol=1e-10)
    assert (together["loss"].isel(epoch=-1) < together["loss"].isel(epoch=0)).all()


@pytest.mark.parametrize("kill_at", [19, 20, 41, 69])
def test_resumed_equals_uninterrupted(tmp_path, monkeypatch, kill_at):
    expected = train_softmax(softmax_job())
    calls, gradient = iter(range(1000)), softmax_training.softmax_gradient

    def killed(*args):
        if next(calls) == kill_at:
            raise KeyboardInterrupt
        return gradient(*args)

    with monkeypatch.context() as patch:
        patch.setattr(softmax_training, "softmax_gradient", killed)
        with pytest.raises(KeyboardInterrupt):
            train_softmax(softmax_job(state=tmp_path))
    found = train_softmax(softmax_job(state=tmp_path))
    assert found.dataset.identical(expected.dataset)
    for name, array in expected.checkpoint.items():
        np.testing.assert_array_equal(found.checkpoint[name], array)


def test_sequences_are_those_of_linear_attention():
    tokens, target = read_tokens(softmax_job(), (2,), np.float64)
    _, y, wanted, goal = raw_set(40, seed=2, task=TASK)
    np.testing.assert_array_equal(tokens[0], wanted)
    np.testing.assert_array_equal(target[0], goal)
    assert (tokens[0, :, -1, -1] == 0).all() and (y[:, -1] != 0).all()


def test_a_diverging_run_is_named():
    with pytest.raises(OnsetError, match=r"linattn/small: the loss of seed \d is not finite after \d+ steps"):
        train_softmax(softmax_job(learning_rate=1e30))
