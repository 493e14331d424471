"""Files are written whole or not at all.

- an error while writing, or while the file is moved, leaves the old file and no temporary one
- a full disk is an error that names the file, for text, netCDF and checkpoints alike; the old file stays.  It
  is made in two ways: a move that raises ENOSPC, and a limit on the size of files in another process
- a folder that cannot be made is an error that names the file
"""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onset.errors import OnsetError
from onset.store.atomic import copy_file, replacing, write_text
from onset.store.record import read_record, replacing_with_record

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    return path


def alone(path):
    return [p.name for p in path.parent.iterdir()] == [path.name]


def test_an_error_in_the_block_leaves_the_old_file(old):
    with pytest.raises(KeyError), replacing(old) as temporary:
        temporary.write_text("half")
        raise KeyError("x")
    assert old.read_text() == "old"
    assert alone(old)


@pytest.mark.parametrize("place", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(old, monkeypatch, place):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, place, full)
    with pytest.raises(OnsetError, match=r"file\.txt cannot be written: No space left on device"):
        write_text(old, "new")
    assert old.read_text() == "old"
    assert alone(old)


WRITERS = {
    "text": "from onset.store.atomic import write_text; write_text(path, 'x' * 100_000)",
    "netcdf": (
        "import numpy as np, xarray as xr; from onset.store.netcdf import write_result;"
        "values = np.random.default_rng(0).standard_normal(100_000);"
        "dataset = xr.Dataset({'x': ('n', values, {'long_name': 'x', 'units': '1'})});"
        "write_result(dataset, path, {}, {'recipe': 'r'})"
    ),
    "checkpoint": (
        "import numpy as np; from onset.store.checkpoints import write_checkpoint;"
        "write_checkpoint({'x': np.zeros(100_000)}, path, {}, {'recipe': 'r'})"
    ),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_outgrows_the_disk(old, kind):
    code = (
        "import resource, sys; from pathlib import Path; from onset.errors import OnsetError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        f"path = Path(sys.argv[1])\ntry:\n    {WRITERS[kind]}\n"
        "except OnsetError as error:\n    print(error)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code, old], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{old} cannot be written" in done.stdout
    assert old.read_text() == "old"
    assert alone(old)


def test_a_folder_that_cannot_be_made(old):
    with pytest.raises(OnsetError, match="below cannot be written"):
        write_text(old / "below", "text")


def test_a_copy_and_its_mode(old, tmp_path):
    copy_file(old, tmp_path / "folder" / "copy.txt", mode=0o444)
    assert (tmp_path / "folder" / "copy.txt").read_text() == "old"
    assert (tmp_path / "folder" / "copy.txt").stat().st_mode & 0o777 == 0o444


def test_an_unreadable_record_counts_as_none(old):
    assert read_record(old) is None
    with replacing_with_record(old, {"recipe": "r"}) as temporary:
        temporary.write_text("new")
    assert read_record(old)["recipe"] == "r"
    old.with_name("file.txt.prov.json").write_text('{"recipe": ')
    assert read_record(old) is None
