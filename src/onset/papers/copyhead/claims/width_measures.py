"""What the claims about finite widths of queries and keys measure (figure 5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.claims.claim import Measured
from onset.papers.copyhead.claims.linear_measures import dressed_onset
from onset.papers.copyhead.claims.measures import take_largest
from onset.papers.copyhead.claims.softmax_window import outside_window
from onset.papers.copyhead.claims.stage_measures import as_linear, as_softmax
from onset.papers.copyhead.selection import (
    final_order,
    list_runs,
    mean_and_sd,
    select_run,
    signed_means,
    theory_at,
)

Inputs = Mapping[str, xr.Dataset]

WIDE, VERY_WIDE = 4.0, 20.0
"""Multiples of L from which a head is wide (the theory is an expansion in L/d_k), and very wide."""


def _width_of(run: xr.Dataset) -> float:
    return float(run.d_k) / float(run.L)


def _linear_runs(inputs: Inputs, least: float, most: float = np.inf) -> list[xr.Dataset]:
    runs = inputs["qk_sgld"]
    chosen = (select_run(runs, label, "mean") for label in list_runs(runs, attention="linear"))
    known = inputs["qk_theory"].d_k.values
    return [run for run in chosen if least <= _width_of(run) < most and float(run.d_k) in known]


def _expected(inputs: Inputs, run: xr.Dataset, name: str, form: str = "dressed") -> xr.DataArray:
    curve = inputs["qk_theory"][name].sel(theory=form, d_k=int(run.d_k))
    return theory_at(curve, run.P.values)


def width_means(inputs: Inputs, quantity: str) -> Measured:
    """Largest |mean by SGLD on Q, K - dressed theory| over L/d_k, linear, at wide heads above the onset."""
    name = {"pooling": "linear_c1", "copy": "linear_cG"}[quantity]
    found = []
    for run in _linear_runs(inputs, WIDE):
        onset = float(inputs["qk_theory"].linear_onset.sel(theory="dressed", d_k=int(run.d_k)))
        mean = run["mean"].sel(quantity=quantity).astype(np.float64)
        difference = abs(mean - _expected(inputs, run, name).values) * _width_of(run)
        far = run.P.values / onset >= 1.15
        found += [
            (float(difference.sel(P=P)), f"d_k = {float(run.d_k):g}, P = {P:g}") for P in run.P.values[far]
        ]
    if not found:
        return Measured(None, absent="no wide head at a P above the onset")
    return Measured(max(found)[0], f"largest for {max(found)[1]}, of {len(found)}")


def very_wide_means(inputs: Inputs, quantity: str) -> Measured:
    """Largest |mean by SGLD on Q, K - dressed theory|, linear, at heads at least 20 L wide."""
    name = {"pooling": "linear_c1", "copy": "linear_cG"}[quantity]
    found = []
    for run in _linear_runs(inputs, VERY_WIDE):
        difference = abs(run["mean"].sel(quantity=quantity) - _expected(inputs, run, name).values)
        found += [(float(difference.sel(P=P)), f"d_k = {float(run.d_k):g}, P = {P:g}") for P in run.P.values]
    if not found:
        return Measured(None, absent="no head of 20 L or wider was sampled")
    return Measured(max(found)[0], f"largest for {max(found)[1]}")


def narrow_rise(inputs: Inputs) -> Measured:
    """Steepest rise of |c1| with P at the narrowest head over that at infinite width, by SGLD."""
    narrow = sorted(_linear_runs(inputs, 0.0, WIDE), key=_width_of)
    if not narrow:
        return Measured(None, absent="no head narrower than 4 L was sampled")
    run = narrow[0]
    chains = signed_means(inputs["linear_sgld"])
    wide, _ = mean_and_sd(chains.c1, chains.free)
    rises = [
        float((c1.diff("P") / c1.P.diff("P")).max()) for c1 in (run["mean"].sel(quantity="pooling"), wide)
    ]
    if rises[1] <= 0:
        return Measured(None, undecided="pooling does not rise at infinite width")
    return Measured(rises[0] / rises[1], f"{10 * rises[0]:.2f} and {10 * rises[1]:.2f} per 10 sequences")


def softmax_means(inputs: Inputs) -> Measured:
    """Largest |aG by SGLD on Q, K - dressed theory of that width|, outside the coexistence window."""
    runs, found = inputs["qk_sgld"], []
    theory = inputs["qk_theory"]
    for label in list_runs(runs, attention="softmax"):
        run = select_run(runs, label, "mean")
        if float(run.d_k) not in theory.d_k.values:
            continue
        branches = _expected(inputs, run, "softmax_aG").transpose("branch", "P").values
        at = theory.sel(theory="dressed", d_k=int(run.d_k))
        lower, upper = float(at.softmax_P_lower), float(at.softmax_P_upper)
        mean = run["mean"].sel(quantity="copy").values
        for k, P in enumerate(run.P.values):
            branch = 0 if 0.9 * lower >= P else 1 if 1.2 * upper <= P else None
            if branch is not None and np.isfinite(branches[branch, k]):
                found.append(
                    (abs(float(mean[k]) - float(branches[branch, k])), f"d_k = {float(run.d_k):g}, P = {P:g}")
                )
    if not found:
        return Measured(None, absent="no softmax head at a P outside the window")
    return Measured(max(found)[0], f"largest for {max(found)[1]}, of {len(found)}")


def _trained(inputs: Inputs, kind: str, decay: str) -> tuple[xr.Dataset, xr.Dataset] | None:
    adam = inputs["qk_adam"]
    labels = list_runs(adam, attention_kind=kind, decay=decay)
    if not labels:
        return None
    run = select_run(adam, labels[0], "copy")
    return run, final_order(run)


def matched_softmax(inputs: Inputs) -> Measured:
    """Largest |aG| of any seed of Adam with matched decay on Q, K, where the posterior copies."""
    found = _trained(inputs, "softmax", "matched")
    if found is None:
        return Measured(None, absent="softmax attention on Q, K was not trained")
    copy = abs(found[1]["copy"]).max("seed").astype(np.float64)
    _, above = outside_window(as_softmax(inputs), copy.P)
    return take_largest(copy, above, "above the coexistence window")


def matched_linear(inputs: Inputs) -> Measured:
    """Largest share of the dressed theory's cG that Adam's mean (matched decay on Q, K) has, where that cG is
    0.1 or more."""
    found = _trained(inputs, "linear", "matched")
    if found is None or float(found[0].d_k) not in inputs["qk_theory"].d_k.values:
        return Measured(None, absent="linear attention on Q, K was not trained at a width of the theory")
    run, final = found
    expected = _expected(inputs, run, "linear_cG")
    share = abs(final["copy"].mean("seed").astype(np.float64)) / expected.values
    copies = xr.DataArray(expected.values >= 0.1, coords={"P": run.P.values}, dims="P")
    return take_largest(share, copies, "at which the posterior copies")


def matched_above_map(inputs: Inputs) -> Measured:
    """Largest excess of Adam's |c1| (matched decay on Q, K), any seed, over the nuclear-norm MAP theory's.

    The theory's least action; a seed may stay in the trivial state, which is a minimum at every P.
    """
    found = _trained(inputs, "linear", "matched")
    if found is None or float(found[0].d_k) not in inputs["qk_theory"].d_k.values:
        return Measured(None, absent="linear attention on Q, K was not trained at a width of the theory")
    run, final = found
    excess = final.pooling.max("seed").astype(np.float64) - _expected(inputs, run, "linear_c1", "map").values
    onset = float(inputs["qk_theory"].linear_onset.sel(theory="map", d_k=int(run.d_k)))
    away = abs(run.P - onset) > 0.05 * onset if np.isfinite(onset) else run.P > 0
    return take_largest(excess, away, f"away from the onset of the MAP theory, {onset:.0f}")


def anchored_difference(inputs: Inputs) -> Measured:
    """Largest |difference| of |c1| or cG between Adam with anchored decay and the dressed theory, linear."""
    found = _trained(inputs, "linear", "anchored")
    if found is None or float(found[0].d_k) not in inputs["qk_theory"].d_k.values:
        return Measured(None, absent="anchored decay was not trained at a width of the theory")
    run, final = found
    pairs = (("pooling", "linear_c1"), ("copy", "linear_cG"))
    worst = xr.concat(
        [abs(final[a].mean("seed").astype(np.float64) - _expected(inputs, run, b).values) for a, b in pairs],
        "name",
    ).max("name")
    return take_largest(worst, run.P / dressed_onset(as_linear(inputs)) >= 1.15, "above 1.15 of the onset")
