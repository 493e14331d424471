"""Results on disk.

- every type that results have comes back bit for bit, with names, dimensions and attributes
- encodings are explicit: the variable's own type, zlib 4 with shuffle and bounded chunks; no fill value
- a numeric variable without `long_name` and `units` is refused
- the same Dataset gives the same bytes, and no handle stays open
- a file that is missing, truncated, altered or foreign is refused in one line with the remedy
- the record is there before the file, with the digest of its bytes
"""

import os

import netCDF4
import numpy as np
import pytest
import xarray as xr

from onset.errors import OnsetError
from onset.store.digest import digest_file
from onset.store.netcdf import read_result, write_result
from onset.store.record import read_record, record_path

ATTRS = {"long_name": "a quantity", "units": "1"}
RECORD = {"recipe": "0123456789abcdef"}
TYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float32", "float64")


def make_dataset():
    rng = np.random.default_rng(0)
    data = {name: (("chain", "step"), rng.integers(0, 2, (3, 50)).astype(name), ATTRS) for name in TYPES}
    data["measured"] = (("chain", "step"), rng.standard_normal((3, 50)).astype("float32"), ATTRS)
    data["gaps"] = ("chain", np.array([1.5, np.nan, -np.inf]), ATTRS)
    data["scalar"] = ((), np.float64(0.1), ATTRS)
    data["flag"] = ((), np.bool_(True), ATTRS)
    coords = {
        "chain": ("chain", [0, 1, 2], ATTRS),
        "step": ("step", np.arange(50) * 20, ATTRS),
        "quantity": ("quantity", ["abs_c1", "c_G", "größe"]),
        "kept": ("step", np.arange(50) >= 25, ATTRS),
    }
    data["r_hat"] = ("quantity", np.ones(3, "float32"), ATTRS)
    return xr.Dataset(data, coords=coords, attrs={"source": "a test"})


def test_every_type_comes_back(tmp_path):
    written = make_dataset()
    write_result(written, tmp_path / "x.nc", {"threads": 1}, RECORD)
    read = read_result(tmp_path / "x.nc")
    xr.testing.assert_equal(read, written)
    for name, variable in written.variables.items():
        kind = "U" if variable.dtype.kind == "U" else variable.dtype
        assert read[name].dtype == kind or read[name].dtype.kind == "U", name
        assert {k: read[name].attrs[k] for k in variable.attrs} == variable.attrs
    assert read.attrs["source"] == "a test"
    assert read.attrs["threads"] == 1


def test_encodings_are_explicit(tmp_path):
    size = 3 << 20
    attrs = {
        "x": ("n", np.zeros(size, "float32"), ATTRS),
        "y": (("m", "n"), np.zeros((2, size), "int8"), ATTRS),
    }
    write_result(xr.Dataset({**attrs, "small": ("k", np.zeros(3), ATTRS)}), tmp_path / "x.nc", {}, RECORD)
    with netCDF4.Dataset(tmp_path / "x.nc") as file:
        for name, kind in (("x", "float32"), ("y", "int8")):
            assert file[name].dtype == kind
            assert {k: file[name].filters()[k] for k in ("zlib", "shuffle", "complevel")} == {
                "zlib": True,
                "shuffle": True,
                "complevel": 4,
            }
            assert np.prod(file[name].chunking()) <= 1 << 20
            assert "_FillValue" not in file[name].ncattrs()
        assert file["small"].dtype == "float64"


@pytest.mark.parametrize("missing", ["long_name", "units"])
def test_names_and_units_are_demanded(tmp_path, missing):
    attrs = {key: value for key, value in ATTRS.items() if key != missing}
    with pytest.raises(ValueError, match=f"'x' lacks the attributes {missing}"):
        write_result(xr.Dataset({"x": ("n", [1.0], attrs)}), tmp_path / "x.nc", {}, RECORD)
    assert list(tmp_path.iterdir()) == []


def test_the_same_dataset_gives_the_same_bytes_and_leaves_no_handle(tmp_path):
    for name in ("a.nc", "b.nc"):
        write_result(make_dataset(), tmp_path / name, {}, RECORD)
        read_result(tmp_path / name)
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()
    still_open = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_link(fd)]
    assert not [path for path in still_open if path.startswith(str(tmp_path))]


def _is_link(fd):
    return os.path.lexists(f"/proc/self/fd/{fd}")


def truncate(path):
    path.write_bytes(path.read_bytes()[:-50])


def empty(path):
    path.write_bytes(b"")


def alter(path):
    with netCDF4.Dataset(path, "a") as file:
        file["measured"][0, 0] += 1


def strip(path):
    with netCDF4.Dataset(path, "a") as file:
        file.delncattr("onset_content")


@pytest.mark.parametrize(
    "harm, words",
    [
        (truncate, "damaged"),
        (empty, "damaged"),
        (alter, "its content is not what its digest says"),
        (strip, "no content digest"),
        (os.unlink, "does not exist"),
    ],
)
def test_what_is_not_whole_is_refused(tmp_path, harm, words):
    path = tmp_path / "x.nc"
    write_result(make_dataset(), path, {}, RECORD)
    path.chmod(0o644)
    harm(path)
    with pytest.raises(OnsetError) as caught:
        read_result(path, "build it again")
    message = str(caught.value)
    assert str(path) in message and words in message and message.endswith("; build it again")
    assert "\n" not in message


def test_the_record_is_there_before_the_file(tmp_path, monkeypatch):
    path = tmp_path / "x.nc"
    found = []
    moved = os.replace

    def watch(source, target):
        found.append((os.path.basename(target), path.exists(), record_path(path).exists()))
        moved(source, target)

    monkeypatch.setattr(os, "replace", watch)
    write_result(make_dataset(), path, {}, RECORD)
    assert found == [("x.nc.prov.json", False, False), ("x.nc", False, True)]
    assert read_record(path)["sha256"] == digest_file(path)
    assert read_record(path)["content"] == read_result(path).attrs["onset_content"]
    assert not path.stat().st_mode & 0o222, "results in the store are read-only"
