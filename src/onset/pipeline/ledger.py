"""The claims of a scale: which are evaluated, which hold, which say nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onset.claims.ledger import FORMATS, ledger_rows, read_document
from onset.errors import OnsetError
from onset.params.validate import nearest
from onset.pipeline.index import Index
from onset.pipeline.listing import known_failures
from onset.pipeline.plan import Plan


@dataclass(frozen=True)
class Ledger:
    """Claims of one scale.

    rows    one for each claim, with scale, paper and figure
    notes   what a reader should know: files that are missing or stale, failures with their reasons
    sound   whether all are evaluated and current, none is vacuous, and none failed but those that
            workflow/known_failures.yaml lists
    """

    rows: list[dict[str, Any]]
    notes: list[str]
    sound: bool


def gather_claims(plan: Plan, scale: str, what: str | None = None, paper: str | None = None) -> Ledger:
    """The claims of a scale, or of what is named `paper`, `paper/figure` or `paper/figure/claim`.

    Raises OnsetError, with the nearest name, where there is no such scale, paper, figure or claim, and
    where a file does not hold claims.
    """
    steps = plan.steps(scale)
    owner, figure, claim = _read_name(what, paper)
    _check("paper", owner, plan.catalogue.papers)
    chosen = {key: step for key, step in steps.claims.items() if owner in (None, key[0])}
    _check(f"figure of {owner} with claims", figure, [name for _, name in chosen])
    chosen = {key: step for key, step in chosen.items() if figure in (None, key[1])}
    index, rows, notes, sound = Index(plan), [], [], True
    for (name, of), step in chosen.items():
        path = Path(next(iter(step.published().values())))
        if not path.exists():
            sound = False
            notes.append(f"{name} {of}: not evaluated yet; run: snakemake --cores 2 -- {path}")
            continue
        if index.carried(path) != step.recipe:
            sound = False
            notes.append(f"{name} {of}: out of date; run: snakemake --cores 2 -- {path}")
        rows += ledger_rows([read_document(path)])
    if claim is not None:
        if not rows:
            raise OnsetError(notes[0] if notes else f"{owner}/{figure} has no claims")
        _check(f"claim of {owner}/{figure}", claim, [row["id"] for row in rows])
        rows = [row for row in rows if row["id"] == claim]
    known = known_failures(plan)
    for row in rows:
        name = "/".join(row[key] for key in ("scale", "paper", "figure", "id"))
        if row["verdict"] == "failed":
            sound = sound and name in known
            notes.append(f"{name} failed: {known.get(name, 'not a known failure')}")
        if row.get("vacuous"):
            sound = False
            notes.append(f"{name} is vacuous: it also holds where {row['control']['what']}")
    return Ledger(rows, notes, sound)


def format_claims(ledger: Ledger, form: str, brief: bool = False) -> str:
    """The rows as `table`, `json` or `csv`.   Raises OnsetError, with the nearest name, for another form."""
    _check("format", form, FORMATS)
    return FORMATS[form](ledger.rows, brief)


def _read_name(what: str | None, paper: str | None) -> tuple[str | None, str | None, str | None]:
    parts = what.strip("/").split("/") if what else []
    if len(parts) > 3:
        raise OnsetError(f"'{what}' should be a paper, paper/figure or paper/figure/claim")
    if paper is not None and parts and parts[0] != paper:
        raise OnsetError(f"'{what}' and --paper {paper} name two papers; leave one out")
    if not parts:
        return paper, None, None
    padded: list[str | None] = [*parts, None, None]
    return padded[0], padded[1], padded[2]


def _check(kind: str, name: str | None, known: Any) -> None:
    if name is not None and name not in known:
        raise OnsetError(f"there is no {kind} '{name}'; {nearest(name, known)}")
