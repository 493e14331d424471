"""Weights on disk.

- arrays and tensors of every type and shape come back bit for bit, also scalars and transposed views
- the same arrays and attributes give the same bytes
- a missing or damaged file is refused in one line with the remedy
"""

import numpy as np
import pytest
import torch

from onset.errors import OnsetError
from onset.store.checkpoints import read_checkpoint, write_checkpoint

ATTRS = {"onset_recipe": "r", "seeds": "[0,1]", "threads": 1, "dtype": "float32"}


def make_arrays():
    rng = np.random.default_rng(0)
    return {
        "W": rng.standard_normal((2, 3, 4)).astype("float32"),
        "theta": torch.arange(6, dtype=torch.float64).reshape(2, 3).T,
        "steps": torch.tensor(7),
        "kept": np.array([True, False]),
        "wide": np.asfortranarray(rng.standard_normal((4, 5))),
    }


def test_arrays_come_back(tmp_path):
    write_checkpoint(make_arrays(), tmp_path / "x.safetensors", ATTRS, {"recipe": "r"})
    read, attributes = read_checkpoint(tmp_path / "x.safetensors")
    assert attributes == ATTRS
    for name, array in make_arrays().items():
        expected = np.asarray(array)
        assert read[name].shape == expected.shape, name
        assert read[name].dtype == expected.dtype
        np.testing.assert_array_equal(read[name], expected)


def test_the_same_arrays_give_the_same_bytes(tmp_path):
    for name, order in (("a", 1), ("b", -1)):
        arrays = dict(list(make_arrays().items())[::order])
        write_checkpoint(arrays, tmp_path / name, dict(list(ATTRS.items())[::order]), {"recipe": "r"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("damage", [lambda body: body[:-8], lambda body: b"", lambda body: b"\xff" * 50])
def test_a_damaged_file_is_refused(tmp_path, damage):
    path = tmp_path / "x.safetensors"
    write_checkpoint(make_arrays(), path, ATTRS, {"recipe": "r"})
    body = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(damage(body))
    with pytest.raises(OnsetError, match=r"x\.safetensors is damaged .*; build it again"):
        read_checkpoint(path, "build it again")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(OnsetError, match="does not exist; build it"):
        read_checkpoint(tmp_path / "none", "build it")
