"""Reading YAML as DVC reads it: YAML 1.2, where `1e-3` is a number and `on` is a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from onset.errors import OnsetError


def read_yaml(path: Path) -> Any:
    """The content of a YAML file as plain dicts, lists and scalars.

    Raises OnsetError, with file, line and cause, where it is missing, cannot be parsed, or repeats a key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise OnsetError(f"{path} does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise OnsetError(f"{path} cannot be read: {error}") from None
    try:
        return YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)
        raise OnsetError(f"{where}: {str(error.problem).splitlines()[0]}") from None
    except YAMLError as error:
        raise OnsetError(f"{path}: {str(error).splitlines()[0]}") from None
