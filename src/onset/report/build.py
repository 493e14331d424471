"""Writes the report of a scale: a page, its pictures, PDFs and claims, in one folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from onset.claims.ledger import ledger_rows, read_document
from onset.claims.verdict import dump_document
from onset.errors import OnsetError
from onset.pipeline.index import Index
from onset.pipeline.plan import Plan
from onset.pipeline.reporting import report_parts, report_path, report_recipe
from onset.report.collect import collect_report
from onset.report.entries import Report
from onset.report.pictures import draw_missing
from onset.report.render import render_page
from onset.store.digest import digest_file
from onset.store.record import write_record


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
    try:
        _replace_folder(page, report, _ledger(plan, scale))
    except OSError as error:
        raise OnsetError(f"{page.parent} cannot be written: {error.strerror or error}") from None
    say(f"wrote {page}: {len(report.figures)} figures, {drawn} drawn now")
    return page


def _replace_folder(page: Path, report: Report, ledger: str) -> None:
    """Write beside the folder of `page`, then put it in its place."""
    folder = page.parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        new, old = Path(temporary) / "new", Path(temporary) / "old"
        for figure in report.figures:
            if figure.picture is not None:
                _copy(figure.picture.path, new / figure.image)
            if figure.pdf is not None:
                _copy(figure.pdf, new / figure.document)
        new.mkdir(exist_ok=True)
        (new / "claims.json").write_text(ledger, encoding="utf-8")
        (new / page.name).write_text(render_page(report), encoding="utf-8")
        content = {
            path.relative_to(new).as_posix(): digest_file(path)
            for path in sorted(new.rglob("*"))
            if path.is_file()
        }
        record = {"recipe": report.recipe, "scale": report.scale, "sha256": content[page.name], "files": content}
        write_record(new / page.name, record)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _ledger(plan: Plan, scale: str) -> str:
    """All claims of the scale as one document."""
    paths = [Path(step.published()["json"]) for step in plan.steps(scale).claims.values()]
    rows = ledger_rows(read_document(path) for path in paths if path.exists())
    return dump_document({"scale": scale, "claims": rows})
