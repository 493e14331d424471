"""Verbs that the rules of the pipeline call: without Typer, which takes a share of what a small job takes."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onset.errors import OnsetError

if TYPE_CHECKING:
    from onset.job.progress import Reporter
    from onset.pipeline.project import Project

COMPUTE = ("data", "train", "sample", "simulate", "theory", "gather")
VERBS = (*COMPUTE, "draw", "tabulate", "check")


def run_verb(words: Sequence[str]) -> None:
    """Run the job that the words of a command line, the verb first, ask for.

    Raises OnsetError where the job refuses, and SystemExit where the words are no such command.
    """
    given = _parser(words[0]).parse_args(words[1:])
    _limit_threads(getattr(given, "threads", 1))
    with _reporting(given.spec, given.log, given.root) as (spec, project, reporter):
        from onset.pipeline import execute

        if words[0] == "draw":
            execute.draw_figure(spec, project, given.result, reporter)
        elif words[0] == "tabulate":
            execute.make_table(spec, project, given.result, reporter)
        elif words[0] == "check":
            execute.check_claims(spec, project, given.result, given.theory, reporter)
        else:
            files = (given.result, given.checkpoint)
            execute.compute(spec, project, *files, given.device, given.threads, reporter)


def _parser(verb: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"onset {verb}", description="A step of the pipeline.")
    parser.add_argument("spec", help="what to compute, as JSON; made by the rules")
    parser.add_argument("--result", type=Path, required=True, help="file to write")
    parser.add_argument("--root", type=Path, required=True, help="checkout that holds the code")
    parser.add_argument("--log", type=Path, help="file for plain progress lines")
    if verb in COMPUTE:
        parser.add_argument("--checkpoint", type=Path, help="file for the weights")
        parser.add_argument("--threads", type=_count, default=1, help="threads of every numerical library")
        parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    if verb == "check":
        parser.add_argument("--theory", type=Path, help="file for theory against experiment")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of threads")
    return int(text)


def _limit_threads(threads: int) -> None:
    """Set the threads of OpenMP and of every BLAS; must come before NumPy and PyTorch are imported."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        os.environ[name] = str(threads)


@contextlib.contextmanager
def _reporting(spec: str, log: Path | None, root: Path) -> Iterator[tuple[dict[str, Any], Project, Reporter]]:
    """The parsed spec, the project and a reporter; an error is also written to the log."""
    from onset.job.progress import Reporter
    from onset.pipeline.project import Project

    parsed = json.loads(spec)
    label = f"{parsed['scale']}/{parsed['paper']}/{parsed['name']}"
    with contextlib.ExitStack() as stack:
        file = None
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(open(log, "w", encoding="utf-8"))
        try:
            yield parsed, Project(root, Path.cwd()), Reporter(label, file)
        except OnsetError as error:
            if file is not None:
                print(f"{label}: {error}", file=file)
            raise OnsetError(f"{label}: {error}") from None
        except Exception:
            if file is not None:
                traceback.print_exc(file=file)
            else:
                traceback.print_exc(file=sys.stderr)
            raise
