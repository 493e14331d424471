"""The recipe of a step: the digest of what decides its content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onset.store.digest import digest_json

STORE_FORMAT = 1
"""Changes when what is written for the same parameters and source changes."""


def compute_recipe(
    *,
    paper: str,
    scale: str,
    name: str,
    kind: str,
    parameters: Mapping[str, Any],
    members: Sequence[int] | None,
    source: str,
    needs: Mapping[str, str],
) -> str:
    """The digest of a step's name, parameters, members, source and the recipes of what it needs, by role.

    Figures, claims and tables say at which scale they are, so that theirs counts too.
    """
    identity = {
        "format": STORE_FORMAT,
        "paper": paper,
        "name": name,
        "kind": kind,
        "parameters": parameters,
        "members": list(members or []),
        "source": source,
        "needs": dict(needs),
    }
    if kind in ("figures", "claims", "tables"):
        identity["scale"] = scale
    return digest_json(identity)
