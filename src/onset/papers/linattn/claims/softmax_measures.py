"""What the claims about softmax attention measure (figure 5)."""

from __future__ import annotations

from onset.claims.claim import Measured
from onset.papers.linattn.claims.measures import Inputs, count_over_seeds, farthest_count, tally

PROMINENCE = 0.1
"""Training of softmax attention is noisier than the linear one, so that smaller peaks count as none."""


def merged_drops(inputs: Inputs) -> Measured:
    """Number of drops farthest from 1 of merged key-query."""
    counts = count_over_seeds(inputs["merged"].loss, PROMINENCE)
    return Measured(farthest_count(counts, 1), tally(counts))


def separate_drops(inputs: Inputs) -> Measured:
    """Least number of drops of separate key and query."""
    counts = count_over_seeds(inputs["separate"].loss, PROMINENCE)
    return Measured(float(counts.min()), tally(counts))
