"""Guarantees of chains carried from P to P:

- each dwell samples the posterior at its P: a sweep equals a loop written out, both directions together;
- chains do not depend on how many there are, to 1e-10 in float64;
- the dataset puts each mean at its P, and the loop's area is the integral between the ways;
- signs of linear attention are taken out; trapped chains are marked;
- a killed and resumed sweep equals an uninterrupted one;
- a diverging chain is named with its run, direction, P and step.
"""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
import torch
from tests.copyhead.small_jobs import PRIOR, SAMPLING, make_job

from onset.errors import OnsetError
from onset.papers.copyhead.gram import count_pairs
from onset.papers.copyhead.hysteresis import describe_sweep, run_sweep, sweep_training_sets
from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.order import measure_head
from onset.params.copyhead import Sampling, Sweep
from onset.sampling.noise import CHUNK, Noise

OWN = {"attention": "softmax", "P": [5, 9, 14], "chains": 2, "dwell": 70, "step_size": 0.04, "kept": 0.3}


def make_sweep(runs=None, state=None, **changes):
    own = Sweep.model_validate({**OWN, "runs": runs or {"softmax": {}}, **changes})
    job = make_job(Sampling(**{**SAMPLING, "P": [5, 60]}), None, state=state)
    return replace(job, own=own)


def test_sweep_is_the_loop_written_out():
    job = make_sweep()
    own = job.own
    found, means = run_sweep(job, torch.float64)
    head = CopyHead.of("softmax", job.sections["task"], PRIOR)
    tokens = job.inputs["sequences"]["tokens"].values
    starts = head.prior_state(job.streams, (0, 1), (5,), torch.float64), head.copy_state(2, 1, torch.float64)
    noise = Noise(job.streams, {"chain": (0, 1), "direction": (0, 1)}, head.shapes, torch.float64)
    for direction, (start, order) in enumerate(zip(starts, ([5, 9, 14], [14, 9, 5]), strict=True)):
        state = {name: tensor[:, 0].clone() for name, tensor in start.items()}
        step = 0
        for k, P in enumerate(order):
            gram = count_pairs(tokens, (P,), head.V, torch.float64)
            kept = []
            for i in range(own.dwell):
                if step % CHUNK == 0 or i == 0:
                    noise.draw(step // CHUNK, sqrt(2 * own.step_size))
                gradient = head.misfit_gradient(gram, {n: t[:, None] for n, t in state.items()})
                for name, tensor in state.items():
                    drift = tensor + gradient[name][:, 0]
                    tensor += noise.of(step)[name][:, direction] - own.step_size * drift
                step += 1
                if i + 1 in (60, 70):  # the last 0.3 of 70 steps, every 10th
                    A, W = head.actual({n: t[:, None] for n, t in state.items()})
                    kept.append(measure_head("softmax", A, W)["aG"][:, 0])
            mean = torch.stack(kept).mean(0)
            torch.testing.assert_close(means["copy"][k, :, direction], mean, rtol=1e-9, atol=1e-9)
        for name, tensor in state.items():
            torch.testing.assert_close(found[name][:, direction], tensor, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_chains_do_not_depend_on_their_number(attention):
    few, few_means = run_sweep(make_sweep(attention=attention), torch.float64)
    many, many_means = run_sweep(make_sweep(attention=attention, chains=5), torch.float64)
    for name, tensor in few.items():
        torch.testing.assert_close(tensor, many[name][:2], rtol=1e-10, atol=1e-10)
    for name, tensor in few_means.items():
        torch.testing.assert_close(tensor, many_means[name][:, :2], rtol=1e-10, atol=1e-10)


def test_means_are_put_at_their_P():
    own = make_sweep().own
    dwell = torch.arange(3.0)[:, None, None].expand(3, 2, 2)
    means = {name: dwell / 10 for name in ("pooling", "copy", "s2", "test_loss", "copying")}
    found = describe_sweep(own, means)
    assert found["copy"].dims == ("chain", "direction", "P")
    np.testing.assert_allclose(found["copy"].sel(direction="up")[0], [0, 0.1, 0.2])
    np.testing.assert_allclose(found["copy"].sel(direction="down")[1], [0.2, 0.1, 0])
    # Trapezoids of (0.2, 0, -0.2) over P = 5, 9, 14.
    assert float(found["loop_area"]) == pytest.approx(0.4 - 0.5)
    linear = describe_sweep(make_sweep(attention="linear").own, {**means, "copy": dwell / 10 - 0.1})
    np.testing.assert_array_equal(linear["trapped"].sel(direction="up")[0], [True, False, False])
    assert not found["trapped"].any()


def test_dataset():
    result = sweep_training_sets(make_sweep({"softmax": {}, "linear": {"attention": "linear", "P": [9, 20]}}))
    found = result.dataset
    assert dict(found.sizes) == {"run": 2, "chain": 2, "direction": 2, "P": 4}
    assert found["P"].values.tolist() == [5, 9, 14, 20]
    for name in ("pooling", "copy", "s2", "test_loss", "copying"):
        assert found[name].dims == ("run", "chain", "direction", "P") and found[name].dtype == np.float32
    assert found["trapped"].dtype == bool and found["loop_area"].dims == ("run",)
    assert found["attention"].values.tolist() == ["softmax", "linear"]
    assert all(set(v.attrs) >= {"long_name", "units"} for v in found.variables.values())
    there = found["copy"].notnull().all(("chain", "direction"))
    assert there.values.tolist() == [[True, True, True, False], [False, True, False, True]]
    assert (found["pooling"].sel(run="linear", P=[9, 20]) >= 0).all()
    assert set(result.checkpoint) == {"softmax.theta", "softmax.W", "linear.theta", "linear.W"}


def test_resumed_equals_uninterrupted(tmp_path, monkeypatch):
    runs = {"softmax": {}, "linear": {"attention": "linear"}}
    expected = sweep_training_sets(make_sweep(runs))
    calls = iter(range(10000))
    gradient = CopyHead.misfit_gradient

    def killed(*args):
        if next(calls) == 330:
            raise KeyboardInterrupt
        return gradient(*args)

    with monkeypatch.context() as patch:
        patch.setattr(CopyHead, "misfit_gradient", killed)
        with pytest.raises(KeyboardInterrupt):
            sweep_training_sets(make_sweep(runs, state=tmp_path))
    assert sweep_training_sets(make_sweep(runs, state=tmp_path)).dataset.identical(expected.dataset)


def test_divergence_is_named():
    job = make_sweep({"wild": {"attention": "linear", "P": [5, 60], "step_size": 0.99, "dwell": 400}})
    with pytest.raises(
        OnsetError,
        match=r"^run wild: .* at chain \d, direction \d after \d+ steps .*at P \d+ in direction 0, \d+ in",
    ):
        sweep_training_sets(job)
