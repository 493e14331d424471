"""Is every published file whole, and is it what the present parameters and source give?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from onset.errors import OnsetError
from onset.pipeline.explain import changes_since
from onset.pipeline.plan import Plan
from onset.pipeline.showing import find_record, foreign
from onset.pipeline.steps import Step
from onset.store.digest import digest_file
from onset.store.record import read_record, record_path


def verify_published(plan: Plan, scale: str | None) -> tuple[str, bool]:
    """A line for each published file, and whether all are sound.

    `ok`, `stale` (whole, but made from other parameters or source) or `damaged`, with the remedy.  Every
    byte is read again; netCDF content is compared with the digest inside as well.
    """
    if scale is not None:
        plan.steps(scale)
    lines, sound, count = [], True, 0
    for name, (step, _) in plan.published().items():
        path = Path(name)
        if not path.exists() or (scale is not None and step.scale != scale):
            continue
        count += 1
        state = inspect_file(path)
        if state == "ok" and _carried(path) != step.recipe:
            state = f"stale: carries {_carried(path)}, the present parameters and source give {step.recipe}"
        if state != "ok":
            sound = False
            lines.append(f"  {name}: {state}; mend it with: snakemake --cores 2 -- {name}")
    published = plan.published()
    for name, target in plan.links().items():
        path = Path(name)
        if not path.exists() or (scale is not None and published[target][0].scale != scale):
            continue
        count += 1
        if path.resolve() != Path(target).resolve():
            sound = False
            lines.append(
                f"  {name}: no link to {target}; mend it with: snakemake --cores 2 --force -- {name}"
            )
    head = f"{count} published file(s) checked, {count - len(lines)} ok"
    return "\n".join([head, *lines]), sound


def verify_files(plan: Plan, paths: Iterable[Path]) -> tuple[str, bool]:
    """A line for each file, and whether all are what the present parameters, source and inputs give.

    Digests are computed again.  Of a file that is whole but made from something else, every parameter, source
    and input in which it differs is named.  Raises OnsetError where a file is missing, damaged or foreign.
    """
    lines = []
    sound = True
    for path in paths:
        record = _identify(path, plan)
        step = _find_step(plan, record)
        if step is None:
            raise OnsetError(f"{path} was made by {record.get('step')}, which the catalogue no longer has")
        differing = [] if record["recipe"] == step.recipe else changes_since(step, record)
        if record["recipe"] == step.recipe:
            differing = _changed_inputs(step, record, plan)
        elif not differing:
            differing = ["what its inputs are made from changed"]
        sound = sound and not differing
        lines.append(f"{path}: {'; '.join(differing) or f'ok (recipe {step.recipe})'}")
    return "\n".join(lines), sound


def _identify(path: Path, plan: Plan) -> dict[str, Any]:
    """The record of a file that is whole; of a result without one, what its attributes say."""
    record = find_record(path, plan.project.store)
    if path.suffix == ".nc":
        import json

        from onset.store.netcdf import read_result

        attributes = read_result(path).attrs
        named = {"recipe": attributes["onset_recipe"], "step": attributes["onset_step"]}
        return {**named, "parameters": json.loads(attributes["onset_params"]), **record}
    if "step" not in record:
        raise OnsetError(foreign(path))
    return record


def _find_step(plan: Plan, record: dict[str, Any]) -> Step | None:
    """The step that a record is of: at its scale, else where the recipe is the same, else anywhere."""
    same = [
        step
        for scale in plan.scales
        if record.get("scale", scale) == scale
        for step in plan.steps(scale)
        if f"{step.paper}/{step.name}" == record["step"]
        and (step.kind == "claims") == (record.get("rule") == "claims")
    ]
    return next((step for step in same if step.recipe == record["recipe"]), same[0] if same else None)


def _changed_inputs(step: Step, record: dict[str, Any], plan: Plan) -> list[str]:
    """Inputs that were computed again since, with the same recipe and another content."""
    found = []
    for need in step.needs.values():
        before = record.get("ancestry", {}).get(need.recipe, {})
        now = read_record(need.stored(plan.project.store)) or {}
        if before.get("content") and now.get("content") not in (None, before["content"]):
            label = f"{need.paper}/{need.name}"
            found.append(
                f"input {label}: content {before['content']} -> {now['content']}, with the same recipe"
            )
    return found


def inspect_file(path: Path) -> str:
    """`ok`, or what is wrong with a published file and its record."""
    if not path.is_file():
        return "damaged: it is no file; remove it"
    record = read_record(path)
    if record is None:
        return f"damaged: its record {record_path(path).name} is missing or cannot be read"
    if digest_file(path) != record["sha256"]:
        return "damaged: its bytes are not those of its record"
    if path.suffix == ".nc":
        from onset.store.netcdf import read_result

        try:
            read_result(path)
        except OnsetError as error:
            return f"damaged: {error}"
    return "ok"


def _carried(path: Path) -> str | None:
    record = read_record(path)
    return record["recipe"] if record else None
