"""What the store wrote into a result's attributes, read back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr


def parameters_of(dataset: xr.Dataset) -> dict[str, Any]:
    """The resolved parameters that a stored result carries (`own`, shared sections, …); empty where none."""
    found = json.loads(dataset.attrs.get("onset_params", "{}"))
    return found if isinstance(found, dict) else {}
