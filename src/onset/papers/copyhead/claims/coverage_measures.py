"""What the claims about coverage measure: attention in the plane of both order parameters (figure 5)."""

from __future__ import annotations

from collections.abc import Mapping

import xarray as xr

from onset.claims.claim import Measured
from onset.papers.copyhead import coverage
from onset.papers.copyhead.claims.linear_measures import dressed_onset
from onset.papers.copyhead.claims.measures import take_largest
from onset.papers.copyhead.claims.softmax_window import single_phase
from onset.papers.copyhead.claims.stage_measures import as_linear, as_softmax
from onset.papers.copyhead.coverage import align_with_theory, free_seeds, mean_attention
from onset.papers.copyhead.selection import signed_means

Inputs = Mapping[str, xr.Dataset]

ADAM_FROM = 1.04
CHAINS_FROM = 1.19
"""Multiples of the dressed onset from which Adam's attention, and the mean of chains, are asked to lie in the
plane: below, an order parameter of about 0 is divided by noise."""


def take_smallest(values: xr.DataArray, where: xr.DataArray, region: str) -> Measured:
    """The smallest of `values` (P,) over the P of a region."""
    found = take_largest(-values, where, region)
    if found.absent or found.value is None:
        return found
    return Measured(-found.value, found.detail.replace("largest", "smallest"))


def _above(inputs: Inputs, P: xr.DataArray, kind: str, multiple: float) -> tuple[xr.DataArray, str]:
    if kind == "softmax":
        return P > 0, "of the grid"
    return P / dressed_onset(as_linear(inputs)) >= multiple, f"above {multiple} of the onset"


def adam_coverage(inputs: Inputs, kind: str) -> Measured:
    """Smallest share of |A| in the plane, over P and the seeds of Adam that enter means."""
    every = coverage.cover_attention(inputs[f"{kind}_adam"].attention)
    shares = every.where(free_seeds(inputs, kind)).min("seed")
    return take_smallest(shares, *_above(inputs, shares.P, kind, ADAM_FROM))


def adam_cosine(inputs: Inputs, kind: str) -> Measured:
    """Smallest cosine of Adam's attention with the dressed theory's matrix, over P and seeds in means.

    Softmax attention is compared outside the coexistence window.
    """
    attention = inputs[f"{kind}_adam"].attention
    if kind == "softmax":
        aG = single_phase(as_softmax(inputs), "aG", attention.P)
        cosine = coverage.align_attention(attention, xr.ones_like(aG), aG).min("seed")
        return take_smallest(cosine, aG.notnull(), "outside the coexistence window")
    cosine = align_with_theory(inputs, kind, attention).where(free_seeds(inputs, kind)).min("seed")
    return take_smallest(cosine, *_above(inputs, cosine.P, kind, ADAM_FROM))


def chains_coverage(inputs: Inputs, kind: str) -> Measured:
    """Smallest share of |A| in the plane, of the attention averaged over steps and free chains."""
    shares = coverage.cover_attention(mean_attention(inputs, kind))
    return take_smallest(shares, *_above(inputs, shares.P, kind, CHAINS_FROM))


def sample_coverage(inputs: Inputs, kind: str) -> Measured:
    """Largest difference of a single sample's share of |A| in the plane from the dressed theory's.

    Linear: from its mean at finite size, at every P; softmax: from its one branch outside the window.
    """
    if kind == "linear":
        free = signed_means(inputs["linear_sgld"]).free
        shares = coverage.cover_samples(inputs["linear_sgld"], kind, free)
        expected = inputs["linear_theory"].coverage_mean.interp(P_finite=shares.P.values).values
        return take_largest(abs(shares - expected), shares.P > 0, "of the grid")
    shares = coverage.cover_samples(inputs["softmax_sgld"], kind)
    branch = single_phase(as_softmax(inputs), "coverage", shares.P)
    return take_largest(abs(shares - branch.values), branch.notnull(), "outside the coexistence window")
