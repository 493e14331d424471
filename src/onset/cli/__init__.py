"""The `onset` command: one verb per kind of step, and inspection of what was made."""

from __future__ import annotations

import os
import sys

from onset.cli.steps import VERBS, run_verb
from onset.errors import OnsetError
from onset.pipeline.project import Project


def main() -> None:
    """Entry point: an OnsetError is shown as its message alone, with exit code 1."""
    _use_own_checkout()
    try:
        if sys.argv[1:] and sys.argv[1] in VERBS:
            run_verb(sys.argv[1:])
        else:
            from onset.cli.inspection import app

            app()
    except OnsetError as error:
        print(f"onset: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(141)


def _use_own_checkout() -> None:
    """Inside another checkout than the installed one, run that checkout's code instead.

    A clone, and the copy in which DVC runs an experiment, may hold other papers and parameters.
    """
    try:
        source = Project.find().source
    except OnsetError:
        return
    mine = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if os.path.realpath(mine) != os.path.realpath(source) and (source / "onset" / "cli").is_dir():
        path = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH")]))
        os.execve(
            sys.executable, [sys.executable, "-m", "onset", *sys.argv[1:]], {**os.environ, "PYTHONPATH": path}
        )
