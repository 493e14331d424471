"""From claims and results to verdicts, as a JSON document that is the same at every evaluation."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from onset.claims.claim import Claim, Measured

if TYPE_CHECKING:
    import xarray as xr

Verdict = Literal["held", "failed", "undecided", "not run at this scale"]
VERDICTS: tuple[Verdict, ...] = ("held", "failed", "undecided", "not run at this scale")

DIGITS = 10
"""Significant digits of a number in the document: fewer than the last bits in which two machines differ."""


def judge(claim: Claim, measured: Measured) -> tuple[Verdict, str]:
    """The verdict on a measured number, and why where it is neither held nor failed.

    The ends of the interval are inside.  An infinite number is judged like any other; one that is not a
    number decides nothing.
    """
    if measured.absent:
        return "not run at this scale", measured.absent
    if measured.undecided:
        return "undecided", measured.undecided
    value = measured.value
    assert value is not None
    if math.isnan(value):
        return "undecided", "the measured value is not a number"
    above = claim.low is None or value >= claim.low
    below = claim.high is None or value <= claim.high
    return ("held" if above and below else "failed"), ""


def evaluate(claims: Iterable[Claim], inputs: Mapping[str, xr.Dataset], scale: str) -> list[dict[str, Any]]:
    """One JSON-ready row for each claim, in the given order; floats are finite or None.

    A measure that raises is a defect of the measure and is not caught.  Raises ValueError where two
    claims have one id.
    """
    rows: list[dict[str, Any]] = []
    for claim in claims:
        if any(row["id"] == claim.id for row in rows):
            raise ValueError(f"two claims are called {claim.id}")
        if claim.scales is not None and scale not in claim.scales:
            measured = Measured(None, absent=f"tested at {', '.join(claim.scales)} only")
        else:
            measured = claim.measure(inputs)
        verdict, why = judge(claim, measured)
        rows.append(
            {
                "id": claim.id,
                "place": claim.place,
                "sentence": claim.sentence,
                "standing": claim.standing,
                "verdict": verdict,
                "why": why,
                "value": _rounded(measured.value),
                "detail": measured.detail,
                "low": _rounded(claim.low),
                "high": _rounded(claim.high),
                "unit": claim.unit,
                "reason": claim.reason,
            }
        )
    return rows


def _rounded(value: float | None) -> float | None:
    """`value` to DIGITS significant digits; None where it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.{DIGITS - 1}e}") + 0.0


def claims_document(
    figure: str, paper: str, scale: str, title: str, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """The document of one figure: what it is and the rows of `evaluate`."""
    return {"figure": figure, "paper": paper, "scale": scale, "title": title, "claims": rows}


def dump_document(document: Mapping[str, Any]) -> str:
    """The document as JSON text: sorted keys, one newline at the end, equal documents equal texts."""
    return json.dumps(document, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"
