"""Guarantees of the mixture of in-context and in-weight learning:

- the first share of the sequences has a w of its own, the rest the fixed one; at 0 the context is noise;
- test sets are the two ends; the moments give the losses on the sequences;
- shares start alike; a resumed run equals an uninterrupted one, bit for bit.
"""

import numpy as np
import pytest
from tests.linattn.small_linattn import STREAMS, TASK, make_job

from onset.job.context import Job
from onset.papers.linattn import mixture_training
from onset.papers.linattn.features import full_features
from onset.papers.linattn.mixture import draw_fixed_vector, draw_mixture, label_mixture
from onset.papers.linattn.mixture_training import train_mixture
from onset.papers.linattn.models import Full
from onset.papers.linattn.task import draw_sequences, label, open_streams
from onset.params.linattn import MixtureSets, MixtureTraining

SETS = {"shares": [0.0, 0.5, 1.0], "samples": 60, "test_samples": 50, "seeds": [0, 2]}
OWN = {"heads": 4, "init_std": 0.1, "learning_rate": 0.02, "epochs": 120, "record_every": 50, "seeds": [0, 2]}


def sets():
    own = MixtureSets.model_validate(SETS)
    return draw_mixture(Job("linattn", "mixture_sets", "test", "-", own, {"task": TASK}, streams=STREAMS))


def mixture_job(state=None, **changes):
    job = make_job(MixtureTraining.model_validate({**OWN, **changes}), state=state)
    job.inputs.clear()
    job.inputs["sets"] = sets()
    return job


def test_labels():
    streams = open_streams(STREAMS)
    x, w = draw_sequences(streams, TASK, 2, 0, 60)
    fixed = draw_fixed_vector(streams, 3, 2)
    assert fixed @ fixed == pytest.approx(3)
    y = label_mixture(streams, x, w, 0.5, 60, 2, 0)
    np.testing.assert_allclose(y[:30], label(x, w)[:30])
    np.testing.assert_allclose(y[30:], x[30:] @ fixed, rtol=1e-12, atol=1e-14)
    later = label_mixture(streams, x[20:], w[20:], 0.5, 60, 2, 20)
    np.testing.assert_array_equal(later, y[20:])
    pure = label_mixture(streams, x, w, 0.0, 60, 2, 0)
    np.testing.assert_allclose(pure[:, -1], x[:, -1] @ fixed, rtol=1e-12, atol=1e-14)
    assert abs(np.corrcoef(pure[:, :-1].ravel(), (x[:, :-1] @ fixed).ravel())[0, 1]) < 0.25  # 360 pairs


def test_losses_are_those_on_the_sequences():
    result = train_mixture(mixture_job())
    assert result.dataset["loss"].dims == ("share", "seed", "epoch")
    np.testing.assert_array_equal(result.dataset["epoch"], [0, 50, 100, 120])
    streams = open_streams(STREAMS)
    weights = {name: array[1] for name, array in result.checkpoint.items()}  # share 0.5
    coefficients = Full(3).coefficients(weights)
    for i, seed in enumerate((0, 2)):
        for name, share, samples, purpose in (
            ("loss", 0.5, 60, "training"),
            ("loss_in_context", 1.0, 50, "in_context"),
            ("loss_in_weight", 0.0, 50, "in_weight"),
        ):
            x, w = draw_sequences(streams, TASK, seed, 0, samples, purpose)
            y = label_mixture(streams, x, w, share, samples, seed, 0)
            direct = np.mean((full_features(x, y) @ coefficients[i] - y[:, -1]) ** 2)
            found = result.dataset[name].sel(share=0.5, seed=seed).isel(epoch=-1)
            assert float(found) == pytest.approx(direct, rel=1e-6)


def test_shares_start_alike_and_test_sets_are_shared():
    dataset = train_mixture(mixture_job()).dataset.isel(epoch=0)
    for name in ("loss_in_context", "loss_in_weight"):
        np.testing.assert_array_equal(dataset[name].isel(share=0), dataset[name].isel(share=2))


def test_resumed_equals_uninterrupted(tmp_path, monkeypatch):
    monkeypatch.setattr(mixture_training, "CHUNK", 30)
    expected = train_mixture(mixture_job())
    calls, descend = iter(range(1000)), mixture_training.descend

    def killed(*args):
        if next(calls) == 95:
            raise KeyboardInterrupt
        descend(*args)

    with monkeypatch.context() as patch:
        patch.setattr(mixture_training, "descend", killed)
        with pytest.raises(KeyboardInterrupt):
            train_mixture(mixture_job(state=tmp_path))
    found = train_mixture(mixture_job(state=tmp_path))
    assert found.dataset.identical(expected.dataset)
