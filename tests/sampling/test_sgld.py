"""Guarantees of the Langevin sampler:

- one step is the equation of its docstring, entry by entry;
- on a quadratic its stationary mean and variance are those of the discretised chain, not of the limit;
- chains in a batch equal the same chains alone, for equal noise;
- a run that is killed anywhere and resumed equals an uninterrupted one, bit for bit;
- a chain that diverges is named, with the step.
"""

import io

import numpy as np
import pytest
import torch

from onset.errors import OnsetError
from onset.job.context import Job
from onset.job.progress import Reporter
from onset.job.state import SavedState
from onset.randomness import Streams
from onset.sampling.sgld import langevin_step, sample_sgld


def make_job(state=None):
    return Job(
        "paper",
        "experiment",
        "test",
        "r",
        own=None,
        streams=Streams(0, "paper", "experiment"),
        reporter=Reporter("test", io.StringIO(), io.StringIO()),
        saved=None if state is None else SavedState(state, "r", every=0),
    )


def run_quadratic(
    curvature,
    center,
    chains,
    *,
    step_size,
    steps,
    record_at,
    state=None,
    dtype=torch.float64,
    gradient_hook=lambda: None,
):
    """Chains on misfit = sum curvature (theta - center)^2/2; curvature and center are (P, D)."""
    P = range(1, len(curvature) + 1)
    parameters = {
        "theta": torch.zeros(len(chains), *curvature.shape, dtype=dtype),
        "phi": torch.ones(len(chains), len(P), 2, dtype=dtype),
    }
    records = torch.zeros(len(record_at), *parameters["theta"].shape, dtype=dtype)

    def gradient(state):
        gradient_hook()
        return {"theta": curvature * (state["theta"] - center), "phi": 0.5 * state["phi"]}

    sample_sgld(
        make_job(state),
        parameters,
        {"chain": chains, "P": P},
        gradient,
        step_size=step_size,
        steps=steps,
        record=lambda k: records[k].copy_(parameters["theta"]),
        record_at=record_at,
        carried={"records": records},
    )
    return parameters, records


def test_step_is_the_equation():
    source = torch.Generator().manual_seed(1)
    theta, gradient, noise = (torch.randn(5, 3, dtype=torch.float64, generator=source) for _ in range(3))
    parameters = {"theta": theta.clone()}
    langevin_step(parameters, {"theta": gradient}, {"theta": noise}, 0.3)
    torch.testing.assert_close(
        parameters["theta"], (1 - 0.3) * theta - 0.3 * gradient + noise, rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("step_size", [0.05, 0.4])
def test_stationary_moments_are_the_discretised_ones(step_size):
    # U has curvature a = 1 + b, prior and misfit together.  theta <- (1 - eps a) theta + eps b center
    # + sqrt(2 eps) xi has mean b center/a and variance 2 eps/(1 - (1 - eps a)^2) = 1/(a (1 - eps a/2)).
    b = torch.tensor([0.0, 0.5, 2.0], dtype=torch.float64)[:, None].expand(3, 300)
    a = 1 + b[:, 0].numpy()
    steps = 200 if step_size < 0.1 else 60  # more than 10 relaxation times 1/(eps a) before the first record
    record_at = [steps + k for k in range(0, 400, round(4 / step_size))]
    _, records = run_quadratic(
        b, 1.5, range(30), step_size=step_size, steps=record_at[-1], record_at=record_at
    )
    draws = records.transpose(0, 2).flatten(1).numpy()  # (P, chain * record * dimension)
    variance = 1 / (a * (1 - step_size * a / 2))
    # At least 5 records 4 time units apart in 9000 independent coordinates: 45 000 draws or more, standard
    # error at most 0.7 % of the variance.  The continuous 1/a is off by eps a/2: 2.5 % to 7.5 % at the small
    # step and 20 % to 60 % at the large one; a wrong temperature or a missing root by more.
    np.testing.assert_allclose(draws.var(1), variance, rtol=0.02)
    np.testing.assert_allclose(draws.mean(1), 1.5 * (a - 1) / a, atol=0.02)


def test_batched_chains_equal_chains_alone():
    b = torch.rand(2, 5, dtype=torch.float64)
    settings = {"step_size": 0.1, "steps": 130, "record_at": [40, 130]}
    together, records = run_quadratic(b, 1.0, [0, 3, 4], **settings)
    for i, chain in enumerate([0, 3, 4]):
        alone, record = run_quadratic(b, 1.0, [chain], **settings)
        torch.testing.assert_close(alone["theta"][0], together["theta"][i], rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(record[:, 0], records[:, i], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kill_at", [3, 50, 51, 99, 149, 150, 164])
def test_resumed_equals_uninterrupted(tmp_path, kill_at):
    b = torch.rand(2, 5)
    settings = {"step_size": 0.1, "steps": 165, "record_at": [20, 60, 100, 160], "dtype": torch.float32}
    expected, expected_records = run_quadratic(b, 1.0, [0, 1], **settings)
    calls = iter(range(1000))

    def kill():
        if next(calls) == kill_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_quadratic(b, 1.0, [0, 1], state=tmp_path, gradient_hook=kill, **settings)
    assert SavedState(tmp_path, "r").path.exists() == (kill_at >= 50)
    taken = []
    found, records = run_quadratic(
        b, 1.0, [0, 1], state=tmp_path, gradient_hook=lambda: taken.append(1), **settings
    )
    assert len(taken) == 165 - kill_at // 50 * 50  # it went on from the last chunk that was saved
    for name, tensor in expected.items():
        assert torch.equal(tensor, found[name])
    assert torch.equal(expected_records, records)


def test_divergence_is_named():
    # eps a = 0.5 * 41 is far beyond the limit of 2; P = 1 stays stable.
    b = torch.tensor([0.0, 40.0])[:, None].expand(2, 3)
    message = r"theta is not finite at chain 4, P 2 after 100 steps \(2 of 4 members\).*lower step_size"
    with pytest.raises(OnsetError, match=message):
        run_quadratic(b, 1.0, [4, 9], step_size=0.5, steps=200, record_at=[10, 100, 200], dtype=torch.float32)
