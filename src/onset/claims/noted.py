"""Which inputs a measure reads, and from which seeds or chains they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

MEMBERS = ("seed", "chain")
"""Dimensions whose coordinate numbers them; one of names, such as the kinds of a chain, does not count."""


class Noted(Mapping[str, "xr.Dataset"]):
    """Inputs that note which of them were asked for."""

    def __init__(self, inputs: Mapping[str, xr.Dataset]) -> None:
        self._inputs = inputs
        self._read: dict[str, xr.Dataset] = {}

    def __getitem__(self, role: str) -> xr.Dataset:
        self._read[role] = self._inputs[role]
        return self._read[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self._inputs)

    def __len__(self) -> int:
        return len(self._inputs)

    def list_members(self) -> dict[str, list[int]]:
        """The seeds or chains of each Dataset that was read and has any, by role."""
        found = {}
        for role, dataset in sorted(self._read.items()):
            for dim in MEMBERS:
                if dim in dataset.dims and dataset[dim].dtype.kind in "iu":
                    found[role] = [int(member) for member in dataset[dim].values]
        return found
