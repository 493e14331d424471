"""Runs one job: checks what it was planned with, calls its code, writes its files."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onset.errors import OnsetError
from onset.job.context import Job, Result
from onset.job.diverged import Diverged
from onset.job.progress import Reporter
from onset.job.state import SavedState
from onset.pipeline import provenance
from onset.pipeline.outcome import keep_finished, write_outcome
from onset.pipeline.project import Project
from onset.pipeline.reference import resolve_code
from onset.pipeline.source import digest_source, digest_text
from onset.randomness import Streams

if TYPE_CHECKING:
    import xarray as xr


class Inputs(Mapping[str, Any]):
    """The Datasets that a job needs, by role, each read and checked when first asked for."""

    def __init__(self, needs: Mapping[str, Mapping[str, str]]) -> None:
        self._needs = needs
        self._read: dict[str, xr.Dataset] = {}

    def __getitem__(self, role: str) -> xr.Dataset:
        if role not in self._read:
            from onset.store.netcdf import read_result

            need = self._needs[role]
            remedy = f"rebuild it with: snakemake --cores 2 -- {need['path']}"
            dataset = read_result(Path(need["file"]), remedy)
            if dataset.attrs.get("onset_recipe") != need["recipe"]:
                raise OnsetError(f"{need['file']} carries another recipe than its name says; {remedy}")
            self._read[role] = dataset
        return self._read[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self._needs)

    def __len__(self) -> int:
        return len(self._needs)


def choose_device(wanted: str) -> str:
    """`cpu` or `cuda` for a wish of `auto`, `cpu` or `cuda`.

    Raises OnsetError where CUDA is demanded and there is none.
    """
    if wanted == "cpu" or (wanted == "auto" and not any(Path("/dev").glob("nvidia[0-9]*"))):
        return "cpu"
    import torch  # takes a second or two, so not where there cannot be a GPU

    if torch.cuda.is_available():
        return "cuda"
    if wanted == "cuda":
        raise OnsetError(
            "params.yaml demands device: cuda, but PyTorch finds no CUDA device here; set device: auto or cpu"
        )
    return "cpu"


def check_source(spec: Mapping[str, Any], project: Project) -> None:
    """Refuse to run where the source is no longer what the recipe was made from (OnsetError).

    Files are parsed again only where their bytes are not those with which the build was planned.
    """
    if digest_text(project.source, spec["modules"], spec["source"]) == spec["text"]:
        return
    if digest_source(project.source, tuple(spec["references"])) != spec["source"]:
        raise OnsetError(
            f"the source of {spec['paper']}/{spec['name']} changed after this build was planned; "
            "run the same command again"
        )


def build_job(spec: Mapping[str, Any], project: Project, device: str, reporter: Reporter) -> Job:
    """The Job that a callable is handed."""
    models = {name: resolve_code(reference) for name, reference in spec["models"].items()}
    given = spec["parameters"]
    typed = {name: model.model_validate(given[name]) for name, model in models.items() if name != "own"}
    own = None
    if "own" in models:
        # A block is validated as part of the whole experiment: its own number of members may be below what
        # is allowed for all.
        own = models["own"].model_validate({**given["own"], **spec["whole"]})
        own = own.model_copy(update={key: given["own"][key] for key in spec["whole"]})
    experiment = spec["name"].partition(".")[0]
    return Job(
        paper=spec["paper"],
        name=spec["name"],
        scale=spec["scale"],
        recipe=spec["recipe"],
        own=own,
        sections=typed,
        inputs=Inputs(spec["needs"]),
        members=tuple(spec["members"]) if spec["members"] is not None else None,
        streams=Streams(spec["parameters"].get("seed", 0), spec["paper"], experiment),
        device=device,
        reporter=reporter,
        saved=SavedState(
            project.private / "state" / spec["recipe"],
            spec["recipe"],
            every=float(os.environ.get("ONSET_SAVE_EVERY", "15")),
        ),
    )


@contextmanager
def alone(project: Project, recipe: str) -> Iterator[bool]:
    """Hold the lock of a recipe, so that two builds never compute it into the same saved state.

    Gives whether another process held it before.
    """
    path = project.private / "locks" / recipe
    path.parent.mkdir(parents=True, exist_ok=True)
    waited = False
    while True:
        with open(path, "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waited = True
                fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno())):
                try:
                    yield waited
                finally:
                    path.unlink(missing_ok=True)
                return


def compute(
    spec: Mapping[str, Any],
    project: Project,
    result: Path,
    checkpoint: Path | None,
    device: str,
    threads: int,
    reporter: Reporter,
) -> None:
    """Run a data, train, sample, simulate, theory or gather step and write its files.

    Raises OnsetError where the plan is out of date, an input is damaged, or the step itself refuses; where
    members of it diverged, after what finished was kept (see `onset.pipeline.outcome.keep_finished`).
    """
    check_source(spec, project)
    with alone(project, spec["recipe"]) as waited:
        if waited and all(path.exists() for path in (result, checkpoint) if path is not None):
            reporter.line("another build made it meanwhile")
            return
        began = time.monotonic()
        job = build_job(spec, project, choose_device(device), reporter)
        if spec["kind"] == "gather":
            from onset.pipeline.gather import join_blocks

            outcome = join_blocks(job, spec)
        else:
            try:
                made = resolve_code(spec["code"])(job)
            except Diverged as error:
                seconds = time.monotonic() - began
                told = keep_finished(error, spec, project, result, checkpoint, job.device, threads, seconds)
                raise OnsetError(told) from None
            outcome = made if isinstance(made, Result) else Result(made)
        seconds = time.monotonic() - began
        write_outcome(outcome, spec, project, result, checkpoint, job.device, threads, seconds)
        if job.saved is not None:
            job.saved.remove()


def draw_figure(spec: Mapping[str, Any], project: Project, target: Path, reporter: Reporter) -> None:
    """Draw a figure and write it as PDF or PNG, by the target's extension, with its recipe inside."""
    from onset.plotting.save import save_figure
    from onset.plotting.startup import leave_undocumented

    check_source(spec, project)
    leave_undocumented()
    began = time.monotonic()
    job = build_job(spec, project, "cpu", reporter)
    figure = resolve_code(spec["code"])(job)
    record = provenance.beside(spec, project.root, "cpu", time.monotonic() - began)
    save_figure(figure, target, job.sections["plotting"], spec, record)
    reporter.line(f"drew {spec['paper']}/{spec['name']}")


