"""Reading params.yaml and laying overlays over it.

- YAML 1.2: `1e-3` is a number, `on` and `no` are words, `010` is ten
- what cannot be read is told with file, line and cause: repeated keys, broken syntax, a missing file
- overlays merge mappings key by key and replace anything else; a resolved leaf is the overlay's where it sets
  one and the base's elsewhere
- the problem of a value is told at the place that set it
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onset.errors import OnsetError
from onset.params.overlay import holds, merge
from onset.params.yamlfile import read_yaml


def read(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    return read_yaml(path)


def test_yaml_is_read_as_dvc_reads_it(tmp_path):
    found = read(tmp_path, "a: 1e-3\nb: on\nc: no\nd: 010\ne: 1:30\nf: 1.0e-3\ng: true\n")
    assert found == {"a": 1e-3, "b": "on", "c": "no", "d": 10, "e": "1:30", "f": 1e-3, "g": True}
    assert type(found["a"]) is float and type(found["d"]) is int


@pytest.mark.parametrize(
    "text, message",
    [
        ("a: 1\nb: 2\na: 3\n", r"params\.yaml, line 3, column 1: .*duplicate key"),
        ("a:\n  b: 1\n c: 2\n", r"params\.yaml, line 3"),
        ("a: [1, 2\nb: 3\n", r"params\.yaml, line 2"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path, text, message):
    with pytest.raises(OnsetError, match=message):
        read(tmp_path, text)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(OnsetError, match=r"none\.yaml does not exist"):
        read_yaml(tmp_path / "none.yaml")


LEAVES = st.integers(0, 9) | st.lists(st.integers(0, 9), max_size=2) | st.sampled_from(["x", None])
KEYS = st.sampled_from("abc")
TREES = st.dictionaries(
    KEYS, LEAVES | st.dictionaries(KEYS, LEAVES | st.dictionaries(KEYS, LEAVES, max_size=2))
)


def leaves(tree, path=()):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(base=TREES, overlay=TREES)
def test_a_resolved_parameter_is_the_overlay_over_the_base(base, overlay):
    merged = merge(base, overlay)
    for path, value in leaves(overlay):
        assert at(merged, path) == value
        assert holds(overlay, path)
    for path, value in leaves(merged):
        assert value == at(overlay if holds(overlay, path) else base, path)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(base=TREES)
def test_an_empty_overlay_changes_nothing_and_no_tree_is_changed(base):
    copy = {**base}
    assert merge(base, {}) == base
    merge(base, {"a": {"b": 1}})
    assert base == copy


def test_lists_are_replaced_as_a_whole():
    assert merge({"P": [1, 2, 3], "k": 1}, {"P": [9]}) == {"P": [9], "k": 1}
    assert holds({"P": [9]}, ("P", 2))
    assert not holds({"P": [9]}, ("k",))
