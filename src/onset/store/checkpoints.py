"""Weights as safetensors files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from onset.errors import OnsetError
from onset.store.digest import canonical_json
from onset.store.record import replacing_with_record


def write_checkpoint(
    arrays: Mapping[str, Any], path: Path, attributes: Mapping[str, Any], record: Mapping[str, Any]
) -> None:
    """Write named arrays (NumPy, or torch tensors on any device) and a record, whole or not at all.

    The attributes are one JSON text in the header: with several entries the header's order would vary.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    plain = {name: _as_numpy(array) for name, array in arrays.items()}
    with replacing_with_record(path, record) as temporary:
        try:
            save_file(plain, temporary, metadata={"onset": canonical_json(dict(attributes))})
        except SafetensorError as error:
            raise OSError(str(error)) from error


def read_checkpoint(path: Path, remedy: str = "") -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and attributes of a checkpoint.

    Raises OnsetError in one line where the file is missing or damaged.
    """
    from safetensors import SafetensorError, safe_open

    advice = f"; {remedy}" if remedy else ""
    try:
        with safe_open(path, framework="np") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return arrays, json.loads((file.metadata() or {}).get("onset", "{}"))
    except FileNotFoundError:
        raise OnsetError(f"{path} does not exist{advice}") from None
    except (SafetensorError, OSError) as error:
        raise OnsetError(f"{path} is damaged ({error}){advice}") from None


def _as_numpy(array: Any) -> np.ndarray:
    if hasattr(array, "detach"):
        array = array.detach().cpu().numpy()
    return np.asarray(array, order="C")
