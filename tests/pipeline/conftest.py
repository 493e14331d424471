"""One toy project, built once for all tests; each test works on a copy."""

from __future__ import annotations

import fcntl
import json
import os

import pytest
from tests.pipeline.copy_project import copy_toy_project
from tests.pipeline.sandbox import Sandbox, open_repository


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A project in which `figures/fig4.pdf`, then everything at the paper's scale was built.

    `first_build.json` beside it holds what the tools said and which jobs ran, step by step.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    base = shared / "toy_built"
    with open(shared / "toy_built.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sandbox = Sandbox(base)
        if not (base / "first_build.json").exists():
            base.mkdir()
            copy_toy_project(sandbox.project)
            open_repository(sandbox)
            told = [(label, act(), sandbox.ran()) for label, act in _first_steps(sandbox)]
            sandbox.commit("First results")
            (base / "first_build.json").write_text(json.dumps(told))
    return sandbox


def _first_steps(sandbox):
    return {
        "figure": lambda: sandbox.snakemake("figures/fig4.pdf"),
        "again": lambda: sandbox.snakemake("figures/fig4.pdf"),
        "repro": lambda: sandbox.dvc("repro"),
        "status": lambda: sandbox.dvc("status"),
        "audit": lambda: sandbox.audit(),
        "all": lambda: sandbox.snakemake("all"),
    }.items()


@pytest.fixture
def toy(built, tmp_path):
    """A copy of the built project."""
    return Sandbox.copied(built, tmp_path)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A toy project in which nothing was built, for tests that leave it so."""
    sandbox = Sandbox(tmp_path_factory.mktemp("fresh"))
    copy_toy_project(sandbox.project)
    return sandbox
