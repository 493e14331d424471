"""Verbs that look and change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Scale = Annotated[str | None, typer.Option(help="scale; all scales where it is left out")]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command."""
    app.command("list")(list_entries)
    app.command("show")(show)
    app.command("why")(why)
    app.command("verify")(verify)
    app.command("diff")(diff)
    app.command("claims")(claims)


def list_entries(scale: Scale = None) -> None:
    """List experiments and figures, with what is built and what each last cost."""
    from onset.pipeline.listing import format_list

    typer.echo(format_list(_plan(), scale))


def show(path: Path) -> None:
    """Show what a result, checkpoint, figure or claims file is and what made it."""
    from onset.pipeline.showing import format_file

    typer.echo(format_file(path))


def why(path: str) -> None:
    """Tell what building PATH would run, and which parameter, source or input each step waits for."""
    from onset.pipeline.explain import explain

    typer.echo(explain(_plan(), path))


def verify(scale: Scale = None) -> None:
    """Compare every published file with its record and with what the present parameters give."""
    from onset.pipeline.verification import verify_published

    report, sound = verify_published(_plan(), scale)
    typer.echo(report)
    if not sound:
        raise typer.Exit(1)


def diff(first: Path, second: Path) -> None:
    """Compare two results: parameters, and the largest difference of each variable."""
    from onset.pipeline.showing import format_difference

    typer.echo(format_difference(first, second))


def claims(
    paper: Annotated[str | None, typer.Argument(help="paper; all where it is left out")] = None,
    scale: Annotated[str | None, typer.Option(help="scale; that of params.yaml where left out")] = None,
    strict: Annotated[
        bool, typer.Option(help="exit with 1 where one is missing, stale or failed unexpectedly")
    ] = False,
) -> None:
    """Print the claims of every figure with their verdicts."""
    from onset.pipeline.listing import gather_claims

    plan = _plan()
    text, sound = gather_claims(plan, scale or plan.parameters.scale, paper)
    typer.echo(text)
    if strict and not sound:
        raise typer.Exit(1)


def _plan():
    from onset.pipeline.plan import Plan
    from onset.pipeline.project import Project

    return Plan(Project.find())
