"""Langevin chains of the copy head: 64 in one tensor program against one after the other.

Both sides run the same sampler on the same data with the same noise, drawing it included, and must end in
the same states.  Run with `python benchmarks/batched_chains.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from onset.job.context import Job
from onset.papers.copyhead.collapsed import integrated_gradient
from onset.papers.copyhead.gram import Gram, count_pairs
from onset.papers.copyhead.model import CopyHead
from onset.papers.copyhead.task import draw_tokens
from onset.randomness import Streams
from onset.sampling.sgld import sample_sgld
from timing import describe_machine, report, report_ratio, time_alternating

CHAINS, P, STEPS, REPEATS = 64, 60, 100, 5
STREAMS = Streams(0, "benchmarks", "batched_chains")


def run(head: CopyHead, gram: Gram, chains: Sequence[int], integrated: bool = False) -> dict[str, Tensor]:
    """Final parameters of these chains, run together from the prior (`integrated`: the collapsed sampler)."""
    parameters = head.prior_state(STREAMS, tuple(chains), (P,), gram.pairs.dtype)
    gradient = head.misfit_gradient
    if integrated:
        del parameters["W"]
        gradient = partial(integrated_gradient, head)
    sample_sgld(
        Job("benchmarks", "batched_chains", "", "", own=None, streams=STREAMS),
        parameters,
        {"chain": chains, "P": (P,)},
        lambda state: gradient(gram, state),
        step_size=0.02,
        steps=STEPS,
        record=lambda k: None,
        record_at=(),
        carried={},
    )
    return parameters


def run_one_by_one(
    head: CopyHead, gram: Gram, chains: Sequence[int], integrated: bool = False
) -> dict[str, Tensor]:
    """The same chains, each alone."""
    alone = [run(head, gram, (chain,), integrated) for chain in chains]
    return {name: torch.cat([parameters[name] for parameters in alone]) for name in alone[0]}


def compare(head: CopyHead, integrated: bool = False) -> None:
    """Print both rates, their ratio and the largest difference of the final states."""
    chains = range(CHAINS)
    tokens = draw_tokens(STREAMS, P, head.L, head.V)
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-3)):
        gram = count_pairs(tokens, (P,), head.V, dtype)
        sides = run(head, gram, chains, integrated), run_one_by_one(head, gram, chains, integrated)
        together, alone = sides
        difference = max(float((together[name] - alone[name]).abs().max()) for name in together)
        print(f"  largest difference of a final parameter, {dtype}: {difference:.1e}")
        if not difference < tolerance:
            raise SystemExit(f"both sides should agree to {tolerance:g}")
    batched, single = time_alternating(
        lambda: run(head, gram, chains, integrated),
        lambda: run_one_by_one(head, gram, chains, integrated),
        REPEATS,
    )
    report("batched", batched, CHAINS * STEPS, "chain-steps")
    report("one by one", single, CHAINS * STEPS, "chain-steps")
    report_ratio(single, batched)


def main() -> None:
    describe_machine()
    for attention, L in (("softmax", 16), ("softmax", 24), ("linear", 24)):
        print(f"{attention} attention, L={L}, V=8, P={P}, {CHAINS} chains, {STEPS} steps")
        compare(CopyHead(attention, L, V=8, g_OV=0.03, v=1.0, sigma2=0.5))
    print(f"collapsed sampler, softmax attention, L=24, V=8, P={P}, {CHAINS} chains, {STEPS} steps")
    compare(CopyHead("softmax", 24, V=8, g_OV=0.03, v=1.0, sigma2=0.5), integrated=True)
    print(
        f"queries and keys of width 32, softmax attention, L=24, V=8, P={P}, {CHAINS} chains, {STEPS} steps"
    )
    compare(CopyHead("softmax", 24, V=8, g_OV=0.03, v=1.0, sigma2=0.5, d_k=32))


if __name__ == "__main__":
    main()
