"""What docs/extending.md promises.

- Its example, block by block, gives a project whose new figure, results and claims build.
- No rule is edited, and nothing outside the entry's own files changes recipe.
- The generated files are in step once their commands have run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML
from tests.pipeline.copy_project import copy_project

from onset.store.record import read_record

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"<!-- (file|append|add): (\S+) ?(\S*) -->\n```\w+\n(.*?)```", re.DOTALL)


def _perform(document: str, project: Path) -> int:
    """Do what each marked block of the page says; return their number."""
    yaml = YAML()
    yaml.preserve_quotes = True
    blocks = BLOCK.findall(document)
    for action, name, key, text in blocks:
        path = project / name
        if action == "file":
            path.write_text(text, encoding="utf-8")
        elif action == "append":
            path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
        else:
            tree = yaml.load(path)
            place = tree
            for part in key.split("."):
                place = place[part]
            place.update(yaml.load(text))
            yaml.dump(tree, path)
    return len(blocks)


def _run(project: Path, *words: str) -> str:
    binaries = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def _recipes(project: Path) -> dict[str, str]:
    code = (
        "import json; from onset.pipeline.plan import Plan; from onset.pipeline.project import Project\n"
        "steps = Plan(Project.find()).steps('ci')\n"
        "print(json.dumps({f'{s.kind} {s.paper} {s.name}': s.recipe for s in steps}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(project / "src")}
    return json.loads(subprocess.check_output([sys.executable, "-c", code], cwd=project, env=environment))


def test_the_example_of_the_page_builds(tmp_path: Path) -> None:
    project = copy_project(tmp_path / "project")
    before = _recipes(project)
    assert _perform((ROOT / "docs/extending.md").read_text(encoding="utf-8"), project) == 7

    _run(project, "onset", "params", "--write")
    _run(project, "onset", "dvc", "--write")
    assert "noise_sweep" in (project / "docs/parameters.md").read_text(encoding="utf-8")
    assert "noise_sweep.nc" in (project / "dvc.yaml").read_text(encoding="utf-8")
    after = _recipes(project)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {
        "theory copyhead noise_sweep",
        "figures copyhead fig9",
        "claims copyhead fig9",
    }

    _run(project, "snakemake", "--cores", "1", "--", "figures/ci/copyhead/fig9.pdf")
    assert (project / "figures/ci/copyhead/fig9.pdf").read_bytes().startswith(b"%PDF")
    record = read_record(project / "figures/ci/copyhead/fig9.pdf")
    assert record is not None and record["recipe"] == after["figures copyhead fig9"]
    claims = json.loads((project / "results/ci/copyhead/claims/fig9.json").read_text(encoding="utf-8"))
    assert [row["verdict"] for row in claims["claims"]] == ["held"]
    assert "noise_sweep" in _run(project, "onset", "list")
