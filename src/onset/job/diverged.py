"""When members of a batch diverge: the error that names them, and what it hands over to be kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onset.errors import OnsetError

if TYPE_CHECKING:
    from onset.job.context import Result


@dataclass(frozen=True)
class Kept:
    """What finished of an experiment, and the change of its section that asks for just that.

    `change` is laid over the section as the overlay of a scale is, so {"seeds": [0, 1, 3]} or
    {"runs": {"wild": None}}; `result` is what the callable returns for the section so changed.
    """

    change: Mapping[str, Any]
    result: Result


class Diverged(OnsetError):
    """Some members of a batch diverged; the message names them, with the step, and `kept` is the rest.

    The pipeline writes each part of `kept` into the store under the recipe that the changed section has, and
    says so: who makes the change finds these members finished.  Raise it once all others have finished.
    """

    def __init__(self, message: str, kept: Sequence[Kept] = ()) -> None:
        super().__init__(message)
        self.kept = tuple(kept)


LARGEST = float(np.finfo(np.float32).max)
"""What is larger than this counts as not finite: results are kept in float32."""


def note_lost(after: np.ndarray, loss: np.ndarray, steps: int) -> None:
    """Put `steps` into `after` (...) where the loss (...) is not finite and `after` is still -1, in place."""
    sound = np.abs(loss) <= LARGEST
    if not sound.all():
        after[~sound & (after < 0)] = steps


def spell_lost(names: Sequence[str], after: np.ndarray, shown: int = 8) -> str:
    """The members (B,) that are lost, by name, and after how many steps; at most `shown` names for each."""
    told = []
    for steps in np.unique(after[after >= 0]):
        lost = [name for name, k in zip(names, after, strict=True) if k == steps]
        if len(lost) > shown:
            lost = [*lost[: shown - 1], f"{len(lost) - shown + 1} others"]
        listed = f"{', '.join(lost[:-1])} and {lost[-1]}" if len(lost) > 1 else lost[0]
        told.append(f"{listed} is not finite after {steps} steps")
    return ", ".join(told)


def list_survivors(lost: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """Rows and columns of the parts of a table lost (runs, seeds) in which nothing is lost.

    First without the runs that are lost altogether and the seeds lost in any other, then without every run
    that lost a seed, where that is something else; a part with nothing in it is left out.
    """
    rows = np.flatnonzero(~lost.all(1))
    columns = np.flatnonzero(~lost[rows].any(0))
    clean = np.flatnonzero(~lost.any(1))
    parts = [(rows.tolist(), columns.tolist()), (clean.tolist(), list(range(lost.shape[1])))]
    return [part for i, part in enumerate(parts) if all(part) and part not in parts[:i]]
