"""A copy of this project with the toy paper in place of the real ones."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOY = Path(__file__).parent / "toy"
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info")


def copy_project(target: Path) -> Path:
    """Copy what makes results (rules, parameters, catalogue, package) to `target`, nothing that was made."""
    target.mkdir(parents=True)
    for name in ("Snakefile", "pyproject.toml", "params.yaml", ".gitignore", ".dvcignore"):
        shutil.copy(ROOT / name, target / name)
    for name in ("src", "workflow"):
        shutil.copytree(ROOT / name, target / name, ignore=LEFT_OUT)
    (target / "docs").mkdir()
    (target / "profiles").symlink_to("workflow/profiles")
    return target


def copy_toy_project(target: Path) -> Path:
    """Copy the project to `target`, with the toy paper in place of the real ones."""
    copy_project(target)
    shutil.rmtree(target / "src/onset/papers/copyhead")
    (target / "src/onset/params/copyhead.py").unlink()
    paper = target / "src/onset/papers/toy"
    paper.mkdir()
    (paper / "__init__.py").touch()
    for name in ("steps", "tell", "theory", "figures", "claims"):
        shutil.copy(TOY / f"{name}.py", paper / f"{name}.py")
    shutil.copy(TOY / "params.py", target / "src/onset/params/toy.py")
    shutil.copy(TOY / "catalogue.yaml", target / "workflow/catalogue.yaml")
    shutil.copy(TOY / "params.yaml", target / "params.yaml")
    return target
