"""Captions of figures, from the docstring of the function that draws each."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

LEFT_OUT = ("Inputs by role", "Input by role", "Raises")
"""How sentences begin that are for who calls the function, not for who reads the figure."""


def read_caption(source: Path, code: str) -> list[str]:
    """Sentences of the docstring of `module:function`, without those about inputs and errors.

    Nothing is imported.  Empty where the function has no docstring.
    """
    module, _, name = code.partition(":")
    return select_sentences(_docstrings(source, module).get(name, ""))


def select_sentences(docstring: str) -> list[str]:
    """The sentences of a docstring that tell what a figure shows."""
    text = " ".join(docstring.split())
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z|])", text)
    return [sentence for sentence in sentences if sentence and not sentence.startswith(LEFT_OUT)]


@functools.cache
def _docstrings(source: Path, module: str) -> dict[str, str]:
    path = source.joinpath(*module.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name: ast.get_docstring(node) or "" for node in functions}
