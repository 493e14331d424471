"""What the catalogue names as `module:name`; apart from the catalogue, for a job reads none."""

from __future__ import annotations

import importlib
from typing import Any

from onset.errors import OnsetError


def resolve_code(reference: str) -> Any:
    """The object that `module:name` refers to.

    Raises OnsetError, naming the reference, where module or name does not exist.
    """
    module, _, name = reference.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            raise OnsetError(
                f"the catalogue names {reference}, but there is no module {error.name}"
            ) from None
        raise
    except AttributeError:
        raise OnsetError(f"the catalogue names {reference}, but {module} has no '{name}'") from None
