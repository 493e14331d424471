"""Verdicts as a page shows them, and how often each was reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from onset.claims.ledger import spell_interval, spell_members

STANDINGS = {"paper": "the paper's statement", "reconstruction": "our reconstruction's statement"}
ROW = (
    "id place sentence standing quantity verdict why value spread detail low high unit reason vacuous control"
)
SHOWN = frozenset([*ROW.split(), "scales"])
"""What of a row has a place of its own on the page."""


@dataclass(frozen=True)
class Outcome:
    """A verdict, or the mark of a claim that decides nothing: its key, its words and its sign."""

    key: str
    words: str
    sign: str


OUTCOMES = {
    "held": Outcome("held", "held", "✓"),
    "failed": Outcome("failed", "failed", "✗"),
    "undecided": Outcome("undecided", "undecided", "?"),
    "not run at this scale": Outcome("not-run", "not run", "–"),
    "vacuous": Outcome("vacuous", "vacuous", "∅"),
}


@dataclass(frozen=True)
class Verdict:
    """One claim with its verdict, in words.

    `spread` is the interval over seeds or chains; `control` the verdict where the claim must not hold;
    `vacuous` that it holds there all the same; `known` why a failure is known; `more` whatever else
    its row holds, by name.
    """

    id: str
    sentence: str
    outcome: Outcome
    vacuous: bool
    value: str
    spread: str
    quantity: str
    interval: str
    place: str
    standing: str
    reason: str
    notes: tuple[str, ...]
    known: str
    control: str
    more: tuple[tuple[str, str], ...]


def describe_verdict(row: Mapping[str, Any], known: str) -> Verdict:
    """A row of a claims document as the page shows it; `known` explains its failure, where one is known."""
    unit = "" if row["unit"] == "1" else f" {row['unit']}"
    return Verdict(
        id=row["id"],
        sentence=row["sentence"],
        outcome=OUTCOMES[row["verdict"]],
        vacuous=row["verdict"] == "vacuous" or bool(row.get("vacuous")),
        value="" if row["value"] is None else f"{row['value']:.4g}{unit}",
        spread=" to ".join(f"{end:.4g}" for end in row.get("spread") or ()),
        quantity=row.get("quantity") or "",
        interval=spell_interval(row),
        place=row["place"],
        standing=STANDINGS.get(row["standing"], row["standing"]),
        reason=row["reason"],
        notes=tuple(filter(None, (row["why"], row["detail"]))),
        known=known if row["verdict"] == "failed" else "",
        control=_spell_control(row.get("control")),
        more=tuple((key.replace("_", " "), _spell(row[key])) for key in sorted(row) if key not in SHOWN),
    )


def count_outcomes(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many claims have each outcome, by its key, zeros included; a vacuous one counts twice."""
    counts = {outcome.key: 0 for outcome in OUTCOMES.values()}
    for verdict in verdicts:
        counts[verdict.outcome.key] += 1
        if verdict.vacuous and verdict.outcome.key != "vacuous":
            counts["vacuous"] += 1
    return counts


def _spell_control(control: Mapping[str, Any] | None) -> str:
    if not control:
        return ""
    value = control.get("value")
    measured = "" if value is None else f", measured {value:.4g}"
    return f"{control.get('what') or control.get('name')}: {control.get('verdict')}{measured}"


def _spell(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {_spell(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        if all(isinstance(one, int) for one in value):
            return spell_members(value)
        return ", ".join(map(_spell, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else str(value)
