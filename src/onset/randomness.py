"""Named streams of random numbers, each a function of its name alone.

A stream is named by (root seed, paper, experiment, purpose, member, index).  The name goes
through `numpy.random.SeedSequence`, so that streams with different names are independent, and so
that neither the number of members nor the way they are batched changes what any of them draws.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


def _words(name: str) -> tuple[int, ...]:
    """Four 32-bit words that stand for a text in a spawn key."""
    digest = hashlib.sha256(name.encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))


@dataclass(frozen=True)
class Streams:
    """All random streams of one experiment.

    `root` is the paper's `seed` in params.yaml.
    """

    root: int
    paper: str
    experiment: str

    def generator(self, purpose: str, *key: int) -> np.random.Generator:
        """The generator of one stream.

        `key` names the member and, where a stream is drawn in pieces, the piece: for instance
        (chain, P, chunk).  Entries are non-negative integers.  Two calls with equal arguments
        give generators that draw the same numbers.  Raises ValueError on a negative key.
        """
        if any(part < 0 for part in key):
            raise ValueError(f"stream key {key} has a negative entry")
        sequence = np.random.SeedSequence(
            entropy=self.root,
            spawn_key=(*_words(self.paper), *_words(self.experiment), *_words(purpose), *key),
        )
        return np.random.Generator(np.random.SFC64(sequence))
