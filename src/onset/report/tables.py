"""Tables that the pipeline published as CSV, as a page shows them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from onset.errors import OnsetError


@dataclass(frozen=True)
class Table:
    """Names of columns and rows of cells, as text; `numeric` says which columns hold numbers alone."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]


def read_table(path: Path) -> Table | None:
    """A table with its numbers to four digits, without the comments at its head; None where there is none.

    Raises OnsetError, naming the file, where rows and columns do not fit or it is not text.
    """
    if not path.is_file():
        return None
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    except UnicodeDecodeError:
        raise OnsetError(f"{path} is not a table; remove it and build it again") from None
    cells = list(csv.reader(lines))
    if not cells or any(len(row) != len(cells[0]) for row in cells):
        raise OnsetError(f"{path} is not a table; remove it and build it again")
    columns, rows = cells[0], cells[1:]
    numeric = tuple(all(_is_number(row[i]) for row in rows if row[i]) for i in range(len(columns)))
    shown = tuple(tuple(_shorten(cell) for cell in row) for row in rows)
    return Table(tuple(columns), shown, numeric)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _shorten(cell: str) -> str:
    if not _is_number(cell) or len(cell) <= 6:
        return cell
    return f"{float(cell):.4g}"
