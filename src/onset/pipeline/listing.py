"""Tables for the terminal: what exists, what is built, what it cost, which claims held."""

from __future__ import annotations

from pathlib import Path

from onset.params.yamlfile import read_yaml
from onset.pipeline.index import Index
from onset.pipeline.plan import Plan
from onset.pipeline.steps import Step
from onset.store.record import read_record


def format_list(plan: Plan, scale: str | None) -> str:
    """Experiments and figures of every paper, with their state at each scale and what they last cost."""
    scales = (scale,) if scale is not None else plan.scales
    index = Index(plan)
    lines = []
    for paper_name, paper in plan.catalogue.papers.items():
        lines += [f"{paper_name}: {paper.title} ({paper.reference})"]
        for name, entry in [*paper.names(), *paper.tables.items()]:
            kind = getattr(entry, "kind", "table" if name in paper.tables else "figure")
            lines.append(f"  {name:<22}{kind:<10}{entry.title}")
            for each in scales:
                steps = plan.steps(each)
                step = steps.find(paper_name, name)
                state, cost = published_state(step, plan, index), _cost(step, plan)
                lines.append(f"      {each:<8}{state:<14}{cost:<10}{_path(step)}")
    return "\n".join(lines)


def _path(step: Step) -> str:
    return next(iter(step.published().values()))


def published_state(step: Step, plan: Plan, index: Index) -> str:
    """`built`, `in the store`, `not built`, `stale` (of other parameters or source) or `damaged`."""
    path = Path(_path(step))
    carried = index.carried(path)
    if carried == step.recipe:
        return "built"
    if step.stored(plan.project.store).exists():
        return "in the store"
    if not path.exists():
        return "not built"
    return "stale" if carried else "damaged"


def _cost(step: Step, plan: Plan) -> str:
    """Time of computing; what the catalogue states (~) where it has not run here."""
    seconds = measured_seconds(step, plan)
    if seconds is not None:
        return spell_seconds(seconds)
    stated = getattr(step.entry, "cost", {}).get(step.scale)
    return f"~{spell_seconds(stated)}" if stated else ""


def measured_seconds(step: Step, plan: Plan) -> float | None:
    """Time of computing, summed over blocks; None where a part has no record of its present recipe."""
    parts = [*step.needs.values(), step] if step.kind == "gather" else [step]
    seconds = 0.0
    for part in parts:
        record = read_record(part.stored(plan.project.store)) or (
            read_record(Path(_path(part))) if part.members is None else None
        )
        if record is None or record["recipe"] != part.recipe or "seconds" not in record:
            return None
        seconds += record["seconds"]
    return seconds


def spell_seconds(seconds: float) -> str:
    """Seconds below 100, else minutes or hours."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def known_failures(plan: Plan) -> dict[str, str]:
    """Why each claim that is known to fail does so, by `scale/paper/figure/claim`."""
    path = plan.project.root / "workflow" / "known_failures.yaml"
    if not path.exists():
        return {}
    return {entry["claim"]: " ".join(entry["why"].split()) for entry in read_yaml(path) or []}
