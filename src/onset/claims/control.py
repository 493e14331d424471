"""Controls: inputs of which a claim must not hold, made from its own by a cheap change.

A claim that accepts the results of models that never learned, or of a theory with another constant, says
nothing about those that did.  Each claim names its control; the verdict on it stands beside the claim's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

    from onset.claims.claim import Claim

Change = Callable[[str, Mapping[str, "xr.Dataset"]], "xr.Dataset"]
"""From a role and all inputs to the changed Dataset of that role; the inputs are left as they are."""


@dataclass(frozen=True)
class Control:
    """A change of a claim's inputs after which the claim must not hold.

    name     short, for tables: `untrained`
    what     what the inputs become, for a reader
    change   the changed Dataset of a role, from the inputs
    """

    name: str
    what: str
    change: Change

    def apply(self, inputs: Mapping[str, xr.Dataset]) -> Mapping[str, xr.Dataset]:
        """The changed inputs; each is changed when first asked for."""
        return Changed(inputs, self.change)


class Changed(Mapping[str, "xr.Dataset"]):
    """Inputs after a change, which is made of each when it is first asked for."""

    def __init__(self, inputs: Mapping[str, xr.Dataset], change: Change) -> None:
        self._inputs, self._change = inputs, change
        self._made: dict[str, xr.Dataset] = {}

    def __getitem__(self, role: str) -> xr.Dataset:
        if role not in self._made:
            self._made[role] = self._change(role, self._inputs)
        return self._made[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self._inputs)

    def __len__(self) -> int:
        return len(self._inputs)


def assign_controls(
    claims: Iterable[Claim], default: Control | None, others: Mapping[str, Control] | None = None
) -> tuple[Claim, ...]:
    """The claims, each with its control: its own, else that of `others` by id, else the default.

    Raises ValueError where `others` names no claim, or one that has a control of its own.
    """
    claims, left = tuple(claims), dict(others or {})
    found = []
    for claim in claims:
        given = left.pop(claim.id, None)
        if claim.control is not None and given is not None:
            raise ValueError(f"claim {claim.id} is given two controls")
        found.append(replace(claim, control=claim.control or given or default))
    if left:
        raise ValueError(f"controls for claims that do not exist: {', '.join(sorted(left))}")
    return tuple(found)
