"""From claims and results to verdicts, as a JSON document that is the same at every evaluation."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from onset.claims.claim import Claim, Measured
from onset.claims.control import Control
from onset.claims.noted import Noted

if TYPE_CHECKING:
    import xarray as xr

Verdict = Literal["held", "failed", "undecided", "not run at this scale"]
VERDICTS: tuple[Verdict, ...] = ("held", "failed", "undecided", "not run at this scale")

DIGITS = 10
"""Significant digits of a number in the document: fewer than the last bits in which two machines differ."""


def judge(claim: Claim, measured: Measured) -> tuple[Verdict, str]:
    """The verdict on a measured number, and why where it is neither held nor failed.

    The ends of the interval are inside.  An infinite number is judged like any other; one that is not a
    number decides nothing, nor does one whose spread over seeds is partly inside and partly outside.
    """
    if measured.absent:
        return "not run at this scale", measured.absent
    if measured.undecided:
        return "undecided", measured.undecided
    value = measured.value
    assert value is not None
    if math.isnan(value):
        return "undecided", "the measured value is not a number"
    inside = _accepts(claim, value)
    if measured.spread is not None and any(_accepts(claim, end) != inside for end in measured.spread):
        low, high = measured.spread
        return "undecided", f"the interval over seeds, {low:.4g} to {high:.4g}, straddles the bound"
    return ("held" if inside else "failed"), ""


def _accepts(claim: Claim, value: float) -> bool:
    above = claim.low is None or value >= claim.low
    below = claim.high is None or value <= claim.high
    return above and below


def evaluate(claims: Iterable[Claim], inputs: Mapping[str, xr.Dataset], scale: str) -> list[dict[str, Any]]:
    """One JSON-ready row for each claim, in the given order; floats are finite or None.

    Each claim is also measured on its control, of which it must not hold: `control` has the verdict there,
    and `vacuous` is true where it holds all the same.  A measure that raises is a defect of the measure and
    is not caught.  Raises ValueError where two claims have one id.
    """
    rows: list[dict[str, Any]] = []
    changed: dict[Control, Mapping[str, xr.Dataset]] = {}
    for claim in claims:
        if any(row["id"] == claim.id for row in rows):
            raise ValueError(f"two claims are called {claim.id}")
        read = Noted(inputs)
        measured = _measure(claim, read, scale)
        verdict, why = judge(claim, measured)
        control = claim.control
        if control is not None and control not in changed:
            changed[control] = control.apply(inputs)
        on_control = None
        if control is not None:
            on_control = _judge_control(claim, control, changed[control], scale, verdict)
        rows.append(
            {
                "id": claim.id,
                "place": claim.place,
                "sentence": claim.sentence,
                "standing": claim.standing,
                "quantity": claim.describe_quantity(),
                "verdict": verdict,
                "why": why,
                "value": _rounded(measured.value),
                "spread": [_rounded(end) for end in measured.spread] if measured.spread else None,
                "detail": measured.detail,
                "low": _rounded(claim.low),
                "high": _rounded(claim.high),
                "unit": claim.unit,
                "reason": claim.reason,
                "scales": list(claim.scales) if claim.scales is not None else None,
                "seeds": read.list_members(),
                "control": on_control,
                "vacuous": on_control is not None and on_control["verdict"] == "held",
            }
        )
    return rows


def _measure(claim: Claim, inputs: Mapping[str, xr.Dataset], scale: str) -> Measured:
    if claim.scales is not None and scale not in claim.scales:
        return Measured(None, absent=f"tested at {', '.join(claim.scales)} only")
    return claim.measure(inputs)


def _judge_control(
    claim: Claim, control: Control, inputs: Mapping[str, xr.Dataset], scale: str, verdict: Verdict
) -> dict[str, Any]:
    """The verdict on a claim's control; not measured where the claim itself has nothing to measure."""
    found: dict[str, Any] = {"name": control.name, "what": control.what, "value": None, "why": ""}
    if verdict == "not run at this scale":
        return {**found, "verdict": verdict}
    measured = _measure(claim, inputs, scale)
    told, why = judge(claim, measured)
    return {**found, "verdict": told, "why": why, "value": _rounded(measured.value)}


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
