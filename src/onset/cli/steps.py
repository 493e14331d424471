"""Verbs that the rules of the pipeline call."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onset.errors import OnsetError

if TYPE_CHECKING:
    from onset.job.progress import Reporter
    from onset.pipeline.project import Project

Spec = Annotated[str, typer.Argument(help="what to compute, as JSON; made by the rules")]
Target = Annotated[Path, typer.Option("--result", help="file to write")]
Checkpoint = Annotated[Path | None, typer.Option(help="file for the weights")]
Threads = Annotated[int, typer.Option(min=1, help="threads of every numerical library")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda")]
Root = Annotated[Path, typer.Option(help="checkout that holds the code")]
Log = Annotated[Path | None, typer.Option(help="file for plain progress lines")]
PIPELINE = "Steps of the pipeline (called by the rules)"


def register(app: typer.Typer) -> None:
    """Add the verbs to the command."""
    for kind in ("data", "train", "sample", "simulate", "theory", "gather"):
        app.command(kind, help=f"Run a {kind} step.", rich_help_panel=PIPELINE, hidden=True)(_compute)
    app.command("draw", help="Draw a figure.", hidden=True)(_draw)
    app.command("tabulate", help="Make a table.", hidden=True)(_tabulate)
    app.command("check", help="Evaluate the claims of a figure.", hidden=True)(_check)


def _compute(
    spec: Spec,
    result: Target,
    root: Root,
    checkpoint: Checkpoint = None,
    threads: Threads = 1,
    device: Device = "auto",
    log: Log = None,
) -> None:
    _limit_threads(threads)
    with _reporting(spec, log, root) as (parsed, project, reporter):
        from onset.pipeline.execute import compute

        compute(parsed, project, result, checkpoint, device, threads, reporter)


def _draw(spec: Spec, result: Target, root: Root, log: Log = None) -> None:
    _limit_threads(1)
    with _reporting(spec, log, root) as (parsed, project, reporter):
        from onset.pipeline.execute import draw_figure

        draw_figure(parsed, project, result, reporter)


def _tabulate(spec: Spec, result: Target, root: Root, log: Log = None) -> None:
    _limit_threads(1)
    with _reporting(spec, log, root) as (parsed, project, reporter):
        from onset.pipeline.execute import make_table

        make_table(parsed, project, result, reporter)


def _check(spec: Spec, result: Target, root: Root, log: Log = None) -> None:
    _limit_threads(1)
    with _reporting(spec, log, root) as (parsed, project, reporter):
        from onset.pipeline.execute import check_claims

        check_claims(parsed, project, result, reporter)


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
