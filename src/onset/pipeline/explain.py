"""Why a step would run: what differs from the last time that it did.  Opens records, never results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from onset.errors import OnsetError
from onset.params.validate import nearest_path
from onset.pipeline.index import Index
from onset.pipeline.plan import Plan
from onset.pipeline.steps import Step
from onset.store.record import read_record


def explain(plan: Plan, path: str) -> str:
    """One line for each step that building `path` would run, with the reason; or that nothing would.

    Raises OnsetError where nothing is published under `path`.
    """
    published, links = plan.published(), plan.links()
    name = links.get(Path(path).as_posix(), Path(path).as_posix())
    if name not in published:
        raise OnsetError(f"nothing is published as {path}; {nearest_path(path, [*published, *links])}")
    step, extension = published[name]
    store = plan.project.store
    index = Index(plan)
    carried = index.carried(Path(name))
    wanted = [(step, extension)] if carried != step.recipe else []
    claims = plan.steps(step.scale).claims.get((step.paper, step.name))
    if step.kind == "figures" and claims:
        for kind, path in claims.published().items():
            if index.carried(Path(path)) != claims.recipe:
                wanted.append((claims, kind))
    lines = [f"  {_label(part)}: {reason}" for part, reason in missing_steps(wanted, store, index)]
    if not lines and carried == step.recipe:
        return f"{name} is up to date (recipe {step.recipe})"
    if lines:
        return "\n".join([f"building {name} would run {len(lines)} step(s):", *lines])
    state = "is not there" if not Path(name).exists() else f"carries recipe {carried or 'unknown (damaged)'}"
    return f"{name} {state}; {step.recipe} is in the store and would be copied, nothing would run"


def missing_steps(targets: list[tuple[Step, str]], store: Path, index: Index) -> Iterator[tuple[Step, str]]:
    """The steps that must run before each target has its file in the store, in order, with reasons.

    A target is a step and the extension of the file that is wanted of it.

    A file that is published and whole needs no run: it is taken into the store when a build begins.
    """
    seen: set[str] = set()

    def there(part: Step, extension: str) -> bool:
        path = part.published().get(extension)
        published = path is not None and index.carried(Path(path)) == part.recipe
        return part.stored(store, extension).exists() or published

    def visit(part: Step, wanted: tuple[str, ...]) -> Iterator[tuple[Step, str]]:
        if part.recipe in seen or all(there(part, e) for e in wanted):
            return
        seen.add(part.recipe)
        for need in part.needs.values():
            yield from visit(
                need, ("nc", "safetensors") if part.kind == "gather" and need.has_checkpoint else ("nc",)
            )
        yield part, why_missing(part, store)

    for step, extension in targets:
        yield from visit(step, (extension,))


def why_missing(step: Step, store: Path) -> str:
    """What differs between the step and what is published, or the last file of that name in the store."""
    last = _last_record(step, store)
    if last is None:
        return "has not run yet"
    if last["recipe"] == step.recipe:
        return "its file is missing from the store"
    return "; ".join(changes_since(step, last)) or "an input changed"


def changes_since(step: Step, last: Mapping[str, Any]) -> list[str]:
    """The parameters, source and inputs in which a step differs from the record of an earlier run of it."""
    changes = [
        f"{key} {old!r} -> {new!r}"
        for key, old, new in differences(last.get("parameters", {}), step.parameters)
    ]
    if last.get("source") != step.source:
        now, before = step.modules, last.get("modules", {})
        moved = [name for name in sorted({*now, *before}) if now.get(name) != before.get(name)]
        named = f"source of {', '.join(moved[:4])}{' and others' if len(moved) > 4 else ''}"
        changes.append(named if before else "the source it depends on changed")
    used = last.get("ancestry", {})
    steps = {part.get("step"): recipe for recipe, part in used.items()}
    for need in step.needs.values():
        if used and need.recipe not in used:
            label = f"{need.paper}/{need.name}"
            changes.append(f"input {label}: recipe {steps.get(label, 'none')} -> {need.recipe}")
    return changes


def differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The leaves at which two parameter trees differ, with both values (None where there is none)."""
    if isinstance(before, dict) or isinstance(after, dict):
        before, after = (tree if isinstance(tree, dict) else {} for tree in (before, after))
        for key in sorted({*before, *after}):
            yield from differences(before.get(key), after.get(key), f"{path}.{key}" if path else key)
    elif before != after:
        yield path.removeprefix("own."), before, after


def _last_record(step: Step, store: Path) -> dict[str, Any] | None:
    """The record of the published file, else of the newest store file of the same name."""
    path = step.stored(store)
    for place in step.published().values():
        if (found := read_record(Path(place))) is not None:
            return found
    candidates = path.parent.glob(f"{step.name}-*.{path.suffix[1:]}.prov.json")
    newest = sorted(candidates, key=lambda p: p.stat().st_mtime, reverse=True)
    for record in newest:
        if (found := read_record(record.with_name(record.name.removesuffix(".prov.json")))) is not None:
            return found
    return None


def _label(step: Step) -> str:
    return f"{step.kind} {step.scale}/{step.paper}/{step.name}"
