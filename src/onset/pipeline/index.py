"""What is really on disk: which published and stored files are whole, and which recipe each carries.

Published files that came by `dvc pull`, `dvc checkout` or a copy are taken into the store under the
recipe that their record names, once their bytes are found right.  Nothing published is changed here.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from onset.errors import OnsetError
from onset.pipeline.plan import Plan
from onset.store.atomic import copy_file, write_text
from onset.store.digest import digest_file
from onset.store.record import read_record, record_path, write_record


@dataclass(frozen=True)
class Seen:
    """A file as it was when its bytes were last compared with its record."""

    size: int
    modified: int
    inode: int
    record: int
    """When its record was modified; 0 where there is none."""
    recipe: str | None
    """The recipe that the file carries; None where its bytes are not those of its record."""


class Index:
    """Compares files with their records, remembering by size, time and inode what was compared before."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.path = Path(".onset") / "index.json"
        self._before = self._load()
        self._now: dict[str, Seen] = {}

    def carried(self, path: Path) -> str | None:
        """The recipe that a file carries; None where it is missing or not what its record says."""
        try:
            stat = path.stat()
        except OSError:
            return None
        if not path.is_file():
            return None
        beside = record_path(path)
        written = beside.stat().st_mtime_ns if beside.exists() else 0
        now = (stat.st_size, stat.st_mtime_ns, stat.st_ino, written)
        seen = self._before.get(str(path))
        if seen is None or (seen.size, seen.modified, seen.inode, seen.record) != now:
            seen = Seen(*now, self._compare(path))
        self._now[str(path)] = seen
        return seen.recipe

    def _compare(self, path: Path) -> str | None:
        record = read_record(path)
        if record is not None:
            return record["recipe"] if digest_file(path) == record["sha256"] else None
        if path.suffix != ".nc":
            return None
        from onset.store.netcdf import read_result

        try:
            attributes = read_result(path).attrs
        except OnsetError:
            return None
        return attributes.get("onset_recipe")

    def take_in(self) -> None:
        """Bring store, published files and pointers into step with the current plan.

        Damaged files are named on stderr; a damaged store file is set aside, so that it is computed again.
        """
        self._set_aside_damaged()
        self._drop_dangling()
        for name, (step, extension) in self.plan.published().items():
            path = Path(name)
            recipe = self.carried(path)
            if recipe is None and path.exists():
                _warn(f"{path} is not what its record says; it will be replaced when it is next built")
            if recipe is not None:
                stem = step.stored(self.plan.project.store, extension)
                target = stem.with_name(f"{step.name}-{recipe}.{extension}")
                if not target.exists():
                    self._adopt(path, target, recipe)
            self._point(path, step.recipe, recipe)
        self.save()

    def point_to(self, path: Path, wanted: str) -> None:
        """Bring the pointer of one file into step with the recipe that is wanted of it."""
        self._point(path, wanted, self.carried(path))

    def _set_aside_damaged(self) -> None:
        store = self.plan.project.store
        for scale in self.plan.scales:
            for step in self.plan.steps(scale):
                for extension in step.extensions:
                    path = step.stored(store, extension)
                    if path.exists() and self.carried(path) != step.recipe:
                        aside = self.plan.project.private / "damaged" / f"{path.name}.{time.time_ns()}"
                        aside.parent.mkdir(parents=True, exist_ok=True)
                        os.replace(path, aside)
                        _warn(f"{path} is damaged; set aside as {aside}, it will be computed again")

    def _drop_dangling(self) -> None:
        """Remove links whose figure is gone: DVC deletes the outputs of a stage before it runs."""
        for name in self.plan.links():
            for path in (Path(name), record_path(Path(name))):
                if path.is_symlink() and not path.exists():
                    path.unlink()

    def _adopt(self, path: Path, target: Path, recipe: str) -> None:
        record = read_record(path) or {"recipe": recipe, "sha256": digest_file(path)}
        write_record(target, record)
        copy_file(path, target, mode=0o444)

    def _point(self, path: Path, wanted: str, carried: str | None) -> None:
        """Make the pointer of a published file newer than it exactly when it carries another recipe.

        Snakemake compares with the older of the file and its record, and then with the pointer's content at
        the last publication: so that of a wrong file gets a time, for it may have been right before.
        """
        pointer = self.plan.project.pointers / path
        content = pointer.read_text() if pointer.exists() else ""
        made = [file.stat().st_mtime_ns for file in (path, record_path(path)) if file.exists()]
        if path.exists() and carried != wanted:
            write_text(pointer, f"{wanted} {time.time_ns()}")
            after = max(time.time_ns(), *made) + 10**6
            os.utime(pointer, ns=(after, after))
            return
        if content.partition(" ")[0] != wanted:
            write_text(pointer, wanted)
        if carried == wanted and pointer.stat().st_mtime_ns > min(made) - 10**9:
            os.utime(pointer, ns=(min(made) - 10**9,) * 2)

    def _load(self) -> dict[str, Seen]:
        try:
            return {path: Seen(**entry) for path, entry in json.loads(self.path.read_text()).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def save(self) -> None:
        """Remember what was compared."""
        if self._now != self._before:
            write_text(self.path, json.dumps({path: asdict(seen) for path, seen in self._now.items()}))


def _warn(text: str) -> None:
    print(f"onset: {text}", file=sys.stderr)
