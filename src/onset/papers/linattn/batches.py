"""Runs that one program trains together: a small model leaves a core idle, so members of many are stacked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from onset.papers.linattn.losses import Loss, join_losses
from onset.papers.linattn.models import Full, Reduced, Weights
from onset.papers.linattn.records import Records
from onset.papers.linattn.runs import Run

LARGEST = 1 << 16
"""Entries of all key-query weights that are stacked at most: more would not stay in the cache."""
RANKED = ("K", "Q", "k_side")
"""Weights whose third axis is the rank."""


@dataclass
class Batch:
    """Runs of one model and dimension, as one: members are the seeds of the first run, then of the next.

    Pairs of key and query that a run of lower rank lacks are zero.  They stay so, since the gradient of a key
    is proportional to its query and the other way round.
    """

    runs: list[Run]
    model: Reduced | Full
    loss: Loss
    weights: Weights
    learning_rate: np.ndarray | float
    dimension: int

    @property
    def rank(self) -> int:
        """Largest rank R of separate key and query, 0 of the other models."""
        return self.weights["K"].shape[2] if "K" in self.weights else 0

    def separate(self, records: Records, lost: np.ndarray) -> Iterator[tuple[Run, Records, np.ndarray]]:
        """Each run with the weights that the batch has now, its records, and its part of `lost` (B,)."""
        first = 0
        for run in self.runs:
            members, rank = slice(first, first + len(run.own.seeds)), run.rank
            weights = {
                name: array[members, :, :rank] if name in RANKED else array[members]
                for name, array in self.weights.items()
            }
            yield replace(run, weights=weights), records.take(members, rank), lost[members]
            first = members.stop


def stack_runs(runs: Sequence[Run]) -> list[Batch]:
    """Batches in the order of their first runs."""
    groups: dict[tuple, list[list[Run]]] = {}
    for run in runs:
        shapes = {name: array.shape for name, array in run.weights.items() if name not in RANKED}
        kind = (type(run.model), type(run.loss), run.dimension, run.rank > 0, tuple(shapes.items()))
        found = groups.setdefault(kind, [])
        if found and _count([*found[-1], run]) <= LARGEST:
            found[-1].append(run)
        else:
            found.append([run])
    return [_stack(group) for found in groups.values() for group in found]


def _count(runs: list[Run]) -> int:
    """Entries of the key-query weights of all members of all runs, ranks filled up to the largest."""
    largest = max(run.weights["K" if run.rank else "U"].size for run in runs)
    return len(runs) * largest


def _stack(runs: list[Run]) -> Batch:
    one = runs[0]
    if len(runs) == 1:
        return Batch(runs, one.model, one.loss, one.weights, one.own.learning_rate, one.dimension)
    rank, counts = max(run.rank for run in runs), [len(run.own.seeds) for run in runs]
    weights = {
        name: np.concatenate(
            [_fill(run.weights[name], rank) if name in RANKED else run.weights[name] for run in runs]
        )
        for name in one.weights
    }
    rates = np.repeat([run.own.learning_rate for run in runs], counts)
    loss = join_losses([run.loss for run in runs], counts)
    return Batch(runs, one.model, loss, weights, rates, one.dimension)


def _fill(array: np.ndarray, rank: int) -> np.ndarray:
    """The array (B, H, R, ...) with zeros up to the rank."""
    filled = np.zeros((*array.shape[:2], rank, *array.shape[3:]))
    filled[:, :, : array.shape[2]] = array
    return filled
