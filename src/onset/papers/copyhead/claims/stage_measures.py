"""What the claims about stages measure (figure 1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.copyhead.claims.linear_measures import dressed_onset
from onset.papers.copyhead.claims.measures import list_P, take_largest
from onset.papers.copyhead.claims.softmax_window import outside_window
from onset.papers.copyhead.selection import copied_weights, free_attention, mean_and_sd, signed_means

Inputs = Mapping[str, xr.Dataset]


def as_linear(inputs: Inputs) -> Inputs:
    """Roles of figure 3 for a figure that has both attention kinds."""
    return _Renamed(inputs, {"theory": "linear_theory", "sgld": "linear_sgld", "adam": "linear_adam"})


def as_softmax(inputs: Inputs) -> Inputs:
    """Roles of figure 4 for a figure that has both attention kinds."""
    return _Renamed(
        inputs, {"theory": "softmax_theory", "from_prior": "softmax_sgld", "adam": "softmax_adam"}
    )


class _Renamed(Mapping[str, xr.Dataset]):
    """Inputs under other names; each is asked for only when it is read."""

    def __init__(self, inputs: Inputs, names: dict[str, str]) -> None:
        self._inputs, self._names = inputs, names

    def __getitem__(self, role: str) -> xr.Dataset:
        return self._inputs[self._names.get(role, role)]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def pooling_below_onset(inputs: Inputs) -> Measured:
    """Largest mean |c1| of free chains at P up to 0.95 of the dressed onset."""
    linear = as_linear(inputs)
    chains = signed_means(linear["sgld"])
    mean, _ = mean_and_sd(chains.c1, chains.free)
    return take_largest(mean, mean.P / dressed_onset(linear) <= 0.95, "up to 0.95 of the onset")


def first_crossing(values: xr.DataArray, level: float) -> float:
    """P at which values (P,) first reach a level, linear between P; NaN where they never do."""
    at = np.flatnonzero(values.values >= level)
    if len(at) == 0:
        return float("nan")
    k = int(at[0])
    if k == 0:
        return float(values.P[0])
    low, high = values.values[k - 1 : k + 1]
    start, end = values.P.values[k - 1 : k + 1].astype(np.float64)
    return float(start + (end - start) * (level - low) / (high - low))


def pooling_before_copying(inputs: Inputs) -> Measured:
    """P at which cG reaches half of |c1| over P at which |c1| reaches 0.4, by SGLD.

    Where the ratio is never reached the largest P stands for it, which makes the number smaller.
    """
    chains = signed_means(inputs["linear_sgld"])
    c1, cG = (mean_and_sd(chains[name], chains.free)[0].dropna("P") for name in ("c1", "cG"))
    pools = first_crossing(c1, 0.4)
    if np.isnan(pools):
        return Measured(None, absent="pooling does not reach 0.4 on the sampled grid")
    copies = first_crossing((cG / c1).where(c1 >= 0.4, 0.0), 0.5)
    last = float(c1.P[-1])
    detail = (
        f"P = {pools:.1f}; copying from P = {copies:.1f}"
        if copies > 0
        else f"P = {pools:.1f}; none to {last:g}"
    )
    return Measured((last if np.isnan(copies) else copies) / pools, detail)


def steepest_theory(inputs: Inputs) -> Measured:
    """Largest rise of the dressed cG, for 10 sequences, along the curve."""
    cG = inputs["linear_theory"].cG.sel(theory="dressed")
    rise = 10 * cG.diff("P") / cG.P.diff("P")
    steepest = int(rise.values.argmax())
    return Measured(float(rise[steepest]), f"before P = {float(rise.P[steepest]):g}")


def rows_that_copy(inputs: Inputs) -> Measured:
    """Smallest share of query positions whose largest mean weight is on the copied key, at the largest P."""
    shares = []
    free = signed_means(inputs["linear_sgld"]).free
    for kind in ("linear", "softmax"):
        sgld = inputs[f"{kind}_sgld"]
        P = int(sgld.P[-1])
        A = free_attention(sgld, P, free if kind == "linear" else None).transpose("query", "key").values
        L = len(A)
        shares.append((float(np.mean(A.argmax(1) == (np.arange(L) - 1) % L)), f"{kind}, P = {P}"))
    worst = min(shares)
    return Measured(worst[0], f"smallest for {worst[1]}")


def copied_over_uniform(inputs: Inputs) -> Measured:
    """Largest mean weight on the copied key, times L, below the coexistence window."""
    weights = _copied(inputs["softmax_sgld"]) * inputs["softmax_sgld"].sizes["key"]
    below, _ = outside_window(as_softmax(inputs), weights.P)
    return take_largest(weights, below, "below the coexistence window")


def copied_above(inputs: Inputs) -> Measured:
    """Smallest mean weight on the copied key above the coexistence window."""
    weights = _copied(inputs["softmax_sgld"])
    _, above = outside_window(as_softmax(inputs), weights.P)
    found = take_largest(-weights, above, "above the coexistence window")
    if found.absent:
        return found
    return Measured(-(found.value or 0.0), f"smallest of {list_P(weights.P.values[above.values])}")


def _copied(sgld: xr.Dataset) -> xr.DataArray:
    means = [float(copied_weights(free_attention(sgld, int(P))).mean()) for P in sgld.P.values]
    return xr.DataArray(means, coords={"P": sgld.P.values}, dims="P")
