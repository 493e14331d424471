"""What the claims about mixtures of in-context and in-weight sequences measure (figure 14)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.measures.drops import half_drop_step, map_curves
from onset.papers.linattn.claims.measures import Inputs
from onset.papers.linattn.selection import take_task
from onset.store.attributes import parameters_of

PUBLISHED = {"learning_rate": 0.0155, "init_std": 5.57e-6, "heads": 8}
"""Step, start and heads of the published runs, in the paper's units."""
TASK = "white_task"


def take_share(inputs: Inputs, share: float) -> xr.Dataset | None:
    """The runs at one share, or None where it was not trained."""
    runs = inputs["runs"]
    near = np.flatnonzero(np.isclose(runs.share.values, share))
    return runs.isel(share=int(near[0])) if len(near) else None


def mixed_shares(inputs: Inputs) -> list[float]:
    """Shares strictly between 0 and 1."""
    return [float(share) for share in inputs["runs"].share.values if 0 < share < 1]


def end_error(inputs: Inputs, share: float, loss: str, expected: str) -> Measured:
    """Distance of the median over seeds of a loss at the end from a number of the theory, over it."""
    runs = take_share(inputs, share)
    if runs is None:
        return Measured(None, absent=f"no share {share:g} at this scale")
    theory = take_task(inputs["theory"], TASK)
    level = float(theory.plateau_loss[-1] if expected == "floor" else theory[expected])
    ends = runs[loss].isel(epoch=-1).values.astype(np.float64)
    middle = float(np.median(ends))
    text = (
        f"median {middle:.4f} of {len(ends)} seeds, {ends.min():.4f} to {ends.max():.4f}; theory {level:.4f}"
    )
    return Measured(abs(middle / level - 1), text)


FALLEN = 0.1
"""Share of its first value by which the in-weight loss falls at least where in-weight learning is seen."""


def gained_noise(inputs: Inputs) -> Measured:
    """Distance of the rise of the in-weight loss at share 1 from the theory's, over that; median over seeds.

    Above each seed's own first loss, which is the mean square of its test targets; w_fix^T Lambda w_fix is
    their expectation, tr Lambda on white inputs.
    """
    runs = take_share(inputs, 1.0)
    if runs is None:
        return Measured(None, absent="no share 1 at this scale")
    theory, loss = take_task(inputs["theory"], TASK), runs.loss_in_weight.astype(np.float64)
    expected = float(theory.in_context_in_weight_loss - theory.eigenvalue.sum())
    rise = (loss.isel(epoch=-1) - loss.isel(epoch=0)).values
    text = f"median {np.median(rise):.4f} of {len(rise)} seeds, {rise.min():.4f} to {rise.max():.4f}"
    return Measured(abs(float(np.median(rise)) / expected - 1), f"{text}; theory {expected:.4f}")


def transience(inputs: Inputs) -> Measured:
    """Smallest over shares between 0 and 1 of the median over seeds of the regained in-weight loss.

    That is (last - least)/(first - least), and 0 where the loss never falls by FALLEN.
    """
    found, texts = {}, []
    for share in mixed_shares(inputs):
        loss = inputs["runs"].loss_in_weight.sel(share=share).astype(np.float64)
        first, least, last = loss.isel(epoch=0), loss.min("epoch"), loss.isel(epoch=-1)
        fallen = least < (1 - FALLEN) * first
        regained = ((last - least) / (first - least).where(fallen)).fillna(0.0)
        found[share] = float(regained.median())
        texts.append(f"p = {share:g}: {found[share]:.3f}, from {float(least.median()):.2g}")
    if not found:
        return Measured(None, absent="no share between 0 and 1 at this scale")
    return Measured(min(found.values()), "; ".join(texts))


def in_weight_first(inputs: Inputs) -> Measured:
    """Of all runs at shares between 0 and 1, the part whose in-weight loss falls before the in-context one.

    By the steps at which they are half-way to the least value that each reaches.
    """
    earlier = []
    for share in mixed_shares(inputs):
        one = inputs["runs"].sel(share=share)
        in_weight = map_curves(one.loss_in_weight, half_drop_step).values
        earlier.append(in_weight < map_curves(one.loss_in_context, half_drop_step).values)
    if not earlier:
        return Measured(None, absent="no share between 0 and 1 at this scale")
    found = np.concatenate(earlier)
    return Measured(float(found.mean()), f"{int(found.sum())} of {len(found)} runs")


def _published(inputs: Inputs) -> str:
    """Why numbers of the published setting do not apply; empty where they do."""
    own = parameters_of(inputs["runs"]).get("own", {})
    changed = [name for name, value in PUBLISHED.items() if not np.isclose(own.get(name, value), value)]
    return f"{', '.join(changed)} differ from the published setting" if changed else ""


def compare_published(inputs: Inputs, measure: str, expected: Mapping[float, float]) -> Measured:
    """Largest over shares of |median over seeds/expected - 1| of one number of the curves.

    `measure` is a name in _MEASURES.
    """
    if reason := _published(inputs):
        return Measured(None, absent=reason)
    errors, texts = [], []
    for share, wanted in expected.items():
        runs = take_share(inputs, share)
        if runs is None:
            continue
        found = float(np.nanmedian(_MEASURES[measure](runs)))
        errors.append(abs(found / wanted - 1))
        texts.append(f"p = {share:g}: {found:.4g}, expected {wanted:g}")
    if not errors:
        return Measured(None, absent="none of the shares at this scale")
    return Measured(max(errors), "; ".join(texts))


_MEASURES = {
    "in_weight_least": lambda runs: runs.loss_in_weight.min("epoch").values,
    "in_weight_least_step": lambda runs: runs.loss_in_weight.idxmin("epoch").values,
    "in_context_peak": lambda runs: runs.loss_in_context.max("epoch").values,
    "in_context_end": lambda runs: runs.loss_in_context.isel(epoch=-1).values,
    "half_drop": lambda runs: map_curves(runs.loss, half_drop_step).values,
}


def _count_falls(inputs: Inputs, measure: str, shares: list[float]) -> Measured:
    """Seeds and neighbouring shares at which a number of the curves does not rise with the share."""
    found = np.stack([_MEASURES[measure](inputs["runs"].sel(share=share)) for share in shares])
    rises = np.diff(found, axis=0) > 0
    each = ", ".join(f"p = {p:g}: {np.nanmedian(now):.4g}" for p, now in zip(shares, found, strict=True))
    return Measured(float(np.sum(~rises)), f"of {rises.size} pairs; medians {each}")


def later_with_share(inputs: Inputs, first: float = 0.4) -> Measured:
    """Pairs of neighbouring shares from `first` up, of one seed, whose half-way steps do not rise."""
    shares = sorted(float(share) for share in inputs["runs"].share.values if share >= first - 1e-9)
    if len(shares) < 2:
        return Measured(None, absent=f"fewer than two shares from {first:g} up at this scale")
    return _count_falls(inputs, "half_drop", shares)


def less_in_weight(inputs: Inputs) -> Measured:
    """Pairs of neighbouring shares below 1, of one seed, whose least in-weight losses do not rise."""
    shares = sorted(float(share) for share in inputs["runs"].share.values if share < 1)
    if len(shares) < 2:
        return Measured(None, absent="fewer than two shares below 1 at this scale")
    return _count_falls(inputs, "in_weight_least", shares)
