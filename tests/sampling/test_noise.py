"""Guarantees of the chains' noise:

- what a member draws depends neither on the members beside it nor on the chunks drawn before;
- chunks, members and parameters draw different numbers, with the asked standard deviation;
- precision changes the type of the numbers, not their values.
"""

import numpy as np
import pytest
import torch

from onset.randomness import Streams
from onset.sampling.noise import CHUNK, Noise

STREAMS = Streams(0, "paper", "experiment")
SHAPES = {"a": (3, 2), "b": (4,)}


def test_members_do_not_depend_on_their_batch():
    whole = Noise(STREAMS, {"chain": [0, 1, 5], "P": [10, 20]}, SHAPES)
    part = Noise(STREAMS, {"chain": [5], "P": [20]}, SHAPES)
    whole.draw(0, 1.0)
    for chunk in (2, 1):  # in another order than `whole`
        whole.draw(chunk, 1.0)
        part.draw(chunk, 1.0)
        for step in (chunk * CHUNK, chunk * CHUNK + 7):
            for name, shape in SHAPES.items():
                assert whole.of(step)[name].shape == (3, 2, *shape)
                assert torch.equal(whole.of(step)[name][2, 1], part.of(step)[name][0, 0])


def test_everything_else_differs():
    noise = Noise(STREAMS, {"chain": [0, 1], "P": [10, 20]}, SHAPES)
    seen = []
    for chunk in range(2):
        noise.draw(chunk, 1.0)
        seen += [t.flatten() for s in range(CHUNK) for t in noise.of(chunk * CHUNK + s).values()]
    values = torch.cat(seen).numpy()
    assert len(np.unique(values)) > 0.999 * len(values)  # float32 has chance repeats


@pytest.mark.parametrize("scale", [1.0, 0.2])
def test_noise_is_standard_normal_times_scale(scale):
    noise = Noise(STREAMS, {"chain": range(20)}, {"a": (200,)})
    noise.draw(0, scale)
    values = torch.cat([noise.of(s)["a"].flatten() for s in range(CHUNK)])
    # 200 000 numbers: standard errors are 0.0022 of the mean and 0.0016 of the deviation, in units of scale.
    assert abs(float(values.mean())) < 0.01 * scale
    assert float(values.std()) == pytest.approx(scale, rel=0.007)


def test_precision_keeps_the_values():
    single = Noise(STREAMS, {"chain": [3]}, SHAPES)
    double = Noise(STREAMS, {"chain": [3]}, SHAPES, torch.float64)
    single.draw(0, 1.0)
    double.draw(0, 1.0)
    assert double.of(4)["a"].dtype == torch.float64
    assert torch.equal(single.of(4)["a"].double(), double.of(4)["a"])
