"""Guarantees of batched Adam, its schedule and the loop that records and resumes:

- a step is Algorithm 1 of arXiv 1412.6980, and members do not see each other;
- its open moments are the ones that it uses;
- the cosine schedule is its closed form and agrees with torch's;
- records are made at the asked steps; a killed and resumed run equals an uninterrupted one, bit for bit;
- a member that diverges is named, with the step.
"""

import io
import math

import pytest
import torch

from onset.ensemble.adam import Adam
from onset.ensemble.schedules import cosine
from onset.errors import OnsetError
from onset.job.context import Job
from onset.job.progress import Reporter
from onset.job.recorded import require_finite, run_recorded
from onset.job.state import SavedState
from onset.randomness import Streams


def start(*shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(0))


def gradient_of(parameters):
    return {name: tensor.sin() + 0.3 * tensor for name, tensor in parameters.items()}


def plain_adam(theta, gradient, rates, b1=0.9, b2=0.999):
    """Algorithm 1, written out."""
    m = s = torch.zeros_like(theta)
    for t, rate in enumerate(rates, start=1):
        g = gradient(theta)
        m = b1 * m + (1 - b1) * g
        s = b2 * s + (1 - b2) * g**2
        theta = theta - rate * (m / (1 - b1**t)) / ((s / (1 - b2**t)).sqrt() + 1e-8)
    return theta


def test_step_is_the_algorithm():
    rates = [cosine(0.05, t, 40) for t in range(40)]
    parameters = {"a": start(3, 2, 4), "b": start(3, 2)}
    expected = {
        name: plain_adam(tensor, lambda x: x.sin() + 0.3 * x, rates) for name, tensor in parameters.items()
    }
    adam = Adam(parameters)
    for rate in rates:
        adam.step(gradient_of(parameters), rate)
    for name, tensor in parameters.items():
        torch.testing.assert_close(tensor, expected[name], rtol=1e-12, atol=1e-14)


def test_batched_equals_members_alone():
    together = {"a": start(4, 2, 5)}
    alone = [{"a": together["a"][i : i + 1].clone()} for i in range(4)]
    for parameters in (together, *alone):
        adam = Adam(parameters)
        for t in range(60):
            adam.step(gradient_of(parameters), cosine(0.1, t, 60))
    torch.testing.assert_close(torch.cat([p["a"] for p in alone]), together["a"], rtol=1e-12, atol=1e-14)


def test_state_is_what_the_steps_use():
    parameters = {"a": start(2, 3)}
    adam = Adam(parameters)
    adam.step(gradient_of(parameters), 0.1)
    assert set(adam.state) == {"a.step", "a.exp_avg", "a.exp_avg_sq"}
    copy = {"a": parameters["a"].clone()}
    resumed = Adam(copy)
    for name, tensor in resumed.state.items():
        tensor.copy_(adam.state[name])
    for p, optimiser in ((parameters, adam), (copy, resumed)):
        optimiser.step(gradient_of(p), 0.1)
    assert torch.equal(parameters["a"], copy["a"])


def test_cosine_schedule():
    assert cosine(0.3, 0, 10) == 0.3
    assert cosine(0.3, 5, 10) == pytest.approx(0.15)
    assert cosine(0.3, 10, 10) == pytest.approx(0, abs=1e-17)
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=50)
    for step in range(50):
        assert cosine(0.3, step, 50) == pytest.approx(optimiser.param_groups[0]["lr"], rel=1e-9)
        optimiser.step()
        scheduler.step()


def train(state=None, hook=lambda: None):
    parameters = {"a": start(2, 3, 4, dtype=torch.float32)}
    adam = Adam(parameters)
    records = torch.zeros(3, 2, 3)

    def step(i):
        hook()
        adam.step(gradient_of(parameters), cosine(0.1, i, 50))

    run_recorded(
        Job(
            "paper",
            "experiment",
            "test",
            "r",
            own=None,
            streams=Streams(0, "paper", "experiment"),
            reporter=Reporter("test", io.StringIO(), io.StringIO()),
            saved=None if state is None else SavedState(state, "r", every=0),
        ),
        parameters,
        {"seed": [0, 1], "P": [5, 6, 7]},
        step=step,
        record=lambda k: records[k].copy_(parameters["a"].sum(-1)),
        record_at=[15, 30, 50],
        total=50,
        chunk=20,
        carried={**adam.state, "records": records},
        unit="epochs",
        advice="",
    )
    return parameters["a"], records


@pytest.mark.parametrize("kill_at", [5, 20, 25, 39, 40, 49])
def test_resumed_equals_uninterrupted(tmp_path, kill_at):
    expected, expected_records = train()
    calls = iter(range(100))

    def kill():
        if next(calls) == kill_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, kill)
    taken = []
    found, records = train(tmp_path, lambda: taken.append(1))
    assert len(taken) == 50 - kill_at // 20 * 20
    assert torch.equal(found, expected)
    assert torch.equal(records, expected_records)
    assert torch.equal(records[2], found.sum(-1))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_divergence_is_named(value):
    parameters = {"fine": torch.zeros(2, 3, 4), "broken": torch.zeros(2, 3, 5, 5)}
    require_finite(parameters, {"seed": [0, 8], "P": [5, 6, 7]}, 40, "")
    parameters["broken"][1, 2, 0, 3] = value
    message = r"broken is not finite at seed 8, P 7 after 40 steps \(1 of 6 members\); try less"
    with pytest.raises(OnsetError, match=message):
        require_finite(parameters, {"seed": [0, 8], "P": [5, 6, 7]}, 40, "try less")
