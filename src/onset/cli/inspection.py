"""The verbs that people type, as one application."""

from __future__ import annotations

import typer

from onset.cli import inspect, maintain, reporting

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Rebuild figures of papers on how attention heads emerge, and see what made each number.",
)
inspect.register(app)
maintain.register(app)
reporting.register(app)
