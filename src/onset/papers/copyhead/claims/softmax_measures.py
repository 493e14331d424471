"""What the claims about softmax attention measure (figure 4)."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.copyhead.claims.measures import (
    agree_chains,
    compare_means,
    compare_rows,
    list_P,
    take_largest,
)
from onset.papers.copyhead.claims.softmax_window import (
    Inputs,
    barrier_too_low,
    bracket_transition,
    halfway,
    inside_window,
    outside_window,
    share_copying,
    single_phase,
    transition_missing,
)
from onset.papers.copyhead.selection import kept_means, theory_at

OUTSIDE = "outside the coexistence window"
DISAGREEING = 1.5
"""R-hat from which chains are plainly not of one distribution."""


def unit_row_sums(inputs: Inputs) -> Measured:
    """Largest |a1 - 1| over every record of every chain and seed."""
    worst = {
        role: float(abs(inputs[role].a1.astype(np.float64) - 1).max())
        for role in ("from_prior", "from_copy", "adam")
    }
    return Measured(max(worst.values()), f"{sum(inputs[role].a1.size for role in worst)} records")


def phase_means(inputs: Inputs, name: str, tolerance: float) -> Measured:
    """Largest difference between chains from the prior and the dressed theory, outside the window."""
    means = kept_means(inputs["from_prior"][name])
    expected = single_phase(inputs, name, means.P)
    return compare_means(means, expected, expected.notnull(), OUTSIDE, tolerance)


def starts_agree(inputs: Inputs) -> Measured:
    """Largest difference of the mean aG between the two starts, outside the window."""
    prior, copy = (kept_means(inputs[start].aG).mean("chain") for start in ("from_prior", "from_copy"))
    difference = abs(prior - copy)
    below, above = outside_window(inputs, difference.P)
    return take_largest(difference, below | above, OUTSIDE)


def bare_excess(inputs: Inputs) -> Measured:
    """Smallest excess of the bare copy branch over the mean aG of chains, above the window."""
    means = kept_means(inputs["from_prior"].aG).mean("chain")
    bare = theory_at(inputs["theory"].aG.sel(theory="bare", branch="copy"), means.P)
    _, above = outside_window(inputs, means.P)
    found = take_largest(means - bare.values, above, "above the window")
    return (
        found
        if found.absent
        else Measured(-(found.value or 0.0), found.detail.replace("largest", "smallest"))
    )


def transition_outside_bracket(inputs: Inputs) -> Measured:
    """Distance of the dressed P_c from the bracket that the two starts set; 0 inside."""
    if reason := transition_missing(inputs):
        return Measured(None, undecided=reason)
    bracket, P_c = bracket_transition(inputs), float(inputs["theory"].P_c.sel(theory="dressed"))
    if bracket is None:
        return Measured(None, absent="the sampled grid does not reach both phases")
    low, high = bracket
    wide = f"the bracket is wider than half of P_c = {P_c:.1f}" if high - low > 0.5 * P_c else ""
    distance = max(low - P_c, P_c - high, 0.0)
    return Measured(distance, f"P_c = {P_c:.2f}; bracket {low:g} to {high:g}", undecided=wide)


def bare_transition_too_low(inputs: Inputs) -> Measured:
    """Largest P at which chains from copying mostly lose it, less the bare P_c.

    Undecided where the bare P_c lies between that P and the next sampled one, at which they keep it.
    """
    bracket, P_c = bracket_transition(inputs), float(inputs["theory"].P_c.sel(theory="bare"))
    if bracket is None or not np.isfinite(P_c):
        return Measured(None, absent="no bare transition, or a grid that does not reach both phases")
    lost = bracket[0]
    sampled = inputs["from_copy"].P.values
    kept = float(min(sampled[sampled > lost], default=np.inf))
    between = f"copying is lost between P = {lost:g} and {kept:g}" if lost < P_c <= kept else ""
    return Measured(lost - P_c, f"bare P_c = {P_c:.2f}; copying is lost up to P = {lost:g}", between)


def jump_at_transition(inputs: Inputs) -> Measured:
    """Difference of aG between the two dressed phases at P_c."""
    if reason := transition_missing(inputs):
        return Measured(None, undecided=reason)
    uniform, copy = inputs["theory"].aG_at_P_c.sel(theory="dressed", branch=["uniform", "copy"]).values
    return Measured(float(copy - uniform), f"from {uniform:.3f} to {copy:.3f}")


def records_between(inputs: Inputs) -> Measured:
    """Largest share, over starts and P, of kept records in the middle half of the gap between the phases."""
    if reason := transition_missing(inputs):
        return Measured(None, undecided=reason)
    uniform, copy = inputs["theory"].aG_at_P_c.sel(theory="dressed", branch=["uniform", "copy"]).values
    low, high = uniform + (copy - uniform) / 4, copy - (copy - uniform) / 4
    aG = {start: inputs[start].aG for start in ("from_prior", "from_copy")}
    if int(inside_window(inputs, aG["from_prior"].P).sum()) < 3:
        return Measured(None, absent="fewer than 3 sampled P in the coexistence window")
    shares = [kept_means(((a > low) & (a < high)).astype(np.float64)).mean("chain") for a in aG.values()]
    found = take_largest(xr.concat(shares, "start").max("start"), shares[0].P > 0, "of the grid")
    return Measured(found.value, f"aG from {low:.2f} to {high:.2f}; {found.detail}")


def copying_lost(inputs: Inputs) -> Measured:
    """Largest share of copying records of chains from copying, at P below 0.95 of the lower spinodal."""
    if reason := transition_missing(inputs):
        return Measured(None, undecided=reason)
    share = share_copying(inputs, "from_copy")
    below = share.P / float(inputs["theory"].P_lower.sel(theory="dressed")) < 0.95
    return take_largest(share, below, "below the lower spinodal")


def uniform_lost(inputs: Inputs) -> Measured:
    """Largest share of uniform records of chains from the prior, well above the upper spinodal."""
    if reason := transition_missing(inputs):
        return Measured(None, undecided=reason)
    share = share_copying(inputs, "from_prior")
    return take_largest(1 - share, outside_window(inputs, share.P)[1], "above the upper spinodal")


def pure_in_both(inputs: Inputs) -> Measured:
    """Number of sampled P in the window at which each start stays in its own phase (95 % of records)."""
    copying, prior = (share_copying(inputs, start) for start in ("from_copy", "from_prior"))
    inside = inside_window(inputs, copying.P)
    if reason := transition_missing(inputs):
        return Measured(None, undecided=reason)
    if int(inside.sum()) < 4:
        return Measured(None, absent="fewer than 4 sampled P in the coexistence window")
    pure = inside & (copying >= 0.95) & (prior <= 0.05)
    where = list_P(pure.P.values[pure.values]) if pure.any() else "none"
    return Measured(
        float(pure.sum()), f"{where} of {int(inside.sum())} in the window", barrier_too_low(inputs)
    )


def adam_against_map(inputs: Inputs) -> Measured:
    """Largest difference between Adam's mean aG and the MAP copy branch, above the window."""
    final = inputs["adam"].aG.isel(epoch=-1).astype(np.float64).mean("seed")
    branch = theory_at(inputs["theory"].aG.sel(theory="map", branch="copy"), final.P)
    return take_largest(abs(final - branch.values), outside_window(inputs, final.P)[1], "above the window")


