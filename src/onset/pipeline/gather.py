"""Joins the blocks of an experiment along its member dimension."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from onset.errors import OnsetError
from onset.job.context import Job, Result
from onset.pipeline.catalogue import resolve_code
from onset.store.checkpoints import read_checkpoint


def join_blocks(job: Job, spec: Mapping[str, Any]) -> Result:
    """One Dataset, and one checkpoint where there are any, from all blocks; then the `finish` callable.

    Raises OnsetError where the blocks' other coordinates differ.
    """
    parts = [job.inputs[label] for label in spec["needs"]]
    try:
        joined = xr.concat(
            parts,
            dim=spec["dimension"],
            join="exact",
            data_vars="minimal",
            coords="minimal",
            compat="equals",
            combine_attrs="drop_conflicts",
        )
    except ValueError as error:
        raise OnsetError(
            f"the blocks of {spec['paper']}/{spec['name']} do not fit together: {error}"
        ) from None
    kept = ("title", "seeds", "device_type", "threads", "dtype")
    joined.attrs = {k: v for k, v in joined.attrs.items() if not k.startswith("onset_") and k not in kept}
    if spec["code"]:
        joined = resolve_code(spec["code"])(job, joined)
    weights = [Path(need["file"]).with_suffix(".safetensors") for need in spec["needs"].values()]
    if not weights[0].exists():
        return Result(joined)
    arrays = [read_checkpoint(path)[0] for path in weights]
    return Result(joined, {name: np.concatenate([part[name] for part in arrays]) for name in arrays[0]})
