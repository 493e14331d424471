"""Scale overlays: what differs from the base values at one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def merge(base: Any, overlay: Any) -> Any:
    """`base` with the entries of `overlay` put over it: mappings key by key, anything else as a whole."""
    if isinstance(base, Mapping) and isinstance(overlay, Mapping):
        merged = dict(base)
        for key, value in overlay.items():
            merged[key] = merge(base[key], value) if key in base else value
        return merged
    return overlay


def holds(tree: Any, path: Sequence[str | int]) -> bool:
    """Whether an overlay sets the value at `path`, or a value that contains it."""
    for key in path:
        if not isinstance(tree, Mapping):
            return True
        if key not in tree:
            return False
        tree = tree[key]
    return True
