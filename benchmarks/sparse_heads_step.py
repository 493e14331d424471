"""A training step of the minimal transformer: tables and fused heads against a loop over heads.

Both sides start from the same weights, see the same sequences and make AdamW steps by torch's fused kernel;
they must end in the same weights (float64).  The plain side writes one-hot tokens and positions out, computes
one head after the other, all positions, and leaves the gradient to autograd.  Sequences are drawn beforehand.
Run with `python benchmarks/sparse_heads_step.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from onset.ensemble.adamw import AdamW
from onset.papers.sparse.models.minimal import Minimal
from onset.papers.sparse.models.shape import Shape
from onset.papers.sparse.models.start import draw_start
from onset.randomness import Streams
from timing import describe_machine, report, report_ratio, time_alternating

STREAMS = Streams(0, "benchmarks", "sparse_heads_step")
STEPS, REPEATS, RATE = 5, 9, 0.08
SIZES = (  # symbols, input positions, queries, batch
    ("small scale", 20, 15, 10, 128),
    ("paper's chain", 50, 25, 20, 512),
    ("paper's chain and batch", 50, 25, 20, 3000),
)

Weights = dict[str, Tensor]
Differentiate = Callable[[Mapping[str, Tensor], Tensor], Mapping[str, Tensor]]


def differentiate_plainly(shape: Shape, parameters: Mapping[str, Tensor], tokens: Tensor) -> Weights:
    """Gradient of the mean cross-entropy, one head after the other."""
    leaves = {name: tensor.detach().requires_grad_() for name, tensor in parameters.items()}
    A, V = leaves["blocks.0.A"], leaves["blocks.0.V"]
    L, T = shape.length, shape.queries
    positions = torch.eye(L, dtype=A.dtype).expand(len(tokens), L, L)
    x = torch.cat([one_hot(tokens[:, :-1], shape.d).to(A.dtype), positions], -1)
    mask = torch.full((L, L), -torch.inf, dtype=A.dtype).triu_(1)
    logits = torch.zeros((), dtype=A.dtype)
    for h in range(shape.heads):
        scores = (x @ A[h]) @ x.transpose(1, 2) / shape.inputs**0.5 + mask
        logits = logits + torch.softmax(scores, -1) @ (x @ V[h].T)
    loss = cross_entropy(logits[:, -T:].flatten(0, 1), tokens[:, -T:].flatten())
    return dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values())), strict=True))


def train(start: Weights, tokens: Tensor, differentiate: Differentiate) -> Weights:
    """Weights after `STEPS` steps; the given ones are left alone."""
    weights = {name: tensor.clone() for name, tensor in start.items()}
    optimiser = AdamW(weights)
    for _ in range(STEPS):
        optimiser.step(differentiate(weights, tokens), RATE)
    return weights


def compare(title: str, shape: Shape, batch: int) -> None:
    """Print the rates of both sides and their ratio in both precisions; stop where they disagree."""
    model = Minimal(shape)
    generator = STREAMS.generator("tokens")
    tokens = torch.from_numpy(generator.integers(0, shape.d, (batch, shape.length + 1)))
    drawn = draw_start(STREAMS, model.weights, [0])
    for dtype in (torch.float64, torch.float32):
        start = {name: torch.from_numpy(values[0]).to(dtype) for name, values in drawn.items()}

        def fused(start: Weights = start) -> Weights:
            return train(start, tokens, lambda weights, x: model.differentiate(weights, x)[1])

        def plain(start: Weights = start) -> Weights:
            return train(start, tokens, lambda weights, x: differentiate_plainly(shape, weights, x))

        print(f"{title}: d={shape.d}, {shape.heads} heads, {batch} sequences, {str(dtype).split('.')[1]}")
        if dtype == torch.float64:
            found, expected = fused(), plain()
            difference = max(float((found[name] - expected[name]).abs().max()) for name in found)
            print(f"  largest difference of a weight after {STEPS} steps: {difference:.1e}")
            if not difference < 1e-8:
                raise SystemExit("both sides should agree to 1e-8")
        repeats = REPEATS if batch < 1000 else 3
        times = time_alternating(fused, plain, repeats)
        for label, one in zip(("tables and fused heads", "a loop over heads"), times, strict=True):
            report(label, one, STEPS * batch, "sequences")
        report_ratio(times[1], times[0])


def main() -> None:
    describe_machine()
    for title, d, length, queries, batch in SIZES:
        compare(title, Shape(d, length, queries, layers=1, heads=3), batch)


if __name__ == "__main__":
    main()
