"""What the report of a scale is made from, and its recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from onset.pipeline.plan import Plan
from onset.pipeline.source import digest_source
from onset.pipeline.steps import Step
from onset.store.digest import digest_file, digest_json

WRITER = "onset.report.build:write_report"
BASE = "paper"
"""The scale whose values the others are compared with."""


def report_path(scale: str) -> Path:
    """The page of a scale's report; what it shows lies in the folders beside it."""
    return Path("report") / scale / "index.html"


def report_parts(plan: Plan, scale: str) -> dict[str, Step]:
    """Everything published at a scale by path, without PNGs, which the report has of its own."""
    return {
        path: step
        for path, (step, extension) in plan.published().items()
        if step.scale == scale and extension != "png"
    }


def report_recipe(plan: Plan, scale: str, carried: Mapping[str, str | None] | None = None) -> str:
    """The digest of what decides a report's content.

    These are the recipes of all that it shows, the base values that parameters are compared with, titles,
    known failures, and the source and templates that write it.  `carried` has the recipes of the published
    files as they are; where it is left out, all are what the plan wants.
    """
    wanted = {path: step.recipe for path, step in report_parts(plan, scale).items()}
    base = {
        paper: {name: section.model_dump(mode="json") for name, section in sections.items()}
        for paper, sections in plan.parameters.sections[BASE].items()
    }
    templates = sorted((plan.project.source / "onset" / "report" / "templates").iterdir())
    read = [*templates, plan.project.catalogue, plan.project.root / "workflow" / "known_failures.yaml"]
    return digest_json(
        {
            "scale": scale,
            "parts": wanted if carried is None else {path: carried.get(path) for path in wanted},
            "base": base,
            "files": {path.name: digest_file(path) for path in read if path.is_file()},
            "captions": _digest_docstrings(plan, scale),
            "source": digest_source(plan.project.source, (WRITER,)),
        }
    )


def _digest_docstrings(plan: Plan, scale: str) -> str:
    """Digest of the files from which captions are read: a recipe leaves docstrings out."""
    codes = sorted({step.code.partition(":")[0] for step in plan.steps(scale).figures.values()})
    files = (plan.project.source.joinpath(*code.split(".")).with_suffix(".py") for code in codes)
    return hashlib.sha256("".join(digest_file(path) for path in files).encode()).hexdigest()
