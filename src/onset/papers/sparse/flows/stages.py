"""Stages of the full flow: when each feature is half learned, by which head, and where stages begin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from onset.papers.sparse.flows.features import Array


def find_half_times(times: Array, terms: Array) -> Array:
    """Times at which each loss term (time, ..., h) first is at half its start (..., h); NaN if it never is.

    Between records on a straight line.
    """
    share = terms / terms[0]
    reached = share <= 0.5
    after = np.maximum(reached.argmax(0), 1)
    high = np.take_along_axis(share, after[None] - 1, 0)[0]
    low = np.take_along_axis(share, after[None], 0)[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = times[after - 1] + (high - 0.5) / (high - low) * (times[after] - times[after - 1])
    return np.where(reached.any(0), found, np.nan)


def find_owners(contributions: Array) -> Array:
    """The head that delivers most of each feature (..., h) int, of contributions (..., heads, h).

    Attention does not tell: a head may keep looking where it delivers nothing.
    """
    return contributions.argmax(-2)


def find_boundaries(times: Array, descent: Array, half_times: Array) -> Array:
    """Recorded times (h-1,) at which stages 2..h begin: the closest approach to the saddle before each.

    That is where -dL/dt = |gradient|^2, given as descent (time,), is least between the half-times (h,) of the
    feature before and of the stage's own.  NaN where half-times do not increase or do not exist.
    """
    found = np.full(len(half_times) - 1, np.nan)
    for n, (begin, end) in enumerate(pairwise(half_times)):
        between = np.flatnonzero((times > begin) & (times < end))
        if len(between):
            found[n] = times[between[descent[between].argmin()]]
    return found
