"""Verbs that keep generated files in step and the store small."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onset.errors import OnsetError

Write = Annotated[
    bool, typer.Option("--write", help="write the file; without it, only check that it is in step")
]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command."""
    app.command("dvc")(dvc)
    app.command("params")(params)
    app.command("readme")(readme)
    app.command("gc")(gc)


def dvc(write: Write = False) -> None:
    """Generate dvc.yaml from the catalogue."""
    from onset.pipeline.dvcfile import format_dvc

    plan = _plan()
    _keep(plan.project.root / "dvc.yaml", format_dvc(plan.catalogue), write, "onset dvc --write")


def params(
    write: Write = False,
    result: Annotated[Path | None, typer.Option(help="only validate, and say so in this file")] = None,
) -> None:
    """Validate params.yaml, and generate docs/parameters.md from its types."""
    from onset.pipeline.paramdoc import format_parameters
    from onset.store.atomic import write_text

    plan = _plan()
    for line in plan.warnings():
        typer.echo(f"onset: warning: {line}", err=True)
    if result is not None:
        write_text(result, f"params.yaml is valid at the scales {', '.join(plan.parameters.scales)}\n")
        return
    text = format_parameters(plan.catalogue, plan.parameters)
    _keep(plan.project.root / "docs" / "parameters.md", text, write, "onset params --write")


def readme(write: Write = False) -> None:
    """Generate the README's table of figures from the catalogue."""
    from onset.pipeline.readme import fill_readme

    plan = _plan()
    path = plan.project.root / "README.md"
    text = fill_readme(path.read_text(encoding="utf-8"), plan.catalogue)
    _keep(path, text, write, "onset readme --write")


def gc(
    days: Annotated[int, typer.Option(min=0, help="also keep what was made in the last DAYS days")] = 30,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only tell what would be removed")] = False,
) -> None:
    """Remove from the store what the present parameters do not name and no recent run made."""
    from onset.pipeline.pruning import prune

    typer.echo(prune(_plan(), days, dry_run))


def _keep(path, text: str, write: bool, command: str) -> None:
    from onset.store.atomic import write_text

    current = path.read_text(encoding="utf-8") if path.exists() else None
    if current == text:
        typer.echo(f"{_short(path)} is in step")
    elif write:
        write_text(path, text)
        typer.echo(f"wrote {_short(path)}")
    else:
        raise OnsetError(f"{_short(path)} is out of step with the catalogue and params.yaml; run `{command}`")


def _short(path) -> str:
    return "/".join(path.parts[-2:]) if path.parent.name == "docs" else path.name


def _plan():
    from onset.pipeline.plan import Plan
    from onset.pipeline.project import Project

    return Plan(Project.find())
