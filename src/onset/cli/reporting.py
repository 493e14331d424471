"""The verb that writes a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onset.cli.inspect import looking


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("report")(looking(report))


def report(
    scale: Annotated[str | None, typer.Option(help="scale; that of params.yaml where left out")] = None,
    threads: Annotated[int, typer.Option(min=1, help="processes that draw pictures")] = 1,
    recipe: Annotated[str | None, typer.Option(hidden=True, help="what the report must be")] = None,
    root: Annotated[Path | None, typer.Option(hidden=True, help="checkout that holds the code")] = None,
) -> None:
    """Write what is published as report/SCALE/index.html, which opens without a network."""
    import os

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from onset.pipeline.plan import Plan
    from onset.pipeline.project import Project
    from onset.report.build import write_report

    plan = Plan(Project(root, Path.cwd()) if root is not None else Project.find())
    write_report(plan, scale or plan.parameters.scale, threads, typer.echo, recipe)
