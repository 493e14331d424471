"""A small training job, as the pipeline would hand it to the trainer."""

import io
from functools import cache

from tests.gmc.small_gmc import make_section, make_sets

from onset.job.context import Job
from onset.job.progress import Reporter
from onset.job.state import SavedState
from onset.params.gmc import Backbone, Optimiser, Training
from onset.randomness import Streams

TASK = make_section(T=4, d_in=6, c=1.1)
STREAMS = Streams(0, "gmc", "small")

BACKBONE = {"width": 24, "heads": 3, "ffn": 32, "init_std": 0.02, "projections": "default", "rope_theta": 1e4}
OPTIMISER = {
    "batch": 32,
    "learning_rate": 5e-3,
    "final_rate": 0.0,
    "beta1": 0.9,
    "beta2": 0.95,
    "epsilon": 1e-8,
    "weight_decay": 0.01,
    "clip": None,
}
TRAINING = {
    "architecture": "llama",
    "layers": 2,
    "steps": 30,
    "warmup": 6,
    "evaluate_every": 6,
    "map_steps": [0, 12],
    "seeds": 2,
    "block": 1,
}


@cache
def draw_test(**sizes):
    return make_sets(TASK, **{"samples": 300, "curve_samples": 40, "repeated_samples": 7, **sizes})


def make_job(members=(0,), state=None, backbone=None, optimiser=None, **changes):
    """A job on fixed test sets; with a `state` folder it saves after every chunk."""
    return Job(
        paper="gmc",
        name="small_runs",
        scale="test",
        recipe="r",
        own=Training.model_validate({**TRAINING, **changes}),
        sections={
            "task": TASK,
            "backbone": Backbone(**{**BACKBONE, **(backbone or {})}),
            "optimiser": Optimiser(**{**OPTIMISER, **(optimiser or {})}),
        },
        inputs={"test": draw_test()},
        members=members,
        streams=STREAMS,
        reporter=Reporter("small", io.StringIO(), io.StringIO()),
        saved=SavedState(state, "r", every=0) if state else None,
    )
