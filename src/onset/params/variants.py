"""Named variants of a section: what each overrides of the section's own values."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

S = TypeVar("S", bound=BaseModel)


def expand_variants(section: S, key: str) -> dict[str, S]:
    """The section once for each entry of its mapping `key`, with what the entry sets put over it.

    Entries that are None are left out; so a scale can drop a variant of the base.
    """
    return {
        name: section.model_copy(update=override.model_dump(exclude_none=True))
        for name, override in getattr(section, key).items()
        if override is not None
    }
