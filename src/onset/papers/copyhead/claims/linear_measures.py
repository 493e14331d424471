"""What the claims about linear attention measure (figure 3)."""

from __future__ import annotations

from collections.abc import Mapping

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
from onset.papers.copyhead.selection import (
    kept_means,
    mean_and_sd,
    signed_final,
    signed_means,
    theory_at,
)
from onset.store.attributes import parameters_of

Inputs = Mapping[str, xr.Dataset]

CRITICAL = (1.0, 1.36)
"""Multiples of the dressed onset between which means and relaxation feel the transition most."""
FAR = 1.49
"""Multiple of the onset from which Adam, at the maximum of the posterior, is compared."""


def dressed_onset(inputs: Inputs) -> float:
    """Onset of pooling in the dressed theory, in training sequences."""
    return float(inputs["theory"].onset.sel(theory="dressed"))


def within_critical(inputs: Inputs) -> xr.DataArray:
    """Whether each sampled P lies within the critical multiples of the dressed onset."""
    multiple = inputs["sgld"].P / dressed_onset(inputs)
    return (multiple >= CRITICAL[0]) & (multiple <= CRITICAL[1])


def onset_over_formula(inputs: Inputs) -> Measured:
    """Bare onset over its leading order P1 = sigma2 V^(3/2)/sqrt(g_OV v)."""
    found = parameters_of(inputs["theory"])
    if "task" not in found or "prior" not in found:
        return Measured(None, undecided="the theory's result does not carry its parameters")
    V, prior = found["task"]["V"], found["prior"]
    formula = prior["sigma2"] * V**1.5 / np.sqrt(prior["g_OV"] * prior["v"])
    onset = float(inputs["theory"].onset.sel(theory="bare"))
    return Measured(onset / formula, f"onset {onset:.2f}, formula {formula:.2f}")


def pooling_exponent(inputs: Inputs) -> Measured:
    """Exponent beta of c1 ~ (P - P1)^beta in the bare theory.

    Local slopes of ln c1 against ln(P - P1), between neighbouring points of the curve within half of
    P1 above it, are extrapolated to P1 by the parabola through the three nearest.
    """
    curve = inputs["theory"].sel(theory="bare")
    onset = float(curve.onset)
    near = curve.c1.sel(P=slice(onset * 1.003, onset * 1.5))
    if near.sizes["P"] < 4:
        return Measured(
            None, absent=f"fewer than 4 points of the curve between P = {onset:.1f} and half more"
        )
    distance, c1 = near.P.values[:4] - onset, near.values[:4]
    slopes = np.diff(np.log(c1)) / np.diff(np.log(distance))
    middles = np.diff(distance) / np.diff(np.log(distance))
    return Measured(float(np.polyfit(middles, slopes, 2)[-1]), f"from {list_P(near.P.values[:4])}")


def onset_of_squares(inputs: Inputs) -> Measured:
    """P at which a line through <c1^2>, by SGLD above the onset, reaches 0, less the dressed onset."""
    sgld, onset = inputs["sgld"], dressed_onset(inputs)
    squares, _ = mean_and_sd(kept_means(sgld.c1**2), signed_means(sgld).free)
    near = squares.sel(P=slice(1.07 * onset, 1.38 * onset)).dropna("P")
    if near.sizes["P"] < 3:
        return Measured(None, absent=f"fewer than 3 sampled P between 1.07 and 1.38 of the onset {onset:.1f}")
    slope, intercept = np.polyfit(near.P.values, near.values, 1)
    found = -intercept / slope
    return Measured(
        float(found - onset), f"{found:.2f} from {list_P(near.P.values)}; dressed onset {onset:.2f}"
    )


def pooling_means(inputs: Inputs, near: bool, tolerance: float) -> Measured:
    """Largest |<|c1|> by SGLD - finite-size mean|, in the critical region (`near`) or outside."""
    chains, inside = signed_means(inputs["sgld"]), within_critical(inputs)
    expected = inputs["theory"].c1_mean.interp(P_finite=chains.P.values)
    region = "in the critical region" if near else "outside the critical region"
    return compare_means(chains.c1, expected, inside if near else ~inside, region, tolerance, chains.free)


def copying_means(inputs: Inputs, tolerance: float) -> Measured:
    """Largest |<cG sign(c1)> by SGLD - finite-size mean| over all sampled P."""
    chains = signed_means(inputs["sgld"])
    expected = inputs["theory"].cG_mean.interp(P_finite=chains.P.values)
    return compare_means(chains.cG, expected, chains.P > 0, "of the grid", tolerance, chains.free)


def pooling_without_copying(inputs: Inputs) -> Measured:
    """<cG>/<|c1|> by SGLD at the first sampled P where the theory's mean of |c1| reaches 0.4."""
    chains = signed_means(inputs["sgld"])
    expected = inputs["theory"].c1_mean.interp(P_finite=chains.P.values).values
    if not (expected >= 0.4).any():
        return Measured(None, absent="pooling does not reach 0.4 on the sampled grid")
    first = int(np.argmax(expected >= 0.4))
    c1, cG = (float(mean_and_sd(chains[name], chains.free)[0][first]) for name in ("c1", "cG"))
    return Measured(cG / c1, f"P = {chains.P.values[first]:g}: |c1| = {c1:.3f}, cG = {cG:.4f}")


