"""Who may import whom, held by reading every import of the package, also those inside functions.

- params and store are the ground: nothing of ours but errors, and what is next to them
- job stands on errors and randomness; ensemble, sampling, dynamics, measures, claims and plotting on those,
  not on each other
- nothing shared imports a paper; a paper imports no other paper and nothing that stands above it
- the pipeline imports no paper; the report stands on it; nothing below imports these or the command
- no module imports itself in a circle; imports for type checkers do not count here
- each paper's parameters are read by that paper only, and by type checkers
"""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
GROUND = {"errors", "randomness", "params", "store", "job"}
SHARED = {"ensemble", "sampling", "dynamics", "measures", "claims", "plotting"}
MAY_IMPORT = {
    "": set(),
    "errors": set(),
    "randomness": set(),
    "params": {"errors"},
    "store": {"errors"},
    "job": {"errors", "randomness"},
    **{package: GROUND for package in SHARED},
    "papers": GROUND | SHARED,
    "pipeline": {"", *GROUND, *SHARED},
    "report": {"", "pipeline", *GROUND, *SHARED},
    "cli": {"", "pipeline", "report", *GROUND, *SHARED},
    "__main__": {"cli"},
}


class _RunTime(ast.NodeTransformer):
    def visit_If(self, node):
        return None if ast.unparse(node.test).endswith("TYPE_CHECKING") else self.generic_visit(node)


def read_modules():
    """All modules by name, each with the modules of ours that it imports when it runs."""
    files = {}
    for path in (SOURCE / "onset").rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    found = {}
    for name, path in files.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found[name] = set()
        for node in ast.walk(_RunTime().visit(ast.parse(path.read_text(encoding="utf-8")))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                    base = ".".join([*parents, *filter(None, [node.module])])
                names = [
                    f"{base}.{alias.name}" if f"{base}.{alias.name}" in files else base
                    for alias in node.names
                ]
            found[name] |= {each for each in names if each in files}
    return found


MODULES = read_modules()


def layer(module):
    """The part of the package that a module belongs to; of the package itself, the empty word."""
    return module.split(".")[1] if "." in module else ""


def paper_of(module):
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["papers"] and len(parts) > 2 else None


def test_the_modules_are_read():
    assert "onset.store.digest" in MODULES["onset.store.netcdf"]
    assert "onset.pipeline.execute" in MODULES["onset.cli.steps"], "imports inside functions count"
    assert {layer(module) for module in MODULES} <= set(MAY_IMPORT)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_go_down(module):
    allowed = MAY_IMPORT[layer(module)] | {layer(module)}
    assert not {target for target in MODULES[module] if layer(target) not in allowed}


@pytest.mark.parametrize("module", sorted(m for m in MODULES if paper_of(m)))
def test_papers_import_no_other_paper(module):
    others = {t for t in MODULES[module] if layer(t) == "papers" and paper_of(t) != paper_of(module)}
    assert not others
    foreign = {
        t for t in MODULES[module] if layer(t) == "params" and t.endswith(tuple(PAPERS - {paper_of(module)}))
    }
    assert not foreign


PAPERS = {paper_of(module) for module in MODULES} - {None}


def test_no_circles():
    state = {}

    def visit(module, above):
        if state.get(module) == "done":
            return
        assert module not in above, " imports ".join([*above[above.index(module) :], module])
        for target in sorted(MODULES[module]):
            visit(target, [*above, module])
        state[module] = "done"

    for module in sorted(MODULES):
        visit(module, [])
