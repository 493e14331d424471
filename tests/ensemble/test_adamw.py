"""Guarantees of AdamW with open moments and of the warm-up schedule:

- a step is Algorithm 2 of arXiv 1711.05101, with the decay that is asked for, and that of torch's class;
- the layout of a gradient in memory does not matter;
- its open moments are the ones that it uses: copied into another, both go on alike, bit for bit;
- the schedule is its closed form, continuous at the end of warm-up, and agrees with transformers'.
"""

import math

import pytest
import torch

from onset.ensemble.adamw import AdamW
from onset.ensemble.warmup import warm_up_then_cosine


def start(dtype):
    generator = torch.Generator().manual_seed(0)
    return {
        "matrix": torch.randn(5, 7, dtype=dtype, generator=generator),
        "vector": torch.randn(7, dtype=dtype, generator=generator),
    }


def gradient_of(parameters):
    return {name: tensor.sin() + 0.3 * tensor for name, tensor in parameters.items()}


def plain_adamw(theta, rates, b1, b2, epsilon, decay):
    """Algorithm 2, written out."""
    m = s = torch.zeros_like(theta)
    for t, rate in enumerate(rates, start=1):
        g = theta.sin() + 0.3 * theta
        m = b1 * m + (1 - b1) * g
        s = b2 * s + (1 - b2) * g**2
        theta = theta - rate * ((m / (1 - b1**t)) / ((s / (1 - b2**t)).sqrt() + epsilon) + decay * theta)
    return theta


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 2e-6)])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_step_is_the_algorithm(dtype, tolerance, decay):
    rates = [warm_up_then_cosine(0.05, t, 10, 40) for t in range(40)]
    parameters = start(dtype)
    expected = {n: plain_adamw(p, rates, 0.9, 0.95, 1e-8, decay) for n, p in parameters.items()}
    optimiser = AdamW(parameters, (0.9, 0.95), 1e-8, decay)
    for rate in rates:
        optimiser.step(gradient_of(parameters), rate)
    for name, tensor in parameters.items():
        torch.testing.assert_close(tensor, expected[name], rtol=tolerance, atol=tolerance)


def test_steps_are_those_of_torch():
    ours, theirs = start(torch.float32), start(torch.float32)
    optimiser = AdamW(ours, (0.9, 0.95), 1e-6, 0.1)
    reference = torch.optim.AdamW(theirs.values(), betas=(0.9, 0.95), eps=1e-6, weight_decay=0.1, lr=0.03)
    for _ in range(20):
        optimiser.step(gradient_of(ours), 0.03)
        for name, gradient in gradient_of(theirs).items():
            theirs[name].grad = gradient
        reference.step()
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor, theirs[name], rtol=2e-6, atol=2e-6)


def test_the_layout_of_a_gradient_does_not_matter():
    plain, strided = start(torch.float32), start(torch.float32)
    optimisers = AdamW(plain), AdamW(strided)
    for _ in range(3):
        gradient = gradient_of(plain)
        optimisers[0].step(gradient, 0.1)
        apart = torch.stack([gradient["vector"]] * 3, 1)[:, 0]
        optimisers[1].step({"matrix": gradient["matrix"].T.contiguous().T, "vector": apart}, 0.1)
    assert all(torch.equal(plain[name], strided[name]) for name in plain)


def test_state_is_what_the_steps_use():
    parameters = start(torch.float32)
    optimiser = AdamW(parameters)
    for _ in range(3):
        optimiser.step(gradient_of(parameters), 0.1)
    moments = ("step", "exp_avg", "exp_avg_sq")
    assert set(optimiser.state) == {f"{name}.{moment}" for name in parameters for moment in moments}
    copy = {name: tensor.clone() for name, tensor in parameters.items()}
    resumed = AdamW(copy)
    for name, tensor in resumed.state.items():
        tensor.copy_(optimiser.state[name])
    for p, o in ((parameters, optimiser), (copy, resumed)):
        o.step(gradient_of(p), 0.1)
    assert all(torch.equal(parameters[name], copy[name]) for name in parameters)


def test_schedule_is_its_closed_form():
    rates = [warm_up_then_cosine(0.3, step, 20, 100, final=0.06) for step in range(100)]
    assert rates[0] == 0
    assert rates[10] == pytest.approx(0.15)
    assert rates[20] == max(rates) == pytest.approx(0.3)
    assert rates[60] == pytest.approx(0.18)
    assert rates[99] == pytest.approx(0.06 + 0.12 * (1 + math.cos(math.pi * 79 / 80)))
    assert warm_up_then_cosine(0.3, 0, 0, 100) == 0.3


def test_schedule_agrees_with_transformers():
    transformers = pytest.importorskip("transformers")
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    scheduler = transformers.get_cosine_schedule_with_warmup(optimiser, 20, 100)
    for step in range(100):
        expected = optimiser.param_groups[0]["lr"]
        assert warm_up_then_cosine(0.3, step, 20, 100) == pytest.approx(expected, rel=1e-12)
        optimiser.step()
        scheduler.step()


@pytest.mark.parametrize("warmup", [-1, 100, 101])
def test_a_warm_up_of_all_steps_is_refused(warmup):
    with pytest.raises(ValueError, match="less than the 100 steps"):
        warm_up_then_cosine(0.3, 0, warmup, 100)
