"""The folder of a report, replaced as a whole."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from onset.errors import OnsetError
from onset.report.entries import Report
from onset.report.render import render_page
from onset.store.digest import digest_file
from onset.store.record import write_record


def replace_folder(page: Path, report: Report, ledger: str) -> None:
    """Write page, pictures, PDFs and `ledger` beside the folder of `page`, then put them in its place.

    The record beside the page has the digest of every file.  Raises OnsetError, naming the folder, where it
    cannot be written.
    """
    try:
        _replace(page, report, ledger)
    except OSError as error:
        raise OnsetError(f"{page.parent} cannot be written: {error.strerror or error}") from None


def _replace(page: Path, report: Report, ledger: str) -> None:
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
        record = {
            "recipe": report.recipe,
            "scale": report.scale,
            "sha256": content[page.name],
            "files": content,
        }
        write_record(new / page.name, record)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