def adam_against_sgld(inputs: Inputs) -> Measured:
    """Largest difference of the mean aG between Adam and chains from the prior, above the window."""
    final = inputs["adam"].aG.isel(epoch=-1).astype(np.float64).mean("seed")
    difference = abs(final - kept_means(inputs["from_prior"].aG).mean("chain"))  # xarray keeps the common P
    return take_largest(difference, outside_window(inputs, difference.P)[1], "above the window")


def bracket_adam(inputs: Inputs) -> tuple[float, float] | None:
    """Neighbouring P between which Adam's mean aG first passes halfway; None where it does not."""
    final = inputs["adam"].aG.isel(epoch=-1).mean("seed")
    copying = np.flatnonzero(final.values > halfway(inputs))
    if len(copying) == 0 or copying[0] == 0:
        return None
    return float(final.P[copying[0] - 1]), float(final.P[copying[0]])


def adam_onset(inputs: Inputs) -> Measured:
    """Where Adam begins to copy over the bare upper spinodal: the nearest P of the bracket, 1 inside it."""
    bracket, upper = bracket_adam(inputs), float(inputs["theory"].P_upper.sel(theory="bare"))
    if bracket is None or not np.isfinite(upper):
        return Measured(None, absent="no bare spinodal, or a grid without both of Adam's phases")
    nearest = float(np.clip(upper, *bracket))
    return Measured(nearest / upper, f"between {list_P(bracket)}; upper spinodal {upper:.1f}")


