"""The Dataset of a run: its records and what follows from them."""

from __future__ import annotations

import numpy as np
import xarray as xr

from onset.papers.gmc.maxmargin import diagnostics
from onset.papers.gmc.maxmargin.geometry import Array, Geometry
from onset.papers.gmc.maxmargin.layout import build_coordinates, gather_rivals, spread_rivals
from onset.papers.gmc.maxmargin.records import Records, list_doublings

CURVE = ("seed", "iteration")
EACH = ("seed", "iteration", "sample", "token")
SUM = "partial sum over iterations of"
VARIABLES = {
    "loss": (CURVE, "training loss", "token units²"),
    "norm": (CURVE, "norm of W_KQ", "1/token units²"),
    "cosine": (CURVE, "cosine of W_KQ with the hard-margin solution", "1"),
    "gradient2": (CURVE, "squared norm of the gradient", "token units⁸"),
    "gradient2_sum": (CURVE, "cumulative squared norm of the gradient", "token units⁸"),
    "h_deviation_max": (CURVE, "largest deviation of h from its late mean, over the sum of |h|", "1"),
    "h_deviation_mean": (CURVE, "mean deviation of h from its late mean, over the sum of |h|", "1"),
    "limit_deviation_max": (CURVE, "largest deviation of h from its limit by theory, over the sum", "1"),
    "h_deviation_sum": (CURVE, f"{SUM} the largest deviation over tau", "1"),
    "h_deviation_mean_sum": (CURVE, f"{SUM} the mean deviation over tau", "1"),
    "limit_deviation_sum": (CURVE, f"{SUM} the largest deviation from the limit by theory over tau", "1"),
    "tail_proxy": (CURVE, "weight outside the support over weight inside", "1"),
    "tail_proxy_sum": (CURVE, f"{SUM} the tail proxy over tau", "1"),
    "misaligned_share": (CURVE, "misaligned share of the off-diagonal mass", "1"),
    "h": (EACH, "h of a rival", "token units²"),
    "margin": (EACH, "margin of a rival", "1"),
    "residual": (EACH, "residual coordinate u of a support vector", "1"),
    "h_inf": (("seed", "sample", "token"), "mean of h over the last iterations", "token units²"),
    "p": (("seed", "sample", "token"), "correction vector p from the late mean of h", "1"),
    "W": (("seed", "row", "column"), "W_KQ after the last iteration", "1/token units²"),
    "gradient2_increment": (("seed", "doubling"), "squared gradient summed over a doubling", "token units⁸"),
    "growth_ratio": (("seed",), "slope of the norm in ln tau over half the norm of W_hat, last decade", "1"),
    "gradient2_slope": (("seed",), "power of tau of the squared gradient, last decade", "1"),
    "loss_per_decade": (("seed",), "loss a decade before the end over the last", "1"),
    "rises": (("seed",), "iterations at which the loss rose", "1"),
    "monotone": (("seed",), "whether the loss never rose", "1"),
}


def measure_last_decade(curves: dict[str, Array], norm_hat: Array, at: Array) -> dict[str, Array]:
    """Growth of |W| and powers of the squared gradient and the loss in the last decade.

    `curves` are (record, seed), `norm_hat` (seed,), `at` (record,).
    The theory has 1, -2 and 10 for them: |W| = |W_hat| ½ log tau, grad² ~ tau^-2, loss ~ 1/tau.
    """
    tenth = int(np.searchsorted(at, max(1, at[-1] // 10)))
    span = np.log(at[-1] / at[tenth])
    with np.errstate(divide="ignore", invalid="ignore"):
        first, last = ({name: curves[name][k] for name in ("norm", "gradient2", "loss")} for k in (tenth, -1))
        return {
            "growth_ratio": (last["norm"] - first["norm"]) / span / (norm_hat / 2),
            "gradient2_slope": np.log(last["gradient2"] / first["gradient2"]) / span,
            "loss_per_decade": (first["loss"] / last["loss"]) ** (np.log(10) / span),
        }


def build_dataset(geometry: Geometry, records: Records, data: xr.Dataset, theory: xr.Dataset) -> xr.Dataset:
    """All VARIABLES, the record axis as `iteration`, candidates as `token` with NaN at the match."""
    arrays, at, match = records.arrays, records.at, data["match"].transpose("seed", "sample").values
    alpha, support = (
        gather_rivals(theory[name].transpose("seed", "sample", "token").values, match)
        for name in ("multiplier", "support")
    )
    multipliers = np.where(support, alpha, 0.0)
    norm_hat = theory["norm"].values
    p = diagnostics.correct(multipliers, arrays["h_inf"], records.eta)
    u = diagnostics.measure_residual(arrays["margin"], p, at)
    with np.errstate(divide="ignore", invalid="ignore"):
        # <W, W_hat> = sum alpha m, for W_hat = sum alpha x~ and m = x~.w
        cosine = (alpha * arrays["margin"]).sum((-2, -1)) / norm_hat / arrays["norm"]
    ends = np.searchsorted(at, list_doublings(records.last))
    found = {
        **arrays,
        **measure_last_decade(arrays, norm_hat, at),
        "cosine": cosine,
        "misaligned_share": diagnostics.measure_misaligned(u, arrays["h_inf"], p),
        "residual": u,
        "p": p,
        "W": geometry.combine(arrays["coefficients"]),
        "gradient2_increment": np.diff(arrays["gradient2_sum"][ends], axis=0),
        "monotone": arrays["rises"] == 0,
    }
    variables = {}
    for name, (dims, text, units) in VARIABLES.items():
        values = found[name]
        if "token" in dims:
            values = spread_rivals(values, match)
        if "iteration" in dims or "doubling" in dims:
            values = np.swapaxes(values, 0, 1)
        variables[name] = (dims, values, {"long_name": text, "units": units})
    coordinates = build_coordinates(data)
    for name, values, text in (
        ("iteration", at, "iteration"),
        ("doubling", np.asarray(list_doublings(records.last)[1:]), "last iteration of the doubling"),
    ):
        coordinates[name] = xr.Variable(name, values, {"long_name": text, "units": "1"})
    return xr.Dataset(variables, coords=coordinates)
