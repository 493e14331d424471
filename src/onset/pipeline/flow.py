"""What the Snakemake rules ask of the plan."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onset.errors import OnsetError
from onset.params.validate import nearest
from onset.pipeline.index import Index
from onset.pipeline.plan import Plan
from onset.pipeline.project import Project
from onset.pipeline.reporting import report_parts, report_path, report_recipe
from onset.pipeline.spec import describe_job
from onset.pipeline.steps import Step
from onset.store.digest import canonical_json
from onset.store.record import record_path

NOTHING = r"(?!)"
"""A pattern that matches no name, for kinds without steps."""


class Flow:
    """The plan as the rules see it: constraints, inputs, parameters and targets."""

    def __init__(self, root: str, main: bool) -> None:
        """Plan everything; in the main process (`main`) also warn, and bring store and pointers into step."""
        project = Project(Path(root), Path.cwd())
        self.plan = Plan(project)
        self._steps: dict[tuple[str, str, str, str], Step] = {}
        self._kinds: dict[str, set[str]] = {}
        self._reports: dict[str, str] = {}
        for scale in self.plan.scales:
            for step in self.plan.steps(scale):
                name = f"{step.folder}{step.name}"
                self._steps[scale, step.paper, name, step.recipe] = step
                kind = step.kind
                if kind == "gather" and step.has_checkpoint:
                    kind = "gather_with_checkpoint"
                elif step.theory:
                    kind = "claims_with_theory"
                self._kinds.setdefault(kind, set()).add(name)
        self._published = self.plan.published()
        self._links = self.plan.links()
        if main:
            self._require_writable()
            for line in self.plan.warnings():
                print(f"onset: warning: {line}", file=sys.stderr)
            Index(self.plan).take_in()

    @property
    def store(self) -> str:
        """The store, as it stands in paths."""
        return str(self.plan.project.store)

    @property
    def command(self) -> str:
        """The `onset` command of this checkout, whatever is installed."""
        source = shlex.quote(str(self.plan.project.source))
        return f"PYTHONPATH={source}${{PYTHONPATH:+:$PYTHONPATH}} {shlex.quote(sys.executable)} -m onset"

    def device(self, wildcards: Any) -> str:
        """auto, cpu or cuda for a step whose entry can use a GPU, else cpu."""
        return self.plan.parameters.device if getattr(self.step(wildcards).entry, "gpu", 0) else "cpu"

    def names(self, kind: str) -> str:
        """A pattern for the names of all steps of a kind."""
        return "|".join(map(re.escape, sorted(self._kinds.get(kind, ())))) or NOTHING

    def scales(self) -> str:
        """A pattern for the scales."""
        return "|".join(map(re.escape, self.plan.scales))

    def papers(self) -> str:
        """A pattern for the papers."""
        return "|".join(map(re.escape, self.plan.catalogue.papers))

    def _require_writable(self) -> None:
        """Raise OnsetError where a folder that results go to is there but cannot be written."""
        folders = {Path(path).parent for path in (*self._published, *self._links)}
        places = {parent for folder in folders for parent in (folder, *folder.parents)}
        for place in sorted({*places, self.plan.project.private, Path("logs")}):
            if place.exists() and not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
                raise OnsetError(f"{place} cannot be written; make it a folder that you may write to")

    def step(self, wildcards: Any) -> Step:
        """The step that a store file's wildcards name.

        Raises OnsetError where its recipe is not one of the current plan.
        """
        key = (wildcards.scale, wildcards.paper, wildcards.name, wildcards.recipe)
        if key not in self._steps:
            raise OnsetError(
                f"recipe {wildcards.recipe} of {wildcards.name} is not what the present parameters and "
                "source give; ask for the published path instead"
            )
        return self._steps[key]

    def inputs(self, mark: Callable[[str], Any]) -> Callable[[Any], list]:
        """An input function: the store files that a step needs, each passed through `mark`.

        A step whose own files are there waits for nothing that is missing: otherwise a lost dataset would
        bring back the training that once used it.
        """

        def needed(wildcards: Any) -> list:
            step, store = self.step(wildcards), self.plan.project.store
            files = []
            for need in step.needs.values():
                files.append(need.stored(store))
                if step.kind == "gather" and step.has_checkpoint:
                    files.append(need.stored(store, "safetensors"))
            made = [wildcards.extension] if step.kind == "figures" else step.extensions
            if all(step.stored(store, extension).exists() for extension in made):
                files = [file for file in files if file.exists()]
            return [mark(str(file)) for file in files]

        return needed

    def spec(self, wildcards: Any) -> str:
        """Canonical JSON that tells `onset` what to compute."""
        return canonical_json(describe_job(self.step(wildcards), self.plan.project.store))

    def resource(self, name: str, default: int = 0) -> Callable[[Any], int]:
        """A resource function that reads the catalogue entry."""
        return lambda wildcards: getattr(self.step(wildcards).entry, name, default)

    def gpu(self, wildcards: Any) -> int:
        """GPUs that a step takes: what its entry says, where one is demanded or there is one here."""
        device = self.plan.parameters.device
        wanted = device == "cuda" or (device == "auto" and any(Path("/dev").glob("nvidia[0-9]*")))
        return getattr(self.step(wildcards).entry, "gpu", 0) if wanted else 0

    @staticmethod
    def checkpoint_option(wildcards: Any, output: Any) -> str:
        """The command-line option for a checkpoint, where a rule writes one."""
        path = getattr(output, "checkpoint", None)
        return f"--checkpoint {shlex.quote(str(path))}" if path else ""

    def publishes(self, pattern: str, mark: Callable[[str], Any]) -> Callable[[Any], dict]:
        """Inputs of a publish rule whose output is `pattern`: store file, pointer, what goes with it."""

        def sources(wildcards: Any) -> dict:
            path = pattern.format(**dict(wildcards.items()))
            if path not in self._published:
                raise OnsetError(f"nothing is published as {path}; {nearest(path, self._published, shown=0)}")
            step, extension = self._published[path]
            files = {
                "file": mark(str(step.stored(self.plan.project.store, extension))),
                "want": str(self.plan.project.pointers / path),
            }
            if step.kind == "figures":
                files["beside"] = [self._current(p, mark) for p in self._beside(step, extension)]
            return files

        return sources

    def _beside(self, step: Step, extension: str) -> list[str]:
        """What is published with a figure: its claims, and the results that it shows.

        Of a figure that is there, results that are nowhere in the store are left alone, so as not to be
        computed for their own sake.
        """
        store = self.plan.project.store
        drawn = step.stored(store, extension).exists()
        paths = [
            path
            for need in step.needs.values()
            for kind, path in need.published().items()
            if not drawn or need.stored(store, kind).exists()
        ]
        claims = self.plan.steps(step.scale).claims.get((step.paper, step.name))
        return [*paths, *claims.published().values()] if claims is not None else paths

    def _current(self, path: str, mark: Callable[[str], Any]) -> Any:
        """The path, marked unless it is stale.

        Snakemake does not look at a job's own inputs where one that is marked is about to be replaced.
        """
        return path if self._stale(path) else mark(path)

    def links(self, pattern: str) -> Callable[[Any], dict]:
        """An input function of a rule whose output `pattern` is a shorter path: what it stands for."""

        def target(wildcards: Any) -> dict:
            path = pattern.format(**dict(wildcards.items()))
            if path not in self._links:
                raise OnsetError(f"nothing is published as {path}; {nearest(path, self._links, shown=0)}")
            return {"file": self._links[path], "record": self.record(self._links[path])}

        return target

    def shorter(self, pattern: str) -> Callable[[Any], str]:
        """A parameter of a link rule: its target, from the folder of the link."""

        def relative(wildcards: Any) -> str:
            path = pattern.format(**dict(wildcards.items()))
            return os.path.relpath(self._links[path], os.path.dirname(path))

        return relative

    def _stale(self, path: str) -> bool:
        """Whether a published file is missing or older than its pointer."""
        file, pointer = Path(path), self.plan.project.pointers / path
        return (
            not file.exists() or not pointer.exists() or pointer.stat().st_mtime_ns > file.stat().st_mtime_ns
        )

    def targets(self, scale: str, paper: str | None = None, part: str = "all") -> list[str]:
        """Published paths of a scale.

        `part`: `data`, `results` with checkpoints, `figures` with claims and tables, or `all`.
        """
        shown = ("figures", "claims", "tables")
        parts = {"data": ("data",), "figures": shown}
        found = []
        for path, (step, extension) in self._published.items():
            if step.scale != scale or extension == "png" or (paper is not None and step.paper != paper):
                continue
            kind = step.kind if step.kind in ("data", *shown) else "results"
            if part == "all" or kind in parts.get(part, (part,)):
                found.append(path)
                found += [link for link, target in self._links.items() if target == path]
        return found

    def report_inputs(self, mark: Callable[[str], Any]) -> Callable[[Any], dict]:
        """Inputs of a report: everything published at its scale, and the pointer to which it should be."""

        def parts(wildcards: Any) -> dict:
            path = report_path(wildcards.scale)
            Index(self.plan).point_to(path, self.report_recipe(wildcards))
            return {
                "parts": [self._current(part, mark) for part in report_parts(self.plan, wildcards.scale)],
                "want": str(self.plan.project.pointers / path),
            }

        return parts

    def report_recipe(self, wildcards: Any) -> str:
        """The recipe of the report of a scale."""
        if wildcards.scale not in self._reports:
            self._reports[wildcards.scale] = report_recipe(self.plan, wildcards.scale)
        return self._reports[wildcards.scale]

    def record(self, pattern: str) -> str:
        """The path of the record beside a published file."""
        return str(record_path(Path(pattern)))

    @property
    def other_folders(self) -> str:
        """A pattern for words that are neither a scale nor a paper."""
        return rf"(?!(?:{self.scales()}|{self.papers()})(?:/|$))[^/]+"

    def refuse_scale(self, wildcards: Any) -> list[str]:
        """An input function that names the scales there are."""
        raise OnsetError(
            f"there is no scale '{wildcards.unknown}'; {nearest(wildcards.unknown, self.plan.scales)}"
        )


def open_flow(root: str, main: bool) -> Flow:
    """The flow of the checkout at `root`, in the current folder; on an error only its message is shown."""
    from snakemake.exceptions import WorkflowError

    try:
        return Flow(root, main)
    except OnsetError as error:
        raise WorkflowError(str(error)) from None
    except OSError as error:
        raise WorkflowError(f"{error.filename or os.getcwd()}: {error.strerror}") from None
