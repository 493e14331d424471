"""Training of linear attention: 32 seeds in one program against one after the other.

Both sides make the same steps on the same moments, float64, and must end in the same weights.
Run with `python benchmarks/batched_seeds.py`.
"""

from __future__ import annotations

import numpy as np

from onset.job.context import Job
from onset.papers.linattn.losses import Loss, PopulationLoss, SetLoss
from onset.papers.linattn.models import Full, Reduced, Weights, descend
from onset.papers.linattn.sets import draw_sets
from onset.papers.linattn.spectrum import list_eigenvalues, square_context_covariance
from onset.papers.linattn.starts import add_side_blocks, draw_start
from onset.params.linattn import NextToken, Sets, Task
from onset.randomness import Streams
from timing import describe_machine, report, report_ratio, time_alternating

SEEDS, STEPS, REPEATS = 32, 300, 5
TASK = Task(N=31, eigenvalues=[0.4, 0.3, 0.2, 0.1])
STREAMS = Streams(0, "benchmarks", "batched_seeds")


def run(program: Reduced | Full, loss: Loss, weights: Weights) -> Weights:
    """The weights after `STEPS` steps; the given ones are left alone."""
    weights = {name: array.copy() for name, array in weights.items()}
    for _ in range(STEPS):
        descend(program, loss, weights, 0.05)
    return weights


def take_one(loss: Loss, seed: int) -> Loss:
    """The loss of one seed."""
    if isinstance(loss, SetLoss):
        return SetLoss(*(part[seed : seed + 1] for part in (loss.S, loss.b, loss.c)))
    return loss


def compare(title: str, program: Reduced | Full, loss: Loss, weights: Weights) -> None:
    """Print both rates, their ratio and the largest difference of the final weights."""
    alone = [{name: array[i : i + 1] for name, array in weights.items()} for i in range(SEEDS)]
    losses = [take_one(loss, i) for i in range(SEEDS)]

    def one_by_one() -> list[Weights]:
        return [run(program, one, start) for one, start in zip(losses, alone, strict=True)]

    together, singly = run(program, loss, weights), one_by_one()
    difference = max(
        float(np.abs(together[name][i] - one[name][0]).max()) for i, one in enumerate(singly) for name in one
    )
    print(f"{title}\n  largest difference of a final weight, float64: {difference:.1e}")
    if not difference < 1e-10:
        raise SystemExit("both sides should agree to 1e-10")
    batched, single = time_alternating(lambda: run(program, loss, weights), one_by_one, REPEATS)
    report("batched", batched, SEEDS * STEPS, "seed-steps")
    report("one by one", single, SEEDS * STEPS, "seed-steps")
    report_ratio(single, batched)


def main() -> None:
    describe_machine()
    sections = {"task": TASK, "next_token": NextToken(scaling="tokens")}
    own = Sets(samples=(1000,), seeds=SEEDS, side_blocks=True, next_token=False)
    sets = draw_sets(Job("benchmarks", "batched_seeds", "", "", own, sections, streams=STREAMS)).isel(P=0)
    eigenvalues = list_eigenvalues(TASK)
    population = PopulationLoss(eigenvalues, square_context_covariance(eigenvalues, TASK.N))
    reduced = SetLoss(*(sets[f"{letter}_reduced"].values for letter in "Sbc"))
    full = SetLoss(*(sets[letter].values for letter in "Sbc"))
    seeds = range(SEEDS)
    print(f"D=4, N=31, {SEEDS} seeds, {STEPS} steps")
    for model, heads in (("separate", 5), ("merged", 8)):
        weights = draw_start(STREAMS, model, 4, heads, 1, 0.1, seeds)
        compare(f"{model}, H={heads}, a set", Reduced(), reduced, weights)
        compare(f"{model}, H={heads}, the population", Reduced(), population, weights)
        compare(f"{model}, H={heads}, a set, side blocks", Full(4), full, add_side_blocks(weights))


if __name__ == "__main__":
    main()
