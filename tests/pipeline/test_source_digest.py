"""The digest of the source that a callable depends on.

- comments, docstrings (of modules, classes, functions and constants), formatting and blocks for type checkers
  do not enter; names, values and the callable's own name do
- what is imported enters transitively: absolutely, relatively, inside functions, through packages; what is
  imported for type checkers only, or from elsewhere, does not
- a callable, a module or a package file that is missing or broken is an error that names it
- the digest is spelled without what differs between versions of Python: pinned for a small module
"""

import pytest

from onset.errors import OnsetError
from onset.pipeline.source import digest_source, reachable

BASE = {
    "onset/__init__.py": "",
    "onset/a.py": "from onset.b import g\n\ndef f(x):\n    return g(x) + 1\n",
    "onset/b.py": "K = 2\n\ndef g(x):\n    return K * x\n",
    "onset/c.py": "Z = 1\n",
    "onset/pack/__init__.py": "",
    "onset/pack/d.py": (
        "from . import e\nfrom ..c import Z\n\ndef h():\n    from .deep.late import L\n    return e, Z, L\n"
    ),
    "onset/pack/e.py": "E = 1\n",
    "onset/pack/deep/__init__.py": "from onset.pack.deep import helper\n",
    "onset/pack/deep/helper.py": "H = 1\n",
    "onset/pack/deep/late.py": "import os\nimport onset.b as other\nL = other.K\n",
}
COUNT = iter(range(1000))


@pytest.fixture
def digest(tmp_path):
    """Digest of `onset.a:f` in a tree in which some files differ from BASE."""

    def compute(changes=None, reference="onset.a:f"):
        root = tmp_path / str(next(COUNT))
        for name, text in {**BASE, **(changes or {})}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return digest_source(root, (reference,))

    return compute


@pytest.mark.parametrize(
    "changes",
    [
        {"onset/b.py": "# why\nK = 2  # two\n\n\ndef g(x):  # comment\n    return (K\n            * x)\n"},
        {"onset/b.py": '"""Module."""\nK = 2\n"""Of K."""\n\ndef g(x):\n    """Of g."""\n    return K * x\n'},
        {"onset/b.py": "K = 0x2\n\ndef g(x): return K * x\n"},
        {
            "onset/b.py": "from typing import TYPE_CHECKING\nK = 2\n\ndef g(x):\n    return K * x\n",
            "onset/a.py": "from onset.b import g\n\ndef f(x):\n    return g(x) + 1\n",
        },
        {"onset/c.py": "Z = 2\n"},
    ],
    ids=["comments", "docstrings", "formatting", "typing import", "a module that is not imported"],
)
def test_what_does_not_enter(digest, changes, request):
    before = digest()
    if "typing import" in request.node.callspec.id:
        before = digest(changes)
        guarded = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from onset.c import Z\n"
        changes = {"onset/b.py": guarded + changes["onset/b.py"].partition("\n")[2], "onset/c.py": "Z = 5\n"}
    assert digest(changes) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"onset/b.py": "K = 3\n\ndef g(x):\n    return K * x\n"},
        {"onset/b.py": "K = 2\n\ndef g(y):\n    return K * y\n"},
        {"onset/b.py": "K = 2.0\n\ndef g(x):\n    return K * x\n"},
        {"onset/b.py": "K = 2\n\ndef g(x):\n    return x * K\n"},
        {"onset/__init__.py": "X = 1\n"},
        {"onset/b.py": "from onset import c\nK = 2\n\ndef g(x):\n    return K * x\n"},
    ],
    ids=["value", "name", "type", "order", "package", "new import"],
)
def test_what_enters(digest, changes):
    assert digest(changes) != digest()


def test_the_other_branch_of_a_typing_block_enters(digest):
    text = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from onset.c import Z\nelse:\n    K = {}\n"
    )
    body = "\ndef g(x):\n    return K * x\n"
    assert digest({"onset/b.py": text.format(2) + body}) != digest({"onset/b.py": text.format(3) + body})


@pytest.mark.parametrize("name", ["e", "deep/late", "deep/helper", "deep/__init__", "d"])
def test_relative_late_and_package_imports_enter(digest, name):
    path = f"onset/pack/{name}.py"
    reference = "onset.pack.d:h"
    assert digest({path: BASE[path] + "\nNEW = 1\n"}, reference) != digest(None, reference)
    assert digest({"onset/b.py": "K = 9\n"}, reference) != digest(None, reference)


def test_reachable_names_exactly_what_is_imported(digest, tmp_path):
    digest()
    root = next(tmp_path.iterdir())
    assert reachable(root, "onset.a") == {"onset", "onset.a", "onset.b"}


def test_the_callable_counts_by_name(digest):
    assert digest(None, "onset.b:g") != digest(None, "onset.b:K")


@pytest.mark.parametrize(
    "changes, reference, words",
    [
        ({}, "onset.none:f", "no module onset.none"),
        ({}, "onset.a:h", "onset.a has no 'h'"),
        ({"onset/b.py": "def g(:\n"}, "onset.a:f", r"b\.py, line 1"),
    ],
)
def test_what_is_missing_or_broken_is_named(digest, changes, reference, words):
    with pytest.raises(OnsetError, match=words):
        digest(changes, reference)


def test_the_digest_is_the_same_under_every_python(digest):
    text = "from onset.b import g\n\ndef f(x: int, *a, k=None, **kw) -> str:\n    return f'{x!r:>{k}} {a}'\n"
    assert digest({"onset/a.py": text + "\nclass C:\n    y: float = 1e-3\n"}) == "5e178db43b6d9ca7"
