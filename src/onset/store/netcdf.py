"""Results as netCDF-4 files: explicit encoding, checked content, no handle left open."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from onset.errors import OnsetError
from onset.store.digest import digest_content
from onset.store.record import replacing_with_record


def write_result(
    dataset: xr.Dataset, path: Path, attributes: Mapping[str, Any], record: Mapping[str, Any]
) -> None:
    """Write a Dataset and its record, whole or not at all; the file is read-only.

    Every numeric variable must have `long_name` and `units` (ValueError otherwise).  Raises OnsetError where
    the file cannot be written.  `attributes` are
    strings and numbers and join the Dataset's own; the content digest is added as `onset_content`.
    """
    for name, variable in dataset.variables.items():
        missing = [key for key in ("long_name", "units") if key not in variable.attrs]
        if missing and variable.dtype.kind not in "OUT":
            raise ValueError(f"variable '{name}' lacks the attributes {', '.join(missing)}")
    content = digest_content(dataset)
    stored = dataset.copy(deep=False)
    stored.attrs = {**dataset.attrs, **attributes, "onset_content": content}
    with replacing_with_record(path, {**record, "content": content}) as temporary:
        try:
            stored.to_netcdf(temporary, engine="netcdf4", format="NETCDF4", encoding=_encode(stored))
        except RuntimeError as error:  # all that the library tells of a full disk
            raise OSError(f"{error}; is the disk full?") from error


def _encode(dataset: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Explicit encoding: the variable's own type, zlib 4 with shuffle for arrays of some size, chunks of at
    most about a million values."""
    encoding: dict[str, dict[str, Any]] = {}
    for name, variable in dataset.variables.items():
        chosen: dict[str, Any] = {"_FillValue": None}
        if variable.dtype.kind in "OUT":
            encoding[str(name)] = {}
            continue
        if variable.dtype != np.dtype(bool):  # xarray marks booleans itself, where no type is asked for
            chosen["dtype"] = variable.dtype
        if variable.ndim and variable.size >= 64:
            chosen |= {"zlib": True, "complevel": 4, "shuffle": True, "chunksizes": _chunks(variable.shape)}
        encoding[str(name)] = chosen
    return encoding


def _chunks(shape: tuple[int, ...], most: int = 1 << 20) -> tuple[int, ...]:
    chunks = list(shape)
    for axis in range(len(chunks)):
        rest = int(np.prod(chunks[axis + 1 :], dtype=np.int64))
        chunks[axis] = max(1, min(chunks[axis], most // max(rest, 1)))
        if chunks[axis] * rest <= most and chunks[axis] > 1:
            break
    return tuple(chunks)


def read_result(path: Path, remedy: str = "") -> xr.Dataset:
    """Read a result into memory and check its content digest.

    Raises OnsetError in one line that names the file and `remedy` where it is missing, cannot be read,
    or does not hold what its digest says.
    """
    advice = f"; {remedy}" if remedy else ""
    if not path.exists():
        raise OnsetError(f"{path} does not exist{advice}")
    try:
        dataset = xr.load_dataset(path, engine="netcdf4")
    except Exception as error:
        raise OnsetError(f"{path} is damaged ({str(error).splitlines()[0][:80]}){advice}") from None
    stated = dataset.attrs.get("onset_content")
    if stated is None:
        raise OnsetError(f"{path} carries no content digest, so it is not a result of this pipeline{advice}")
    if digest_content(dataset) != stated:
        raise OnsetError(f"{path} is damaged (its content is not what its digest says){advice}")
    return dataset
