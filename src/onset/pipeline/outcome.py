"""Writes what a step made; of a step whose members partly diverged, what finished."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onset.errors import OnsetError
from onset.params.overlay import merge
from onset.pipeline import provenance
from onset.pipeline.project import Project
from onset.pipeline.recipe import compute_recipe
from onset.pipeline.reference import resolve_code

if TYPE_CHECKING:
    from onset.job.context import Result
    from onset.job.diverged import Diverged


def write_outcome(
    outcome: Result,
    spec: Mapping[str, Any],
    project: Project,
    result: Path,
    checkpoint: Path | None,
    device: str,
    threads: int,
    seconds: float,
) -> None:
    """Write the Dataset to `result`, and the weights to `checkpoint` where one is wanted, with records.

    Raises OnsetError where weights are wanted and there are none.
    """
    from onset.store.checkpoints import write_checkpoint
    from onset.store.netcdf import write_result

    attributes = provenance.inside(spec, device, threads)
    floats = {str(v.dtype) for v in outcome.dataset.data_vars.values() if v.dtype.kind == "f"}
    attributes["dtype"] = ",".join(sorted(floats)) or "int"
    record = provenance.beside(spec, project.root, device, seconds)
    if checkpoint is not None:
        if outcome.checkpoint is None:
            raise OnsetError(f"{spec['code']} is a {spec['kind']} step, but it returned no checkpoint")
        write_checkpoint(outcome.checkpoint, checkpoint, attributes, record)
    write_result(outcome.dataset, result, attributes, record)


def keep_finished(
    error: Diverged,
    spec: Mapping[str, Any],
    project: Project,
    result: Path,
    checkpoint: Path | None,
    device: str,
    threads: int,
    seconds: float,
) -> str:
    """Write each finished part beside `result`, under the recipe of the section that asks for it alone.

    Gives the error's message with the changes of params.yaml after which nothing of these parts runs again.
    A block of an experiment keeps nothing: what it should compute is for its experiment to say.
    """
    changes = []
    for part in error.kept if spec["members"] is None else ():
        kept = _change(spec, part.change)
        path = result.with_name(f"{spec['name']}-{kept['recipe']}.nc")
        weights = path.with_suffix(".safetensors") if checkpoint is not None else None
        if not all(file.exists() for file in (path, weights) if file is not None):
            write_outcome(part.result, kept, project, path, weights, device, threads, seconds)
        spelled = _spell(part.change, f"{spec['paper']}.{spec['name']}")
        changes.append(" and ".join(f"`{line}`" for line in spelled))
    if not changes:
        return str(error)
    return (
        f"{error}; the others have finished and are kept: with {', or with '.join(changes)} at scale "
        f"{spec['scale']}, nothing of them is computed again"
    )


def _change(spec: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """The description of the job that the section so changed would have."""
    model = resolve_code(spec["models"]["own"])
    own = model.model_validate(merge(spec["parameters"]["own"], change)).model_dump(mode="json")
    parameters = {**spec["parameters"], "own": own}
    recipe = compute_recipe(
        paper=spec["paper"],
        scale=spec["scale"],
        name=spec["name"],
        kind=spec["kind"],
        parameters=parameters,
        members=spec["members"],
        source=spec["source"],
        needs={role: need["recipe"] for role, need in spec["needs"].items()},
    )
    return {**spec, "parameters": parameters, "recipe": recipe}


def _spell(change: Mapping[str, Any], path: str) -> Iterator[str]:
    """A change as it is typed, one line for each key that holds no mapping."""
    for key, value in change.items():
        if isinstance(value, Mapping):
            yield from _spell(value, f"{path}.{key}")
        else:
            yield f"{path}.{key}: {json.dumps(value)}"
