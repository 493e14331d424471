"""Guarantees of heads with queries and keys of finite width:

- misfit and gradient equal those of autograd on the raw sequences;
- the prior of the logits has variance v at any width, and is Gaussian at large ones;
- chains at a large width have the moments of chains on the logits;
- the copy state is that of the logits, and is refused where the rank is too small;
- chains equal themselves whatever the batch partners, to 1e-10 in float64, for every sampler;
- a diverging chain is named.
"""

import numpy as np
import pytest
import torch
from tests.copyhead.small_jobs import PRIOR, SAMPLING, make_job, raw_squared_error

from onset.errors import OnsetError
from onset.papers.copyhead.gram import count_pairs
from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.sampler import Sampler
from onset.params.copyhead import Sampling
from onset.randomness import Streams


def head_of(attention, d_k, L=5, V=4):
    return CopyHead(attention, L, V, g_OV=0.3, v=1.7, sigma2=0.4, d_k=d_k)


def run(changes, members=(0, 1, 2), d_k=None, dtype=torch.float64, L=6):
    job = make_job(Sampling(**{**SAMPLING, **changes}), members, L=L)
    job.sections["prior"] = PRIOR.model_copy(update={"d_k": d_k})
    sampler = Sampler(job, members, dtype)
    steps = list(range(20, job.own.steps + 1, 20))
    records = {}

    def record(k):
        for name, value in sampler.measure()[1].items():
            records.setdefault(name, []).append(value.clone())

    sampler.run(job, record, steps, {})
    return sampler.parameters, {name: torch.stack(values) for name, values in records.items()}


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_gradient_is_that_of_autograd_on_raw_data(attention):
    head = head_of(attention, d_k=3)
    tokens = np.random.default_rng(4).integers(4, size=(9, 5), dtype=np.int8)
    gram = count_pairs(tokens, (4, 9), 4, torch.float64)
    source = torch.Generator().manual_seed(3)
    parameters = {
        name: torch.randn(2, 2, *shape, dtype=torch.float64, generator=source).requires_grad_()
        for name, shape in head.shapes.items()
    }
    A, W = head.actual(parameters)
    omega = parameters["Q"] @ parameters["K"].mT * (1.7 / 3) ** 0.5
    wanted = omega / 5 if attention == "linear" else torch.softmax(omega, -1)
    torch.testing.assert_close(A, wanted)
    raw = sum(
        raw_squared_error(tokens[:count], A[i, j], W[i, j]) / 0.8
        for i in range(2)
        for j, count in enumerate((4, 9))
    )
    expected = torch.autograd.grad(raw, parameters.values())
    with torch.no_grad():
        torch.testing.assert_close(head.misfit(gram, parameters).sum(), raw, rtol=1e-12, atol=0)
        for found, want in zip(head.misfit_gradient(gram, parameters).values(), expected, strict=True):
            torch.testing.assert_close(found, want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("d_k", "excess"), [(4, 6 / 4), (400, 6 / 400)])
def test_prior_of_logits(d_k, excess):
    head = head_of("softmax", d_k, L=20)
    state = head.prior_state(Streams(0, "copyhead", "small"), tuple(range(60)), (5,), torch.float64)
    theta = head.logits(state).flatten()
    # 24000 entries, those of one head correlated through the rows: the variance of 60 x 20 x 20 products.
    assert abs(float(theta.square().mean()) - 1) < 0.05
    # Excess kurtosis of a sum of d_k products of two normal variables is 6/d_k.
    assert abs(float((theta**4).mean() / theta.square().mean() ** 2 - 3) - excess) < 0.5 * excess + 0.2


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_large_width_has_the_moments_of_the_logits(attention):
    changes = {"attention": attention, "P": [25], "steps": 800, "step_size": 0.05}
    members = tuple(range(24))
    means, errors = [], []
    for d_k in (None, 300):
        _, records = run(changes, members, d_k, torch.float32)
        values = torch.stack([records["s2"], records["test_loss"]])[:, 10:].mean(1)
        means.append(values.mean(1))
        errors.append(values.std(1) / 24**0.5)
    # Scatter of independent chains; corrections of order L/d_k = 2 % of the cost.
    allowed = 4 * torch.hypot(*errors) + 0.03 * means[0].abs()
    assert ((means[0] - means[1]).abs() < allowed).all()


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_copy_state_is_that_of_the_logits(attention):
    wide, plain = head_of(attention, 9), head_of(attention, None)
    found, expected = (h.actual(h.copy_state(2, 1, torch.float64)) for h in (wide, plain))
    for part, want in zip(found, expected, strict=True):
        torch.testing.assert_close(part, want, rtol=1e-12, atol=1e-12)
    with pytest.raises(OnsetError, match="d_k of at least L = 5, it is 4"):
        head_of(attention, 4).copy_state(1, 1, torch.float64)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
@pytest.mark.parametrize(
    ("d_k", "changes"),
    [(7, {}), (None, {"weights": "integrated"}), (7, {"weights": "integrated"}), (None, {"batch": 4})],
)
def test_chains_do_not_depend_on_their_batch(attention, d_k, changes):
    changes = {"attention": attention, "steps": 60, "record_every": 3, **changes}
    together, records = run(changes, (0, 1, 2), d_k)
    for j, P in enumerate((5, 12)):
        alone, record = run({**changes, "P": [P]}, (1,), d_k)
        for name, tensor in alone.items():
            torch.testing.assert_close(tensor[0, 0], together[name][1, j], rtol=1e-10, atol=1e-10)
        for name, tensor in record.items():
            torch.testing.assert_close(tensor[:, 0, 0], records[name][:, 1, j], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("d_k", "changes"), [(7, {}), (None, {"batch": 4})])
def test_divergence_is_named(d_k, changes):
    own = {"attention": "linear", "step_size": 0.99, "P": [5, 200], "steps": 600, **changes}
    with pytest.raises(OnsetError, match=r"not finite at chain 3, P \d+ after \d+ steps"):
        run(own, (3,), d_k, torch.float32)
