"""Two claim ledgers compared verdict by verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from onset.claims.verdict import VERDICTS
from onset.errors import OnsetError

Key = tuple[str, str, str]
"""Paper, figure and identifier of a claim."""


def read_ledger(path: Path) -> dict[Key, dict[str, Any]]:
    """The rows of a ledger by claim, in its order.

    A ledger is the document of one figure, of a report, or a list of such documents or of rows.  Raises
    OnsetError, naming the file, where it is none.
    """
    try:
        rows = {_key(row): row for row in _rows(json.loads(path.read_text(encoding="utf-8")), {})}
        if not all(row["verdict"] in VERDICTS for row in rows.values()):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise OnsetError(
            f"{path} does not hold claims; they are in results/<scale>/<paper>/claims/<figure>.json"
        ) from None
    return rows


def compare_ledgers(
    before: Mapping[Key, Mapping[str, Any]], after: Mapping[Key, Mapping[str, Any]], rtol: float, atol: float
) -> tuple[list[str], bool]:
    """A line for each claim that differs, then the counts; and whether all verdicts are the same.

    A value that moved by more than `atol + rtol * |before|` is told, but changes no verdict.
    """
    lines, differ = [], 0
    for key in dict.fromkeys([*before, *after]):
        name = "/".join(key)
        if key not in before or key not in after:
            differ += 1
            lines.append(f"{name}: only in the {'first' if key in before else 'second'}")
            continue
        old, new = before[key], after[key]
        values = f" ({_spell(old['value'])} -> {_spell(new['value'])})"
        if _verdict(old) != _verdict(new):
            differ += 1
            lines.append(f"{name}: {_verdict(old)} -> {_verdict(new)}{values}")
        elif _moved(old["value"], new["value"], rtol, atol):
            lines.append(f"{name}: {_verdict(old)} in both{values}")
    same = len({*before, *after}) - differ
    lines.append(f"{same} claim(s) with the same verdict, {differ} with another or only in one")
    return lines, differ == 0


def _rows(found: Any, head: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows of nested documents, each with paper and figure."""
    if isinstance(found, list):
        for each in found:
            yield from _rows(each, head)
    elif "claims" in found:
        yield from _rows(found["claims"], {key: found[key] for key in ("paper", "figure") if key in found})
    else:
        yield {**head, **found}


def _key(row: Mapping[str, Any]) -> Key:
    return row["paper"], row["figure"], row["id"]


def _verdict(row: Mapping[str, Any]) -> str:
    return f"{row['verdict']}, vacuous" if row.get("vacuous") else row["verdict"]


def _moved(old: float | None, new: float | None, rtol: float, atol: float) -> bool:
    if old is None or new is None:
        return old is not new
    return not math.isclose(old, new, rel_tol=0, abs_tol=atol + rtol * abs(old))


def _spell(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
