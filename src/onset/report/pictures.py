"""Pictures for the report: PNGs in the store, drawn by the figures' own code."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from onset.pipeline.index import Index
from onset.pipeline.plan import Plan
from onset.pipeline.project import Project
from onset.pipeline.spec import describe_job
from onset.pipeline.steps import Step


@dataclass(frozen=True)
class Picture:
    """A PNG: where it is, and its width and height in pixels."""

    path: Path
    width: int
    height: int


def draw_missing(plan: Plan, steps: Iterable[Step], workers: int) -> int:
    """Draw every figure that has no PNG in the store but all results that it needs there; returns how many.

    One process draws many, so that libraries are imported once for each of `workers` and not for each figure.
    Each file is the one that a rule would make, with its record.  Raises OnsetError where a step refuses.
    """
    store = plan.project.store
    todo = [
        (describe_job(step, store), plan.project, step.stored(store, "png"))
        for step in steps
        if not step.stored(store, "png").exists()
        and all(need.stored(store).exists() for need in step.needs.values())
    ]
    if workers == 1 or len(todo) < 2:
        for job in todo:
            _draw(job)
    else:
        with ProcessPoolExecutor(min(workers, len(todo)), get_context("spawn")) as pool:
            for _ in pool.map(_draw, todo):
                pass
    return len(todo)


def find_picture(step: Step, plan: Plan, index: Index) -> Picture | None:
    """The PNG of a figure's present recipe, from the store or as it was published; None without one."""
    for path in (step.stored(plan.project.store, "png"), Path(step.published()["png"])):
        if path.exists() and index.carried(path) == step.recipe:
            head = path.read_bytes()[:24]
            return Picture(path, int.from_bytes(head[16:20]), int.from_bytes(head[20:24]))
    return None


def _draw(job: tuple[dict[str, Any], Project, Path]) -> None:
    from onset.job.progress import Reporter
    from onset.pipeline.execute import draw_figure

    spec, project, target = job
    draw_figure(spec, project, target, Reporter(f"{spec['scale']}/{spec['paper']}/{spec['name']}"))
