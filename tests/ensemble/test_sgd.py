"""Guarantees of SGD with momentum:

- steps equal those of torch.optim.SGD, with and without momentum and weight decay, to rounding;
- members in one tensor move as they do alone; the state that is saved is all that a step needs.
"""

import pytest
import torch

from onset.ensemble.sgd import SGD


def draw(shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("decay", [0.0, 0.05])
def test_steps_are_those_of_torch(momentum, decay):
    ours = {"a": draw((3, 4), 0), "b": draw((5,), 1)}
    theirs = {name: tensor.clone().requires_grad_() for name, tensor in ours.items()}
    optimiser = SGD(ours, momentum, decay)
    reference = torch.optim.SGD(theirs.values(), 0.1, momentum=momentum, weight_decay=decay)
    for step in range(5):
        gradient = {name: draw(tensor.shape, 10 * step + len(name)) for name, tensor in ours.items()}
        optimiser.step(gradient, 0.1)
        for name, tensor in theirs.items():
            tensor.grad = gradient[name]
        reference.step()
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor, theirs[name].detach(), rtol=1e-14, atol=1e-14)


def test_members_do_not_see_each_other():
    start, gradients = draw((3, 4), 0), draw((6, 3, 4), 1)
    together = {"a": start.clone()}
    optimiser = SGD(together, 0.9, 0.01)
    for gradient in gradients:
        optimiser.step({"a": gradient}, 0.1)
    for member in range(3):
        alone = {"a": start[member].clone()}
        single = SGD(alone, 0.9, 0.01)
        for gradient in gradients:
            single.step({"a": gradient[member]}, 0.1)
        assert torch.equal(alone["a"], together["a"][member])


def test_the_state_is_all_that_a_step_needs():
    gradients = draw((4, 3), 0)
    whole = {"a": draw((3,), 1)}
    optimiser = SGD(whole, 0.9)
    for gradient in gradients[:2]:
        optimiser.step({"a": gradient}, 0.1)
    resumed = {"a": whole["a"].clone()}
    again = SGD(resumed, 0.9)
    for name, tensor in optimiser.state.items():
        again.state[name].copy_(tensor)
    for gradient in gradients[2:]:
        optimiser.step({"a": gradient}, 0.1)
        again.step({"a": gradient}, 0.1)
    assert torch.equal(resumed["a"], whole["a"])
