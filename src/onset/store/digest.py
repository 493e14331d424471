"""Digests: of files, of the content of a Dataset, of anything that JSON can hold."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

LENGTH = 16
"""Hexadecimal digits of a recipe or content digest."""


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_json(value: Any) -> str:
    """Digest of a JSON value."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:LENGTH]


def digest_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in full."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_content(dataset: xr.Dataset) -> str:
    """Digest of the variables and coordinates of a Dataset: names, dimensions, types and values.

    Attributes, encoding and the order of variables do not enter.  NaNs count by their bits.
    """
    import numpy as np

    total = hashlib.sha256()
    for name in sorted(map(str, dataset.variables)):
        variable = dataset.variables[name]
        values = np.asarray(variable.values)
        if values.dtype.kind in "OUT":
            body = json.dumps([str(v) for v in values.ravel()]).encode()
            kind = "text"
        else:
            values = np.ascontiguousarray(values)
            kind = values.dtype.newbyteorder("<").str
            body = values.astype(kind, copy=False).tobytes()
        header = json.dumps([name, list(map(str, variable.dims)), list(values.shape), kind])
        total.update(header.encode())
        total.update(body)
    return total.hexdigest()[:LENGTH]
