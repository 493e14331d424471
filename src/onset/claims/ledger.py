"""Reading the verdicts that the pipeline wrote, and setting them in a table."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onset.claims.verdict import VERDICTS
from onset.errors import OnsetError

MARKS = {"held": "+", "failed": "X", "undecided": "?", "not run at this scale": "-"}


def read_document(path: Path) -> dict[str, Any]:
    """One claims document.

    Raises OnsetError, naming the file, where it is not one.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        known = all(row["verdict"] in VERDICTS for row in document["claims"])
    except (OSError, ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise OnsetError(f"{path} does not hold claims; remove it and build it again")
    return document


def read_documents(folder: Path) -> list[dict[str, Any]]:
    """All claims documents under a results folder (`<folder>/**/claims/*.json`), by path.

    Raises OnsetError, naming the file, where one is not a claims document.
    """
    paths = sorted(folder.glob("**/claims/*.json"))
    return [read_document(path) for path in paths if not path.name.endswith(".prov.json")]


def ledger_rows(documents: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of all documents, each with its scale, paper and figure."""
    head = ("scale", "paper", "figure")
    return [{**{k: d[k] for k in head}, **row} for d in documents for row in d["claims"]]


def count_verdicts(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows have each verdict, zeros included."""
    counts = Counter(row["verdict"] for row in rows)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def format_table(rows: Iterable[Mapping[str, Any]], width: int | None = None) -> str:
    """The rows of `ledger_rows` as text for a terminal `width` columns wide (its own where None).

    One block for each scale, paper and figure; a line for each claim with its verdict, value and accepted
    interval, the sentence under it, and the reason where it was not decided; the counts at the end.
    """
    rows = list(rows)
    if not rows:
        return "no claims have been evaluated"
    width = width or min(shutil.get_terminal_size().columns, 120)
    names = max(len(row["id"]) for row in rows)
    lines: list[str] = []
    shown = None
    for row in rows:
        place = (row["scale"], row["paper"], row["figure"])
        if place != shown:
            shown = place
            lines += ["", f"{row['paper']} {row['figure']}, scale {row['scale']}"]
        value = "" if row["value"] is None else f"{row['value']:.4g}"
        name = f"  {MARKS[row['verdict']]} {row['id']:<{names}}"
        lines.append(f"{name}  {value:>9}  {spell_interval(row):<18}  {row['verdict']}")
        notes = [
            row["sentence"],
            row["why"] and f"({row['why']})",
            row["verdict"] == "failed" and row["detail"],
        ]
        for note in filter(None, notes):
            lines += textwrap.wrap(note, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    counts = count_verdicts(rows)
    lines += ["", ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)]
    return "\n".join(lines[1:])


def spell_interval(row: Mapping[str, Any]) -> str:
    """The interval that the claim of a row accepts, with its unit."""
    unit = "" if row["unit"] == "1" else f" {row['unit']}"
    if row["low"] is None:
        return f"≤ {row['high']:g}{unit}"
    if row["high"] is None:
        return f"≥ {row['low']:g}{unit}"
    return f"{row['low']:g} to {row['high']:g}{unit}"
