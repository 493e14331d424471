"""Theory against experiment for the terminal: the tables that were published with the claims."""

from __future__ import annotations

import csv
from pathlib import Path

from onset.errors import OnsetError
from onset.params.validate import nearest
from onset.pipeline.index import Index
from onset.pipeline.plan import Plan

NUMBERS = ("predicted", "measured", "low", "high", "gap")


def format_theory(plan: Plan, scale: str, what: str | None = None) -> str:
    """The tables of a scale, or of `paper` or `paper/figure`; what is missing or stale is told in its place.

    Raises OnsetError, with the nearest name, where there is no such scale, or no such paper or figure with a
    table, and, naming the file, where one is not a table.
    """
    found = {
        f"{paper}/{name}": step for (paper, name), step in plan.steps(scale).claims.items() if step.theory
    }
    chosen = {name: step for name, step in found.items() if what in (None, name, step.paper)}
    if not chosen:
        papers = {step.paper for step in found.values()}
        raise OnsetError(f"there is no theory table of '{what}'; {nearest(str(what), {*found, *papers})}")
    index, lines = Index(plan), []
    for name, step in chosen.items():
        path = Path(step.published()["csv"])
        lines += ["", f"{name}, scale {scale}"]
        if path.exists():
            lines += _format_rows(path)
        if index.carried(path) != step.recipe:
            state = "out of date" if path.exists() else "not there yet"
            lines.append(f"  {state}; run: snakemake --cores 2 -- {path}")
    return "\n".join(lines[1:])


def _format_rows(path: Path) -> list[str]:
    try:
        text = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        rows = list(csv.DictReader(text))
        cells = [[row["at"], *(_spell(row[name]) for name in NUMBERS), row["seeds"]] for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        raise OnsetError(f"{path} is not a table of theory; remove it and build it again") from None
    names = max([len(row[0]) for row in cells], default=2)
    head = "".join(f"{name:>11}" for name in (*NUMBERS, "seeds"))
    lines, shown = [f"    {'':<{names}}{head}"], ""
    for row, one in zip(rows, cells, strict=True):
        if row["quantity"] != shown:
            shown = row["quantity"]
            lines.append(f"  {shown}" + (f" ({row['unit']})" if row["unit"] != "1" else ""))
        lines.append(f"    {one[0]:<{names}}" + "".join(f"{cell:>11}" for cell in one[1:]))
    return lines


def _spell(cell: str) -> str:
    return f"{float(cell):.4g}" if cell else "-"
