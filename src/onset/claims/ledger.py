"""Reading the verdicts that the pipeline wrote, and setting them in a table."""

from __future__ import annotations

import csv
import io
import json
import shutil
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
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


def count_defects(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows are vacuous, for they also hold on their control, and how many name no control."""
    rows = list(rows)
    return {
        "vacuous": sum(bool(row.get("vacuous")) for row in rows),
        "without control": sum(row.get("control") is None for row in rows),
    }


def format_table(rows: Iterable[Mapping[str, Any]], width: int | None = None, brief: bool = False) -> str:
    """The rows of `ledger_rows` as text for a terminal `width` columns wide (its own where None).

    One block for each scale, paper and figure; a line for each claim with its verdict, value and accepted
    interval; under it the sentence with its place, what is measured, why the interval ends there, seeds,
    scales and control, and the reason where it was not decided.  `brief` leaves all but sentence and reason
    away.  Counts at the end.
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
        verdict = f"{row['verdict']}, vacuous" if row.get("vacuous") else row["verdict"]
        lines.append(f"{name}  {value:>9}  {spell_interval(row):<18}  {verdict}")
        for note in filter(None, _brief_notes(row) if brief else _notes(row)):
            lines += textwrap.wrap(note, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    counts = {**count_verdicts(rows), **count_defects(rows)}
    lines += ["", ", ".join(f"{n} {what}" for what, n in counts.items() if n)]
    return "\n".join(lines[1:])


def _brief_notes(row: Mapping[str, Any]) -> list[str]:
    return [
        row["sentence"],
        row["why"] and f"({row['why']})",
        row["detail"] if row["verdict"] == "failed" else "",
    ]


def _notes(row: Mapping[str, Any]) -> list[str]:
    control = row.get("control")
    told = f"control {control['name']}: {control['verdict']}" if control else "no control"
    if control and control["value"] is not None:
        told += f" at {control['value']:.4g}"
    members = "; ".join(f"{role} {spell_members(ids)}" for role, ids in row.get("seeds", {}).items())
    scales = ", ".join(row["scales"]) if row.get("scales") else "all"
    return [
        f"{row['sentence']} [{row['place']}]",
        row["why"] and f"({row['why']})",
        f"measured: {row['quantity']}" if row.get("quantity") else "",
        f"found: {row['detail']}" if row["detail"] else "",
        f"accepted because: {row['reason']}" if row["reason"] else "",
        f"seeds: {members or 'none'}; scales: {scales}; {told}",
    ]


def spell_members(ids: Iterable[int]) -> str:
    """Seeds or chains, runs of successive ones as ranges: `0-3, 7`."""
    parts: list[list[int]] = []
    for one in sorted(ids):
        if parts and one == parts[-1][-1] + 1:
            parts[-1].append(one)
        else:
            parts.append([one])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


COLUMNS = (
    *("scale", "paper", "figure", "id", "verdict", "vacuous", "value", "low", "high", "unit", "spread_low"),
    *(
        "spread_high",
        "why",
        "sentence",
        "place",
        "standing",
        "quantity",
        "detail",
        "reason",
        "scales",
        "seeds",
    ),
    *("control", "control_verdict", "control_value", "control_what"),
)


def format_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows of `ledger_rows` as CSV with a header: COLUMNS, nested things spelled out, None as nothing."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        control, spread = row.get("control") or {}, row.get("spread") or (None, None)
        seeds = "; ".join(f"{role} {spell_members(ids)}" for role, ids in row.get("seeds", {}).items())
        flat = {
            "control": control.get("name"),
            **{f"control_{key}": control.get(key) for key in ("verdict", "value", "what")},
            "scales": " ".join(row.get("scales") or ()),
            "seeds": seeds,
            "spread_low": spread[0],
            "spread_high": spread[1],
        }
        writer.writerow({**row, **flat})
    return out.getvalue()


def format_json(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows of `ledger_rows` as a JSON list."""
    return json.dumps(list(rows), indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False)


FORMATS: dict[str, Callable[[list[dict[str, Any]], bool], str]] = {
    "table": lambda rows, brief: format_table(rows, brief=brief),
    "json": lambda rows, brief: format_json(rows),
    "csv": lambda rows, brief: format_csv(rows),
}


def spell_interval(row: Mapping[str, Any]) -> str:
    """The interval that the claim of a row accepts, with its unit."""
    unit = "" if row["unit"] == "1" else f" {row['unit']}"
    if row["low"] is None:
        return f"≤ {row['high']:g}{unit}"
    if row["high"] is None:
        return f"≥ {row['low']:g}{unit}"
    return f"{row['low']:g} to {row['high']:g}{unit}"
