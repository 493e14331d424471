"""A full-batch step of linear attention: on moments against autograd on the sequences in memory.

Both sides make the same steps from the same start on the same set, all in float64, and must end in the same
weights.  The moments are computed once; what that costs is printed too.  The last rows give the other side
its best case: float32, and all heads summed into one tensor before they meet the data.
Run with `python benchmarks/moment_step.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from onset.papers.linattn.features import Moments, cubic_features, full_features
from onset.papers.linattn.losses import SetLoss
from onset.papers.linattn.models import Full, Reduced, Weights, descend
from onset.papers.linattn.raw import make_tokens, merge_heads, raw_loss
from onset.papers.linattn.starts import add_side_blocks, draw_start
from onset.papers.linattn.task import draw_sequences, label, open_streams
from onset.params.linattn import Task
from onset.randomness import Streams
from timing import describe_machine, report, report_ratio, seconds, time_alternating

P, HEADS, RATE, STEPS, REPEATS = 5000, 8, 0.02, 20, 5
TASK = Task(N=31, eigenvalues=[0.4, 0.3, 0.2, 0.1])
STREAMS = Streams(0, "benchmarks", "moment_step")


def summed_loss(weights: dict[str, Tensor], tokens: Tensor, target: Tensor) -> Tensor:
    """The same loss, with sum_i vt_i (x) Ut_i formed before the data are read."""
    value, key_query = merge_heads(weights)
    summed = torch.einsum("bha,bhcd->bdca", value, key_query)[0]
    at_query = (tokens[:, -1, :-1] @ summed.flatten(1)).view(-1, *summed.shape[1:])
    seen = tokens @ at_query  # (P, N+1, D+1)
    return ((seen * tokens).sum((1, 2)) / (tokens.shape[1] - 1) - target).square().mean()[None]


def step_raw(
    loss: Callable[..., Tensor], weights: dict[str, Tensor], trained: set[str], tokens: Tensor, target: Tensor
) -> None:
    """One step of gradient descent by autograd on the sequences, in place."""
    leaves = {name: weights[name].requires_grad_(name in trained) for name in weights}
    names = sorted(trained)
    gradients = torch.autograd.grad(loss(leaves, tokens, target).sum(), [leaves[name] for name in names])
    with torch.no_grad():
        for name, gradient in zip(names, gradients, strict=True):
            weights[name] -= RATE * gradient


def compare(model: str, full: bool) -> None:
    x, w = draw_sequences(open_streams(STREAMS), TASK, 0, 0, P)
    y = label(x, w)
    moments = Moments.empty(60 if full else 16)
    once = seconds(lambda: moments.add((full_features if full else cubic_features)(x, y), y[:, -1]))
    S, b, c = moments.mean()
    loss, program = SetLoss(S[None], b[None], np.array([c])), Full(4) if full else Reduced()
    tokens, target = make_tokens(torch.from_numpy(x), torch.from_numpy(y)), torch.from_numpy(y[:, -1].copy())

    def start() -> Weights:
        weights = draw_start(STREAMS, model, 4, HEADS, 1, 0.3, (0,))
        return add_side_blocks(weights) if full else weights

    trained = set(start())
    print(f"{model}, {'with' if full else 'without'} side blocks; moments once: {1e3 * once:.0f} ms")
    on_moments = start()
    on_sequences = {name: torch.from_numpy(array.copy()) for name, array in start().items()}
    if not full:  # the query token's x_q x_q^T/N and the input's values are seen by side blocks alone
        on_sequences |= {n: torch.from_numpy(a) for n, a in add_side_blocks(start()).items() if "side" in n}
    for _ in range(STEPS):
        descend(program, loss, on_moments, RATE)
        step_raw(raw_loss, on_sequences, trained, tokens, target)
    difference = max(
        float(np.abs(on_moments[name] - on_sequences[name].detach().numpy()).max()) for name in trained
    )
    print(f"  largest difference of a weight after {STEPS} steps, float64: {difference:.1e}")
    if not difference < 1e-10:
        raise SystemExit("both sides should agree to 1e-10")
    many = 100 * STEPS
    sides = {
        "raw, heads apart, float64": (raw_loss, torch.float64),
        "raw, heads summed, float64": (summed_loss, torch.float64),
        "raw, heads summed, float32": (summed_loss, torch.float32),
    }
    for name, (function, dtype) in sides.items():
        data = tokens.to(dtype), target.to(dtype)
        weights = {n: t.detach().to(dtype).clone() for n, t in on_sequences.items()}
        fast, slow = time_alternating(
            lambda: [descend(program, loss, on_moments, RATE) for _ in range(many)],
            lambda f=function, w=weights, d=data: [step_raw(f, w, trained, *d) for _ in range(STEPS)],
            REPEATS,
        )
        report("moments, float64", fast, many, "steps")
        report(name, slow, STEPS, "steps")
        report_ratio([time * many / STEPS for time in slow], fast)


def main() -> None:
    describe_machine()
    print(f"D=4, N=31, P={P}, H={HEADS}, one seed")
    for model in ("merged", "separate"):
        for full in (False, True):
            compare(model, full)


if __name__ == "__main__":
    main()
