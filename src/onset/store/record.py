"""The provenance record beside a file: `<file>.prov.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onset.store.atomic import replacing, write_text
from onset.store.digest import digest_file


def record_path(path: Path) -> Path:
    """Where the record of `path` lies."""
    return path.with_name(path.name + ".prov.json")


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write the record of `path`, whole or not at all."""
    write_text(record_path(path), json.dumps(record, indent=1, sort_keys=True) + "\n")


@contextmanager
def replacing_with_record(path: Path, record: Mapping[str, Any], mode: int = 0o444) -> Iterator[Path]:
    """As `replacing`, and the record, with the digest of the file's bytes, is in place before the file is.

    So a file that is there has a record, whenever the run is killed.
    """
    with replacing(path, mode) as temporary:
        yield temporary
        write_record(path, {**record, "sha256": digest_file(temporary)})


def read_record(path: Path) -> dict[str, Any] | None:
    """The record of `path`; None where there is none or it cannot be read."""
    try:
        record = json.loads(record_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and "recipe" in record and "sha256" in record else None
