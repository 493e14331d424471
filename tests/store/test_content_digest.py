"""The content digest of a Dataset.

- attributes, encoding and the order of variables do not enter
- one bit of one value, a name, a dimension's name, a shape and a type do
"""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from onset.store.digest import canonical_json, digest_content, digest_json

BASE = {"a": ("n", np.arange(4.0)), "b": (("n", "m"), np.ones((4, 2), "float32"))}


def test_attributes_and_order_do_not_enter():
    reordered = xr.Dataset(dict(reversed(BASE.items())), attrs={"title": "x"})
    reordered["a"].attrs["units"] = "m"
    reordered["b"].encoding["zlib"] = True
    assert digest_content(reordered) == digest_content(xr.Dataset(BASE))


@settings(deadline=None)
@given(values=npst.arrays("float64", 5), place=st.integers(0, 4), bit=st.integers(0, 63))
def test_one_bit_enters(values, place, bit):
    flipped = values.copy()
    flipped.view("uint64")[place] ^= np.uint64(1 << bit)
    assert digest_content(xr.Dataset({"x": ("n", values)})) != digest_content(
        xr.Dataset({"x": ("n", flipped)})
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"a": ("n", np.arange(4.0)), "c": BASE["b"]},
        {**BASE, "a": ("k", np.arange(4.0))},
        {**BASE, "a": ("n", np.arange(4.0, dtype="float32"))},
        {**BASE, "a": ("n", np.arange(4))},
        {**BASE, "b": (("m", "n"), np.ones((2, 4), "float32"))},
        {**BASE, "s": ("n", ["p", "q", "r", "s"])},
    ],
)
def test_names_dimensions_shapes_and_types_enter(changed):
    assert digest_content(xr.Dataset(changed)) != digest_content(xr.Dataset(BASE))


def test_texts_count_by_their_letters():
    texts = [
        xr.Dataset({"s": ("n", np.array(t, dtype=d))})
        for t in (["a", "b"], ["a", "c"])
        for d in ("U1", "U9", object)
    ]
    assert len({digest_content(dataset) for dataset in texts}) == 2


def test_json_digests_do_not_depend_on_the_order_of_keys():
    assert digest_json({"a": 1, "b": [1, 2]}) == digest_json({"b": [1, 2], "a": 1})
    assert digest_json({"a": 1}) != digest_json({"a": 1.5})
    with pytest.raises(ValueError):
        canonical_json(float("nan"))
