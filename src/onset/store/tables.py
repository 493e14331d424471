"""Tables as CSV, with what made them in comments at their head."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onset.store.record import replacing_with_record

if TYPE_CHECKING:
    import pandas as pd


def write_table(
    table: pd.DataFrame, path: Path, heading: Mapping[str, str], record: Mapping[str, Any]
) -> None:
    """Write a table and its record, whole or not at all; the index of the table is left out.

    `heading` becomes lines "# key: value" before the row of names: read it with
    `pandas.read_csv(path, comment="#")`.  Raises ValueError where the table itself has a "#", and OnsetError
    where the file cannot be written.
    """
    body = table.to_csv(index=False, lineterminator="\n")
    if "#" in body:
        raise ValueError("a table should hold no '#', which begins a comment in the file")
    with replacing_with_record(path, record) as temporary:
        head = "".join(f"# {key}: {value}\n" for key, value in heading.items())
        temporary.write_text(head + body, encoding="utf-8")