def adam_jump(inputs: Inputs) -> Measured:
    """Rise of Adam's mean aG between the neighbouring P where it begins to copy."""
    bracket = bracket_adam(inputs)
    if bracket is None:
        return Measured(None, absent="a grid without both of Adam's phases")
    final = inputs["adam"].aG.isel(epoch=-1).astype(np.float64).mean("seed").sel(P=list(bracket))
    return Measured(float(final[1] - final[0]), f"from {final[0]:.3f} to {final[1]:.3f}, {list_P(bracket)}")


def adam_spread(inputs: Inputs) -> Measured:
    """Largest spread of the final aG over seeds, at P not within a tenth of the bare upper spinodal."""
    final = inputs["adam"].aG.isel(epoch=-1).astype(np.float64)
    upper = float(inputs["theory"].P_upper.sel(theory="bare"))
    away = abs(final.P - upper) > 0.1 * upper if np.isfinite(upper) else final.P > 0
    return take_largest(final.max("seed") - final.min("seed"), away, "away from the upper spinodal")


def equivalent_rows(inputs: Inputs) -> Measured:
    """Spread over rows of the averaged copy entry, outside the window, chains from the prior."""
    below, above = outside_window(inputs, inputs["from_prior"].P)
    return compare_rows(inputs["from_prior"], below | above, OUTSIDE)


def chains_agree(inputs: Inputs) -> Measured:
    """Largest R-hat of aG over both starts, outside the window."""
    found = []
    for start in ("from_prior", "from_copy"):
        below, above = outside_window(inputs, inputs[start].P)
        found.append(agree_chains(inputs[start], "aG", below | above, OUTSIDE))
    return max(found, key=lambda measured: -1.0 if measured.value is None else measured.value)


def phases_disagree(inputs: Inputs) -> Measured:
    """Largest split R-hat of aG, inside the window, over the chains of both starts together.

    Undecided where it is not large, but the barrier is so low that chains cross it within a run.
    """
    if reason := transition_missing(inputs):
        return Measured(None, undecided=reason)
    starts = [inputs[start].aG for start in ("from_prior", "from_copy")]
    kept = [aG.isel(step=np.flatnonzero(aG["kept"].values)).astype(np.float64) for aG in starts]
    both = xr.concat(kept, "chain", join="inner", coords="minimal", compat="override")
    found = take_largest(split_r_hat(both), inside_window(inputs, both.P), "in the coexistence window")
    low = found.value is not None and found.value < DISAGREEING
    return Measured(found.value, found.detail, barrier_too_low(inputs) if low else "", found.absent)


def split_r_hat(draws: xr.DataArray) -> xr.DataArray:
    """Gelman and Rubin's R-hat of draws (chain, P, step) with every chain split into halves: (P,)."""
    n = draws.sizes["step"] // 2
    halves = [
        draws.isel(step=slice(start, start + n)).drop_vars(["step", "kept"], errors="ignore")
        for start in (0, n)
    ]
    split = xr.concat(halves, "half").stack(part=("half", "chain"), create_index=False)
    within = split.var("step", ddof=1).mean("part")
    between = split.mean("step").var("part", ddof=1)
    return ((n - 1) / n + between / within) ** 0.5
