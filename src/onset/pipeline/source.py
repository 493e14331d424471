"""The digest of the source that a callable depends on.

A callable depends on its module and on every module of ours that this one imports, transitively, also
inside functions.  Comments, docstrings and formatting do not count, nor do imports made for type
checkers only.  Nothing is imported to find this out.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from onset.errors import OnsetError
from onset.store.digest import LENGTH

PACKAGE = "onset"


def digest_source(source: Path, references: tuple[str, ...]) -> str:
    """Digest of all modules under `source` that the callables `references` (module:name) depend on.

    Raises OnsetError where a module or a callable does not exist, or a module cannot be parsed.
    """
    total = hashlib.sha256("".join(f"{r};" for r in sorted(references)).encode())
    for module, digest in digest_modules(source, references).items():
        total.update(f"{module}:{digest};".encode())
    return total.hexdigest()[:LENGTH]


def digest_modules(source: Path, references: tuple[str, ...]) -> dict[str, str]:
    """The digest of each module that the callables depend on, by name; raises as `digest_source`."""
    return dict(_digests(str(source), references))


def digest_text(source: Path, modules: Iterable[str], digest: str) -> str:
    """Digest of the very bytes of the modules' files as they are now, and of `digest`.

    Where it is what it was, so is the digest of the source: and to read the files takes a hundredth of what
    it takes to parse them.
    """
    paths = [_locate(source, module) for module in modules]
    texts = (hashlib.sha256(path.read_bytes()).hexdigest() if path else "" for path in paths)
    return _join_text(texts, digest)


def digest_parsed_text(source: Path, modules: Iterable[str], digest: str) -> str:
    """As `digest_text`, of the files as they were when they were parsed."""
    return _join_text((_parsed(str(source), module)[3] for module in modules), digest)


def _join_text(texts: Iterable[str], digest: str) -> str:
    return hashlib.sha256(";".join([digest, *texts]).encode()).hexdigest()[:LENGTH]


@functools.cache
def _digests(source: str, references: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Each module that the callables depend on, with its digest; found once in a process, as modules are."""
    modules: set[str] = set()
    for reference in references:
        module, _, name = reference.partition(":")
        modules |= reachable(Path(source), module)
        if name not in _parsed(source, module)[2]:
            raise OnsetError(f"the catalogue names {reference}, but {module} has no '{name}'")
    return tuple((module, _parsed(source, module)[0]) for module in sorted(modules))


def reachable(source: Path, module: str) -> set[str]:
    """`module`, the packages around it, and all of ours that these import, transitively."""
    found: set[str] = set()
    todo = [module]
    root = str(source)
    if not _exists(root, module):
        raise OnsetError(f"there is no module {module} under {source}")
    while todo:
        name = todo.pop()
        if name in found or not _exists(root, name):
            continue
        found.add(name)
        if "." in name:
            todo.append(name.rpartition(".")[0])
        todo += _parsed(root, name)[1]
    return found


@functools.cache
def _exists(source: str, module: str) -> bool:
    return _locate(Path(source), module) is not None


def _locate(source: Path, module: str) -> Path | None:
    stem = source.joinpath(*module.split("."))
    for path in (stem.with_name(stem.name + ".py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None


@functools.cache
def _parsed(source: str, module: str) -> tuple[str, tuple[str, ...], frozenset[str], str]:
    """Digest of one module's code, what it imports of ours, all names that it binds, digest of its bytes."""
    path = _locate(Path(source), module)
    assert path is not None
    try:
        text = path.read_bytes()
        tree = ast.parse(text)
    except SyntaxError as error:
        raise OnsetError(f"{path}, line {error.lineno}: {error.msg}") from None
    tree = _Strip().visit(tree)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    nodes = tuple(ast.walk(tree))
    names = tuple(sorted(set(_imports(nodes, package))))
    digest = hashlib.sha256(_spell(tree).encode()).hexdigest()[:LENGTH]
    return digest, names, frozenset(_bound(nodes)), hashlib.sha256(text).hexdigest()


def _spell(node: object) -> str:
    """A syntax tree as text that is the same under every version of Python: without empty fields."""
    if isinstance(node, list):
        return f"[{','.join(map(_spell, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.JoinedStr):  # some versions add empty texts to formats
        node = ast.JoinedStr([part for part in node.values if getattr(part, "value", None) != ""])
    fields = ((name, value) for name, value in ast.iter_fields(node) if name != "kind")
    told = [f"{name}={_spell(value)}" for name, value in fields if value is not None and value != []]
    return f"{type(node).__name__}({','.join(told)})"


class _Strip(ast.NodeTransformer):
    """Removes docstrings, also those of constants, and blocks for type checkers."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        test = node.test
        name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
        self.generic_visit(node)
        return node.orelse if name == "TYPE_CHECKING" else node

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if text else node


def _bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _imports(nodes: Iterable[ast.AST], package: str) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == PACKAGE)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parents = parts[: len(parts) - node.level + 1]
                base = ".".join([*parents, *([base] if base else [])])
            if base.split(".")[0] == PACKAGE:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
