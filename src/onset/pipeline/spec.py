"""The description of one job, as it is handed from the rules to the `onset` command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onset.pipeline.steps import Step


def describe_job(step: Step, store: Path) -> dict[str, Any]:
    """All that a job needs to know, as JSON: so an edit made while a build runs cannot reach it."""
    needs = {}
    members = step.members
    if step.kind == "gather":
        members = tuple(member for need in step.needs.values() for member in need.members or ())
    for role, need in step.needs.items():
        needs[role] = {"recipe": need.recipe, "file": str(need.stored(store)), "path": rebuild_path(need)}
    return {
        "paper": step.paper,
        "scale": step.scale,
        "name": step.name,
        "kind": step.kind,
        "code": step.code,
        "theory": step.theory,
        "title": step.entry.title,
        "parameters": step.parameters,
        "models": step.models,
        "whole": step.whole,
        "members": list(members) if members is not None else None,
        "dimension": step.dimension,
        "needs": needs,
        "recipe": step.recipe,
        "source": step.source,
        "references": list(step.references),
        "modules": step.modules,
        "text": step.text,
    }


def rebuild_path(step: Step) -> str:
    """The published path whose build makes the step's file."""
    paths = step.published()
    if paths:
        return next(iter(paths.values()))
    return f"results/{step.scale}/{step.paper}/{step.name.partition('.')[0]}.nc"
