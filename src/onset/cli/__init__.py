"""The `onset` command: one verb per kind of step, and inspection of what was made."""

from __future__ import annotations

import sys

import typer

from onset.cli import inspect, maintain, steps
from onset.errors import OnsetError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Rebuild the figures of four papers on how attention heads emerge, and see what made each number.",
)
inspect.register(app)
maintain.register(app)
steps.register(app)


def main() -> None:
    """Entry point: an OnsetError is shown as its message alone, with exit code 1."""
    try:
        app()
    except OnsetError as error:
        print(f"onset: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(141)
