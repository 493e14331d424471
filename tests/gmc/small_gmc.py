"""Small tasks of Gaussian Match-and-Copy, and the jobs that draw their test sets."""

import numpy as np

from onset.job.context import Job
from onset.papers.gmc.sets import draw_sets
from onset.params.gmc import Sets, Task
from onset.randomness import Streams

STREAMS = Streams(0, "gmc", "small")


def make_section(T=8, d_in=16, **covariance):
    """A task's section; C = I/1.2^2 where nothing else is given."""
    return Task(T=T, d_in=d_in, sigma_token=1.0, sigma_noise=0.1, **(covariance or {"c": 1.2}))


def make_sets(section, samples=600, curve_samples=128, repeated_samples=5, K=None):
    """The test sets that the pipeline would draw for a section."""
    own = Sets(samples=samples, curve_samples=curve_samples, repeated_samples=repeated_samples, K=K)
    return draw_sets(Job("gmc", "test", "test", "-", own, {"task": section}, streams=STREAMS))


def general_covariance(d_in, norm=0.95, seed=1):
    """A covariance without any symmetry, of the given spectral norm."""
    C = np.random.default_rng(seed).standard_normal((d_in, d_in))
    return C * norm / np.linalg.norm(C, 2)
