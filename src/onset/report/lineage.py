"""What a figure is made from: the steps above it, the numbers that it uses, and what these cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onset.pipeline.explain import differences
from onset.pipeline.listing import measured_seconds
from onset.pipeline.plan import Plan
from onset.pipeline.reporting import BASE
from onset.pipeline.steps import Step
from onset.store.record import read_record


@dataclass(frozen=True)
class Made:
    """A step in the lineage of a figure: its digests and its cost, None where that was not measured here."""

    name: str
    kind: str
    title: str
    recipe: str
    source: str
    content: str | None
    path: str
    seconds: float | None
    members: int | None
    """How many blocks it was computed in; None where in one."""


@dataclass(frozen=True)
class Changed:
    """A number that differs from the base values: the section and key, what it is there and here."""

    key: str
    base: Any
    here: Any


def steps_above(step: Step) -> list[Step]:
    """All experiments that a step is made from, those needed first, each once; blocks are left out."""
    found: dict[tuple[str, str], Step] = {}

    def visit(part: Step) -> None:
        for need in part.needs.values():
            visit(need)
        if part is not step and part.members is None:
            found[part.paper, part.name] = part

    visit(step)
    return list(found.values())


def describe_step(step: Step, plan: Plan) -> Made:
    """A step as a page shows it."""
    path = next(iter(step.published().values()))
    record = read_record(Path(path)) or {}
    whole = record.get("recipe") == step.recipe
    blocks = len(step.needs) if step.kind == "gather" else None
    return Made(
        name=step.name,
        kind=step.entry.kind if step.kind == "gather" else step.kind,  # type: ignore[union-attr]
        title=step.entry.title,
        recipe=step.recipe,
        source=step.source,
        content=(record.get("content") or record.get("sha256", "")[:16]) if whole else None,
        path=path,
        seconds=measured_seconds(step, plan),
        members=blocks,
    )


def changed_parameters(step: Step, plan: Plan) -> list[Changed]:
    """The numbers used by a step and all above it that differ from those of the base scale, by section."""
    base = plan.steps(BASE)
    sections: dict[str, tuple[Any, Any]] = {}
    for part in [*steps_above(step), step]:
        before, after = base.find(part.paper, part.name).parameters, part.parameters
        for role in after:
            name = {"own": part.name}.get(role) or part.entry.reads.get(role, role)
            sections[name] = (_numbers(before.get(role), part), _numbers(after[role], part))
    return [
        Changed(key, old, new)
        for name, (before, after) in sections.items()
        for key, old, new in differences(before, after, name)
    ]


def total_seconds(steps: Iterable[Step], plan: Plan) -> tuple[float, int]:
    """Seconds of all steps that were measured here, and how many were not."""
    found = [measured_seconds(step, plan) for step in steps]
    return sum(seconds for seconds in found if seconds is not None), found.count(None)


def _numbers(section: Any, step: Step) -> Any:
    """A section without the size of a block, which says only how the work was shared out."""
    members = getattr(step.entry, "members", None)
    if members is None or not isinstance(section, dict):
        return section
    return {key: value for key, value in section.items() if key != members.block}
