"""Where things lie: the project's own files, the store, the published files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from onset.errors import OnsetError


@dataclass(frozen=True)
class Project:
    """A checkout of the project (`root`) and the folder where results are made (`work`).

    They are the same unless Snakemake was given `--directory`.
    """

    root: Path
    work: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Project:
        """The project that holds the current folder, or `start`.

        Raises OnsetError where no folder above holds a Snakefile and workflow/catalogue.yaml.
        """
        here = (start or Path.cwd()).resolve()
        for folder in (here, *here.parents):
            if (folder / "workflow" / "catalogue.yaml").is_file() and (folder / "Snakefile").is_file():
                return cls(folder, folder)
        raise OnsetError(f"{here} is not inside the project: no folder above has a Snakefile and a catalogue")

    @property
    def source(self) -> Path:
        """The folder that holds the package."""
        return self.root / "src"

    @property
    def catalogue(self) -> Path:
        """The catalogue."""
        return self.root / "workflow" / "catalogue.yaml"

    @property
    def parameters(self) -> Path:
        """params.yaml of the working folder where it has one, else the project's."""
        own = self.work / "params.yaml"
        return own if own.is_file() else self.root / "params.yaml"

    @property
    def private(self) -> Path:
        """`.onset`, which holds store, saved states and pointers.

        Queued DVC experiments run in a temporary copy under `.dvc/tmp/exps`; they share the main
        checkout's, so that nothing is computed twice.  ONSET_PRIVATE overrides.
        """
        if override := os.environ.get("ONSET_PRIVATE"):
            return Path(override)
        parts = self.work.parts
        for i in range(len(parts) - 3):
            if parts[i : i + 3] == (".dvc", "tmp", "exps"):
                return Path(*parts[:i], ".onset")
        return Path(".onset")

    @property
    def store(self) -> Path:
        """The content-addressed store; relative to the working folder where it lies inside."""
        return self.private / "store"

    @property
    def pointers(self) -> Path:
        """Pointer files, one for each published file; always the working folder's own."""
        return Path(".onset") / "want"
