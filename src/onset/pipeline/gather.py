"""Joins the blocks of an experiment along its member dimension."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onset.job.context import Job, Result
from onset.pipeline.reference import resolve_code
from onset.store.join import join_checkpoints, join_datasets


def join_blocks(job: Job, spec: Mapping[str, Any]) -> Result:
    """One Dataset, and one checkpoint where there are any, from all blocks; then the `finish` callable.

    Raises OnsetError where the blocks do not fit together or are damaged.
    """
    joined = join_datasets([job.inputs[label] for label in spec["needs"]], spec["dimension"])
    if spec["code"]:
        joined = resolve_code(spec["code"])(job, joined)
    weights = [Path(need["file"]).with_suffix(".safetensors") for need in spec["needs"].values()]
    if not weights[0].exists():
        return Result(joined)
    path = next(iter(spec["needs"].values()))["path"]
    return Result(joined, join_checkpoints(weights, f"rebuild it with: snakemake --cores 2 -- {path}"))
