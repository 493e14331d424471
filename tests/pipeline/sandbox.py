"""A toy project in a temporary folder, the tools run on it, and the ledger of the jobs that ran."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib

BIN = Path(sys.executable).parent

AUDIT = """
import json, sys
from pathlib import Path
from onset.pipeline.plan import Plan
from onset.pipeline.project import Project
from onset.store.digest import digest_file
from onset.store.record import read_record
plan, found = Plan(Project.find()), {}
published = plan.published()
for name, (step, extension) in (published | {n: published[t] for n, t in plan.links().items()}).items():
    path = Path(name)
    if not path.exists():
        continue
    record, wrong = read_record(path), []
    if record is None or record["recipe"] != step.recipe:
        wrong.append("its record names another recipe")
    elif record["sha256"] != digest_file(path):
        wrong.append("its bytes are not those of its record")
    if extension in ("pdf", "safetensors") and step.recipe.encode() not in path.read_bytes():
        wrong.append("its recipe is not inside")
    if extension == "nc":
        import netCDF4
        with netCDF4.Dataset(path) as file:
            if file.onset_recipe != step.recipe:
                wrong.append("another recipe is inside")
    found[name] = wrong
json.dump(found, sys.stdout)
"""


class Sandbox:
    """A project at `<base>/project`; what the tools need besides lies next to it, in `base`."""

    def __init__(self, base: Path, project: Path | None = None) -> None:
        self.base = base
        self.project = project or base / "project"
        self.ledger = base / "ran.txt"
        self.settings: dict[str, str] = {}

    @classmethod
    def copied(cls, built: Sandbox, base: Path) -> Sandbox:
        """A copy of a built project, with its store, records and version control."""
        base.mkdir(parents=True, exist_ok=True)
        shutil.copytree(built.project, base / "project", symlinks=True)
        return cls(base)

    @property
    def environment(self) -> dict[str, str]:
        """The caller's environment, with the tools of this Python first and nobody's settings."""
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("PYTHON", "ONSET_", "TOY_", "DVC_", "GIT_"))
        }
        return {
            **kept,
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.base),
            "XDG_CACHE_HOME": str(self.base / "cache"),
            "MPLCONFIGDIR": matplotlib.get_cachedir(),
            "DVC_SITE_CACHE_DIR": str(self.base / "dvc-site"),
            "DVC_GLOBAL_CONFIG_DIR": str(self.base / "dvc-global"),
            "DVC_SYSTEM_CONFIG_DIR": str(self.base / "dvc-system"),
            "DVC_NO_ANALYTICS": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "OMP_NUM_THREADS": "1",
            "TOY_LOG": str(self.ledger),
            **self.settings,
        }

    def start(self, *words: str | Path, cwd: Path | None = None) -> subprocess.Popen[str]:
        """Start a tool in a process group of its own, so that it can be killed with its children."""
        return subprocess.Popen(
            self._spelled(words),
            cwd=cwd or self.project,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str | Path, fails: bool = False, cwd: Path | None = None) -> str:
        """Run a tool to its end and return what it printed; it must succeed, or fail where `fails`."""
        process = self.start(*words, cwd=cwd)
        text, _ = process.communicate(timeout=300)
        assert (process.returncode != 0) == fails, f"{words} ended with {process.returncode}:\n{text}"
        return text

    def snakemake(self, *words: str | Path, fails: bool = False, cwd: Path | None = None) -> str:
        """Run Snakemake on two cores."""
        return self.run("snakemake", "--cores", "2", *words, fails=fails, cwd=cwd)

    def dvc(self, *words: str, fails: bool = False) -> str:
        """Run DVC."""
        return self.run("dvc", *words, fails=fails)

    def git(self, *words: str) -> str:
        """Run git."""
        return self.run("git", *words)

    def onset(self, *words: str, fails: bool = False) -> str:
        """Run this project's own `onset`."""
        return self.python("-m", "onset", *words, fails=fails)

    def python(self, *words: str, fails: bool = False) -> str:
        """Run Python with this project's own package."""
        self.settings["PYTHONPATH"] = str(self.project / "src")
        try:
            return self.run(sys.executable, *words, fails=fails)
        finally:
            del self.settings["PYTHONPATH"]

    @staticmethod
    def _spelled(words: tuple[str | Path, ...]) -> list[str]:
        tool = BIN / str(words[0])
        return [str(tool) if tool.is_file() else str(words[0]), *map(str, words[1:])]

    def ran(self) -> list[str]:
        """The computing jobs that ran since the last call, sorted."""
        lines = self.ledger.read_text().split() if self.ledger.exists() else []
        self.ledger.unlink(missing_ok=True)
        return sorted(lines)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace the one place in a file where `old` stands."""
        path = self.project / name
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        path.write_text(text.replace(old, new))

    def audit(self, *names: str) -> list[str]:
        """Check that published files (all, or those named) carry the recipe that parameters and source give.

        Returns the published paths that are there; fails where one is wrong.
        """
        found = json.loads(self.python("-c", AUDIT))
        if names:
            found = {name: found[name] for name in names}
        wrong = {name: problems for name, problems in found.items() if problems}
        assert not wrong, wrong
        return sorted(found)

    def commit(self, message: str) -> None:
        """Commit everything that git does not ignore."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def forget(self, *names: str) -> None:
        """Remove folders of the project."""
        for name in names:
            shutil.rmtree(self.project / name)


def open_repository(sandbox: Sandbox) -> None:
    """Make the project a git and DVC repository with one commit."""
    sandbox.git("init", "-q", "-b", "main")
    sandbox.git("config", "user.email", "toy@example.org")
    sandbox.git("config", "user.name", "Toy")
    sandbox.dvc("init", "-q")
    sandbox.onset("dvc", "--write")
    sandbox.commit("A toy project")
