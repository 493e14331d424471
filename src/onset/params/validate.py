"""Validation of params.yaml against the typed sections, with messages that name key, value and remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

Path = tuple[str | int, ...]
Problem = tuple[Path, str]


def nearest(word: str, known: Iterable[str], shown: int = 100) -> str:
    """A clause that names the nearest known word and, where they are at most `shown`, all known ones."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    hint = f"did you mean '{close[0]}'? " if close else ""
    rest = f"known here: {', '.join(known)}" if len(known) <= shown else "`onset list` shows what there is"
    return f"{hint}({rest})"


def nearest_path(word: str, known: Iterable[str]) -> str:
    """As `nearest`, for paths: where none is close as a whole, the one whose last part is nearest."""
    known = sorted(known, key=lambda path: (path.count("/"), path))
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    if not close:
        stems: dict[str, str] = {}
        for path in known:
            stems.setdefault(path.rpartition("/")[2].partition(".")[0], path)
        stem = word.rpartition("/")[2].partition(".")[0]
        close = [stems[each] for each in difflib.get_close_matches(stem, stems, n=1, cutoff=0)]
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"{hint}(`onset list` shows what there is)"


def check_keys(found: Any, known: Iterable[str], path: Path = ()) -> Iterable[Problem]:
    """Problems of a mapping whose keys are not exactly `known`."""
    if not isinstance(found, Mapping):
        yield path, f"should be a mapping, is {_shown(found)}"
        return
    known = list(known)
    for key in found:
        if key not in known:
            yield (*path, key), f"unknown key; {nearest(str(key), known)}"
    for key in known:
        if key not in found:
            yield (*path, key), "is missing"


def check_section(model: type[BaseModel], found: Any, path: Path) -> tuple[BaseModel | None, list[Problem]]:
    """The section as a typed model, or the problems that keep it from being one."""
    if not isinstance(found, Mapping):
        return None, [(path, f"should be a mapping, is {_shown(found)}")]
    try:
        return model.model_validate(found), []
    except ValidationError as error:
        return None, [(path + item["loc"], _explain(model, found, item)) for item in error.errors()]


def _explain(model: type[BaseModel], found: Mapping, item: Any) -> str:
    loc, kind = item["loc"], item["type"]
    if kind == "extra_forbidden":
        return f"unknown key; {nearest(str(loc[-1]), model.model_fields)}"
    if kind == "missing":
        return f"is missing ({_described(model, loc)})"
    message = item["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:].replace("Input should be", "should be")
    message = message.replace("input should be", "should be")
    return f"= {_shown(item['input'])}: {message} ({_described(model, loc)})"


def _described(model: type[BaseModel], loc: Sequence[str | int]) -> str:
    field = model.model_fields.get(str(loc[0])) if loc else None
    if field is None:
        return model.__name__
    allowed = get_args(field.annotation)
    if allowed and all(isinstance(a, str) for a in allowed):
        return f"{field.description}; one of {', '.join(allowed)}"
    return field.description or str(loc[0])


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def spell(path: Path) -> str:
    """A key path as it is typed: `copyhead.linear_sgld.P[2]`."""
    words = ""
    for part in path:
        words += f"[{part}]" if isinstance(part, int) else f".{part}" if words else str(part)
    return words
