"""Writes the report of a scale: a page, its pictures, PDFs and claims, in one folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from onset.claims.ledger import ledger_rows, read_document
from onset.claims.verdict import dump_document
from onset.errors import OnsetError
from onset.pipeline.index import Index
from onset.pipeline.plan import Plan
from onset.pipeline.reporting import report_parts, report_path, report_recipe
from onset.report.collect import collect_report
from onset.report.folder import replace_folder
from onset.report.pictures import draw_missing


def write_report(
    plan: Plan, scale: str, workers: int, say: Callable[[str], None], recipe: str | None = None
) -> Path:
    """Write the report of what is published at a scale and return the path of its page.

    Pictures that are missing are drawn first, by `workers` processes.  The folder is replaced as a whole.
    What is not built is named as such.  Where `recipe` is given, the report must be the one with that recipe.
    Raises OnsetError where there is no such scale, where parameters or source are no longer those of
    `recipe`, or where a published document cannot be read.
    """
    steps = plan.steps(scale)
    index = Index(plan)
    carried = {path: index.carried(Path(path)) for path in report_parts(plan, scale)}
    identity = report_recipe(plan, scale, carried)
    if recipe is not None and identity != recipe:
        raise OnsetError(
            "the report's parts, parameters or source changed after this build was planned; run the same "
            "command again"
        )
    built = [step for step in steps.figures.values() if carried[step.published()["pdf"]] == step.recipe]
    drawn = draw_missing(plan, built, workers)
    report = collect_report(plan, scale, identity, index)
    page = report_path(scale)
    replace_folder(page, report, _ledger(plan, scale))
    say(f"wrote {page}: {len(report.figures)} figures, {drawn} drawn now")
    return page


def _ledger(plan: Plan, scale: str) -> str:
    """All claims of the scale as one document."""
    paths = [Path(step.published()["json"]) for step in plan.steps(scale).claims.values()]
    rows = ledger_rows(read_document(path) for path in paths if path.exists())
    return dump_document({"scale": scale, "claims": rows})
