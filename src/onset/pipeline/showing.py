"""What a file is and what made it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onset.errors import OnsetError
from onset.pipeline.explain import differences
from onset.store.digest import digest_file
from onset.store.figures import read_identity
from onset.store.record import read_record

SHOWN = ("recipe", "source", "revision", "rule", "code", "python", "libraries", "device", "seconds")


def format_file(path: Path, store: Path) -> str:
    """Identity, parameters, provenance and, for results and checkpoints, variables of a published file.

    Of a figure that was copied elsewhere the record is looked for in the store, by the recipe inside.  Raises
    OnsetError where the file is missing, damaged, or not of this pipeline.
    """
    record = find_record(path, store)
    lines = [str(path)]
    if path.suffix == ".nc":
        from onset.store.netcdf import read_result

        dataset = read_result(path)
        lines += _fields({k: v for k, v in dataset.attrs.items() if k != "onset_params"})
        lines += _parameters(json.loads(dataset.attrs["onset_params"]))
        lines += ["variables:"]
        for name, variable in dataset.variables.items():
            shape = ", ".join(f"{dim} {size}" for dim, size in variable.sizes.items())
            meaning = variable.attrs.get("long_name", "")
            lines.append(f"  {name} ({shape}) {variable.dtype} [{variable.attrs.get('units', '')}] {meaning}")
    elif path.suffix == ".safetensors":
        from onset.store.checkpoints import read_checkpoint

        arrays, attributes = read_checkpoint(path)
        if "onset_recipe" not in attributes:
            raise OnsetError(foreign(path))
        lines += _fields({k: v for k, v in attributes.items() if k != "onset_params"})
        lines += [f"  {name} {array.shape} {array.dtype}" for name, array in arrays.items()]
    elif record:
        lines += _fields({key: record[key] for key in ("step", "scale") if key in record})
        lines += _parameters(record.get("parameters", {}))
    elif (identity := read_identity(path)) is not None:
        lines += _fields({"step": f"{identity.paper}/{identity.name}", "scale": identity.scale})
        lines += [f"  recipe: {identity.recipe}", "its record is neither beside it nor in the store"]
    else:
        raise OnsetError(foreign(path))
    if record:
        lines += [
            "record:",
            *_fields({key: record[key] for key in (*SHOWN, "peak_memory_mb") if key in record}),
        ]
        lines += ["made from:"]
        lines += [
            f"  {part['step']} (recipe {recipe})" for recipe, part in record.get("ancestry", {}).items()
        ]
    return "\n".join(lines)


def find_record(path: Path, store: Path) -> dict[str, Any]:
    """The record of a file, beside it or, for a figure, in the store; empty where there is none.

    Raises OnsetError where the file is missing or its bytes are not those of its record.
    """
    if not path.is_file():
        raise OnsetError(f"{path} is no file")
    record = read_record(path)
    if record is None and path.suffix in (".pdf", ".png") and (identity := read_identity(path)) is not None:
        name = f"{identity.name}-{identity.recipe}{path.suffix}"
        record = read_record(store / identity.scale / identity.paper / "figures" / name)
    if record is None:
        return {}
    if digest_file(path) != record["sha256"]:
        raise OnsetError(f"{path} is damaged (its bytes are not those of its record)")
    return record


def foreign(path: Path) -> str:
    """What to say of a file without provenance."""
    return f"{path} carries no provenance of this pipeline; `onset list` shows what it makes"


def _fields(values: dict[str, Any]) -> list[str]:
    return [f"  {key}: {value}" for key, value in values.items()]


def _parameters(tree: dict[str, Any]) -> list[str]:
    return [
        "parameters:",
        *(f"  {key.removeprefix('own.')}: {value}" for key, _, value in differences({}, tree)),
    ]
