"""Verbs that look and change nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from onset.errors import OnsetError

Scale = Annotated[str | None, typer.Option(help="scale; all scales where it is left out")]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command."""
    app.command("list")(looking(list_entries))
    app.command("show")(looking(show))
    app.command("why")(looking(why))
    app.command("verify")(looking(verify))
    app.command("diff")(looking(diff))
    app.command("claims")(looking(claims))


def looking(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb that looks: what it refuses is bad input, which ends with exit code 2."""

    @functools.wraps(verb)
    def run(*words: Any, **options: Any) -> None:
        try:
            verb(*words, **options)
        except OnsetError as error:
            typer.echo(f"onset: {error}", err=True)
            raise typer.Exit(2) from None

    return run


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
    what: Annotated[
        str | None, typer.Argument(metavar="PAPER[/FIGURE[/CLAIM]]", help="all claims where it is left out")
    ] = None,
    scale: Annotated[str | None, typer.Option(help="scale; that of params.yaml where left out")] = None,
    paper: Annotated[str | None, typer.Option(help="paper; another way to name it")] = None,
    form: Annotated[str, typer.Option("--format", help="table, json or csv")] = "table",
    brief: Annotated[bool, typer.Option("--brief", help="a table with verdict and sentence alone")] = False,
    strict: Annotated[
        bool,
        typer.Option(
            help="exit with 1 where one is missing, stale or vacuous, or failed unexpectedly",
        ),
    ] = False,
) -> None:
    """Print the ledger: the claims of every figure, with their verdicts and those on their controls."""
    from onset.pipeline.ledger import format_claims, gather_claims

    plan = _plan()
    found = gather_claims(plan, scale or plan.parameters.scale, what, paper)
    typer.echo(format_claims(found, form, brief), nl=form != "csv")
    for line in found.notes:
        typer.echo(line, err=form != "table")
    if strict and not found.sound:
        raise typer.Exit(1)


def _plan():
    from onset.pipeline.plan import Plan
    from onset.pipeline.project import Project

    return Plan(Project.find())
