"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onset.errors import OnsetError


@contextmanager
def replacing(path: Path, mode: int = 0o644) -> Iterator[Path]:
    """A temporary path in the folder of `path`, moved onto it when the block ends without an error.

    On an error the temporary file is removed and `path` is left as it was.  Raises OnsetError, naming
    the path, where it cannot be written (read-only, full disk).
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        os.chmod(temporary, mode)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise OnsetError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a text file whole or not at all."""
    with replacing(path, mode) as temporary:
        temporary.write_text(text, encoding="utf-8")


def copy_file(source: Path, target: Path, mode: int = 0o644) -> None:
    """Copy a file whole or not at all; the target's time stamp is now."""
    with replacing(target, mode) as temporary:
        shutil.copyfile(source, temporary)
