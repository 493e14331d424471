"""Gradient of the copy head's misfit: from pair statistics against autograd on the sequences in memory.

Both give the gradient of 32 heads on the same P sequences, in whitened parameters.  The autograd side
multiplies all sequences by all heads in one matrix product.  Run with `python benchmarks/gram_gradient.py`.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from onset.papers.copyhead.gram import count_pairs
from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.task import draw_tokens
from onset.randomness import Streams
from timing import describe_machine, report, report_ratio, time_alternating

CHAINS, CALLS, REPEATS = 32, 10, 7
STREAMS = Streams(0, "benchmarks", "gram_gradient")


def autograd_gradient(
    head: CopyHead, X: Tensor, Y: Tensor, parameters: dict[str, Tensor]
) -> dict[str, Tensor]:
    """By autograd; X and Y are (L, P, V), inputs and targets of all sequences as one-hot rows."""
    leaves = {name: tensor.detach().requires_grad_() for name, tensor in parameters.items()}
    A, W = head.actual(leaves)
    L, P, V = X.shape
    attended = (A.view(CHAINS * L, L) @ X.view(L, P * V)).view(CHAINS, L * P, V)
    residual = torch.bmm(attended, W.view(CHAINS, V, V)).view(CHAINS, L, P, V) - Y
    misfit = residual.square().sum() / (2 * head.sigma2)
    return dict(zip(leaves, torch.autograd.grad(misfit, list(leaves.values())), strict=True))


def compare(head: CopyHead, P: int) -> None:
    tokens = draw_tokens(STREAMS, P, head.L, head.V)
    sides = {}
    for dtype in (torch.float64, torch.float32):
        gram = count_pairs(tokens, (P,), head.V, dtype)
        X = torch.eye(head.V, dtype=dtype)[tokens.T.astype(np.int64)].contiguous()
        Y = X.roll(1, 0)
        parameters = head.prior_state(STREAMS, tuple(range(CHAINS)), (P,), dtype)
        sides = {
            "pair statistics": lambda g=gram, p=parameters: head.misfit_gradient(g, p),
            "autograd on sequences": lambda x=X, y=Y, p=parameters: autograd_gradient(head, x, y, p),
        }
        explicit, direct = (work() for work in sides.values())
        scale = max(float(direct[name].abs().max()) for name in direct)
        difference = max(float((explicit[name] - direct[name]).abs().max()) for name in direct) / scale
        print(f"  largest difference over largest entry, {dtype}: {difference:.1e}")
        if not difference < (1e-12 if dtype == torch.float64 else 1e-4):
            raise SystemExit("both sides should agree to rounding")
    fast, slow = time_alternating(
        *[lambda work=work: [work() for _ in range(CALLS)] for work in sides.values()], REPEATS
    )
    for label, times in zip(sides, (fast, slow), strict=True):
        report(label, times, CHAINS * CALLS, "gradients")
    report_ratio(slow, fast)


def main() -> None:
    describe_machine()
    for L, P in ((16, 100), (16, 400), (24, 100), (24, 400)):
        print(f"softmax attention, L={L}, V=8, P={P}, {CHAINS} heads")
        compare(CopyHead("softmax", L, V=8, g_OV=0.03, v=1.0, sigma2=0.5), P)


if __name__ == "__main__":
    main()