def make_table(spec: Mapping[str, Any], project: Project, target: Path, reporter: Reporter) -> None:
    """Make a table and write it as CSV, with what made it in comments at its head."""
    from onset.store.tables import write_table

    check_source(spec, project)
    began = time.monotonic()
    frame = resolve_code(spec["code"])(build_job(spec, project, "cpu", reporter))
    record = provenance.beside(spec, project.root, "cpu", time.monotonic() - began)
    write_table(frame, target, provenance.heading(spec), record)
    reporter.line(f"made the table {spec['paper']}/{spec['name']}")


def check_claims(
    spec: Mapping[str, Any], project: Project, target: Path, table: Path | None, reporter: Reporter
) -> None:
    """Evaluate the claims of a figure and write their verdicts as JSON.

    `table` is where theory against experiment goes, of a figure that has it.
    """
    from onset.claims.verdict import claims_document, dump_document, evaluate
    from onset.store.record import replacing_with_record

    check_source(spec, project)
    began = time.monotonic()
    inputs = Inputs(spec["needs"])
    rows = evaluate(resolve_code(spec["code"]), inputs, spec["scale"])
    text = dump_document(claims_document(spec["name"], spec["paper"], spec["scale"], spec["title"], rows))
    frame = None
    if table is not None:
        from onset.claims.theory import tabulate_theory

        frame = tabulate_theory(resolve_code(spec["theory"]), inputs)
    record = provenance.beside(spec, project.root, "cpu", time.monotonic() - began)
    if table is not None and frame is not None:
        from onset.store.tables import write_table

        write_table(frame, table, provenance.heading(spec), record)
    with replacing_with_record(target, record) as temporary:
        temporary.write_text(text, encoding="utf-8")
    reporter.line(f"checked the claims of {spec['paper']}/{spec['name']}")
