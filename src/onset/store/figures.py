"""What a figure, PDF or PNG, says of itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

IDENTITY = re.compile(rb"onset (?P<paper>[a-z0-9_]+)/(?P<name>[a-z0-9_]+) scale (\S+) recipe ([0-9a-f]{16})")


@dataclass(frozen=True)
class Identity:
    """Which figure a file is, at which scale, and the recipe that made it."""

    paper: str
    name: str
    scale: str
    recipe: str


def read_identity(path: Path) -> Identity | None:
    """The identity in the metadata of a figure of this pipeline; None where there is none."""
    found = IDENTITY.search(path.read_bytes())
    return Identity(*(word.decode() for word in found.groups())) if found else None