def steepest_copying(inputs: Inputs) -> Measured:
    """Largest rise of <cG> by SGLD between neighbouring P, for 10 sequences."""
    chains = signed_means(inputs["sgld"])
    cG = mean_and_sd(chains.cG, chains.free)[0].dropna("P")
    rise = 10 * cG.diff("P") / cG.P.diff("P")
    steepest = int(np.argmax(rise.values))
    return Measured(float(rise[steepest]), f"between {list_P(cG.P.values[steepest : steepest + 2])}")


def adam_against_map(inputs: Inputs) -> Measured:
    """Largest difference of |c1| or cG between Adam's mean (lower-loss cluster) and the MAP theory."""
    seeds = signed_final(inputs["adam"])
    saddle = inputs["theory"].sel(theory="map")
    found = [
        abs(mean_and_sd(seeds[n], seeds.free)[0] - theory_at(saddle[n], seeds.P).values) for n in ("c1", "cG")
    ]
    far = seeds.P / float(saddle.onset) >= FAR
    return take_largest(xr.concat(found, "name").max("name"), far, f"above {FAR} of the onset")


def adam_against_sgld(inputs: Inputs) -> Measured:
    """Largest difference of |c1| or cG between the means of Adam and of SGLD, at P that both have."""
    seeds, chains = signed_final(inputs["adam"]), signed_means(inputs["sgld"])
    means = (
        (mean_and_sd(seeds[n], seeds.free)[0], mean_and_sd(chains[n], chains.free)[0]) for n in ("c1", "cG")
    )
    difference = xr.concat([abs(a - b) for a, b in means], "name").max("name")  # xarray keeps the common P
    far = difference.P / dressed_onset(inputs) >= FAR
    return take_largest(difference, far, f"above {FAR} of the onset")


def losses(inputs: Inputs, tolerance: float) -> Measured:
    """Largest difference of the test loss between SGLD and the dressed theory."""
    chains = signed_means(inputs["sgld"])
    expected = theory_at(inputs["theory"].test_loss.sel(theory="dressed"), chains.P)
    return compare_means(chains.test_loss, expected, chains.P > 0, "of the grid", tolerance, chains.free)


def equivalent_rows(inputs: Inputs) -> Measured:
    """Spread over rows of the averaged copy entry, at every sampled P, trapped chains left out."""
    sgld = inputs["sgld"]
    return compare_rows(sgld, sgld.P > 0, "of the grid", signed_means(sgld).free)


def chains_agree(inputs: Inputs) -> Measured:
    """Largest R-hat of |c1| outside the critical region, at P without trapped chains."""
    multiple, free = inputs["sgld"].P / dressed_onset(inputs), signed_means(inputs["sgld"]).free
    calm = ((multiple < 0.95) | (multiple > CRITICAL[1])) & free.all("chain")
    return agree_chains(inputs["sgld"], "abs_c1", calm, "away from the onset without trapped chains")


def trapped_from(inputs: Inputs) -> Measured:
    """Smallest P with a trapped chain or seed over the smallest at which the theory has the state."""
    free = {"chain": signed_means(inputs["sgld"]).free, "seed": signed_final(inputs["adam"]).free}
    trapped = {member: f.P.values[~f.all(member).values] for member, f in free.items()}
    counts = ", ".join(f"{int((~f).sum())} of {f.size} {member}s" for member, f in free.items())
    everywhere = np.concatenate(list(trapped.values()))
    if len(everywhere) == 0:
        return Measured(None, f"trapped: {counts}", undecided="no chain and no seed was trapped")
    start = float(inputs["theory"].metastable_from.min())
    if not np.isfinite(start):
        return Measured(0.0, f"trapped: {counts}; the theory has no metastable state up to its largest P")
    return Measured(
        float(everywhere.min()) / start, f"trapped: {counts}; the state exists from P = {start:.1f}"
    )


def excess_loss(inputs: Inputs) -> Measured:
    """Smallest excess of the test loss of trapped seeds over that of the others, over P with both."""
    seeds = signed_final(inputs["adam"])
    high, _ = mean_and_sd(seeds.test_loss, ~seeds.free)
    low, _ = mean_and_sd(seeds.test_loss, seeds.free)
    both = (high - low).dropna("P")
    if both.sizes["P"] == 0:
        return Measured(None, undecided="no P has seeds in both clusters")
    share = ", ".join(
        f"{int((~seeds.free.sel(P=P)).sum())} of {seeds.sizes['seed']} at P = {P:g}" for P in both.P.values
    )
    return Measured(float(both.min()), f"seeds in the cluster of higher loss: {share}")


def share_trapped(inputs: Inputs) -> Measured:
    """Largest share of chains, over P, that are trapped in the state with c1 cG < 0."""
    free = signed_means(inputs["sgld"]).free
    share = (~free).mean("chain")
    counts = [f"{int((~free.sel(P=P)).sum())} at P = {P:g}" for P in free.P.values[(share > 0).values]]
    detail = f"of {free.sizes['chain']} chains at each P: {', '.join(counts) or 'none'}"
    return Measured(float(share.max()), detail)
