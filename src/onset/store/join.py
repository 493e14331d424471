"""Joining the parts of a result along one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from onset.errors import OnsetError
from onset.store.checkpoints import read_checkpoint
from onset.store.digest import digest_file
from onset.store.record import read_record


def join_datasets(parts: Sequence[xr.Dataset], dimension: str) -> xr.Dataset:
    """One Dataset from parts that differ along `dimension`, without what the store wrote about each part.

    Raises OnsetError where other coordinates, or variables without the dimension, differ.
    """
    try:
        joined = xr.concat(
            parts,
            dim=dimension,
            join="exact",
            data_vars="minimal",
            coords="minimal",
            compat="equals",
            combine_attrs="drop_conflicts",
        )
    except ValueError as error:
        raise OnsetError(f"the parts do not fit together along {dimension}: {error}") from None
    written = ("title", "seeds", "device_type", "threads", "dtype")
    joined.attrs = {k: v for k, v in joined.attrs.items() if not k.startswith("onset_") and k not in written}
    return joined


def join_checkpoints(paths: Sequence[Path], remedy: str) -> dict[str, np.ndarray]:
    """One checkpoint from parts, joined along the first axis of every array.

    Raises OnsetError, naming the file and `remedy`, where a part is missing or not what its record says.
    """
    parts = []
    for path in paths:
        arrays, _ = read_checkpoint(path, remedy)
        record = read_record(path)
        if record is None or record["sha256"] != digest_file(path):
            raise OnsetError(f"{path} is damaged (its bytes are not those of its record); {remedy}")
        parts.append(arrays)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
