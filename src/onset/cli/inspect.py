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

    typer.echo(format_file(_existing(path), _store()))


def why(path: str) -> None:
    """Tell what building PATH would run, and which parameter, source or input each step waits for."""
    from onset.pipeline.explain import explain

    typer.echo(explain(_plan(), path))


def verify(
    files: Annotated[
        list[Path] | None, typer.Argument(help="files; all published ones if none are named")
    ] = None,
    scale: Scale = None,
) -> None:
    """Compare files with their records and with what the present parameters, source and inputs give."""
    from onset.pipeline.verification import verify_files, verify_published

    if files:
        report, sound = verify_files(_plan(), [_existing(path) for path in files])
    else:
        report, sound = verify_published(_plan(), scale)
    typer.echo(report)
    if not sound:
        raise typer.Exit(1)


def diff(
    first: Path,
    second: Path,
    rtol: Annotated[float, typer.Option(min=0, help="allowed difference, as a share of the first")] = 1e-5,
    atol: Annotated[float, typer.Option(min=0, help="allowed difference beside that")] = 1e-8,
) -> None:
    """Compare two results variable by variable, or two claim ledgers verdict by verdict.

    Ends with 0 where they agree, 1 where they differ, 2 where they cannot be compared.
    """
    from onset.pipeline.comparing import compare_files

    report, same = compare_files(_existing(first), _existing(second), rtol, atol)
    typer.echo(report)
    if not same:
        raise typer.Exit(1)


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
    theory: Annotated[
        bool, typer.Option("--theory", help="theory against experiment, in place of the claims")
    ] = False,
) -> None:
    """Print the ledger: the claims of every figure, with their verdicts and those on their controls."""
    from onset.pipeline.ledger import format_claims, gather_claims

    plan = _plan()
    if theory:
        from onset.pipeline.theory import format_theory

        typer.echo(format_theory(plan, scale or plan.parameters.scale, what or paper))
        return
    found = gather_claims(plan, scale or plan.parameters.scale, what, paper)
    typer.echo(format_claims(found, form, brief), nl=form != "csv")
    for line in found.notes:
        typer.echo(line, err=form != "table")
    if strict and not found.sound:
        raise typer.Exit(1)


def _existing(path: Path) -> Path:
    """The path; raises OnsetError, with the nearest published one, where there is nothing."""
    from onset.params.validate import nearest_path

    if not path.exists():
        try:
            plan = _plan()
            hint = "; " + nearest_path(path.as_posix(), [*plan.published(), *plan.links()])
        except OnsetError:
            hint = ""
        raise OnsetError(f"{path} does not exist{hint}")
    return path


def _store() -> Path:
    from onset.pipeline.project import Project

    try:
        return Project.find().store
    except OnsetError:
        return Path(".onset") / "store"


def _plan():
    from onset.pipeline.plan import Plan
    from onset.pipeline.project import Project

    return Plan(Project.find())
