"""Named random streams.

- a stream is a function of its name alone: how many members there are, in which order or how they are batched
  changes nothing
- streams that differ in any part of their name draw different numbers, without correlation
- the scheme is pinned by its first numbers: changing it changes every result, and this test
- a negative key is refused
"""

import itertools

import numpy as np
import pytest

from onset.randomness import Streams


def draw(root=0, paper="toy", experiment="fit", purpose="noise", key=(0,), size=4):
    return Streams(root, paper, experiment).generator(purpose, *key).standard_normal(size)


def test_the_number_of_members_changes_none_of_them():
    def members(count):
        streams = Streams(0, "toy", "fit")
        return [streams.generator("noise", member).standard_normal(5) for member in range(count)]

    np.testing.assert_array_equal(members(8)[:3], members(3))


def test_order_and_batching_change_nothing():
    keys = [(member, chunk) for member in range(3) for chunk in range(3)]
    forth = {key: draw(key=key) for key in keys}
    back = {key: draw(key=key) for key in reversed(keys)}
    for key in keys:
        np.testing.assert_array_equal(forth[key], back[key])


def test_every_part_of_the_name_counts():
    names = [
        {},
        {"root": 1},
        {"paper": "other"},
        {"experiment": "other"},
        {"purpose": "other"},
        {"key": (1,)},
        {"key": ()},
        {"key": (0, 0)},
        {"paper": "toyfit", "experiment": ""},
        {"paper": "fit", "experiment": "toy"},
    ]
    drawn = [draw(**name, size=4000) for name in names]
    for one, other in itertools.combinations(drawn, 2):
        assert not np.array_equal(one, other)
        # 4000 independent pairs: the correlation has standard deviation 1/63; five of those is 0.08
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.08


def test_the_scheme_is_pinned():
    generator = Streams(7, "copyhead", "linear_sgld").generator("noise", 3, 11)
    np.testing.assert_array_equal(
        generator.integers(0, 2**32, 4), [4135165164, 1358025423, 3934952734, 42629142]
    )


def test_a_negative_key_is_refused():
    with pytest.raises(ValueError, match="negative"):
        draw(key=(0, -1))
