"""A small training job, as the pipeline would hand it to the trainer."""

import io
from functools import cache

from onset.job.context import Job
from onset.job.progress import Reporter
from onset.job.state import SavedState
from onset.papers.sparse.sequences import draw_datasets
from onset.params.sparse import Chain, FullModel, Optimiser, Sequences, Training
from onset.randomness import Streams

STREAMS = Streams(0, "sparse", "small_runs")
CHAIN = {
    "d": 5,
    "T": 4,
    "window": 4,
    "groups": [[1, 2], [3, 4]],
    "m": 1.5,
    "b0": 6.0,
    "scaling": "mean",
    "overlap": False,
    "mutually_orthogonal": False,
}
CHAINS = {"base_chain": Chain(**CHAIN), "steep_chain": Chain(**{**CHAIN, "m": 3.0})}
FULL = {"width": 12, "ffn": 7, "dropout": 0.0}
OPTIMISER = {"beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "momentum": 0.9, "clip": 1.0}
TRAINING = {
    "chain": "base_chain",
    "model": "minimal",
    "heads": 2,
    "optimiser": "adamw",
    "learning_rate": 0.05,
    "weight_decay": 0.01,
    "batch": 8,
    "samples": 0,
    "dtype": "float32",
    "steps": 12,
    "evaluate_every": 3,
    "evaluation_samples": 20,
    "map_steps": [0, 6],
    "seeds": 4,
    "block": 1,
    "runs": {"main": {}},
}


@cache
def draw_sequences(samples=30, validation=40):
    """Sequences of both chains for seeds 0 to 3."""
    own = Sequences(samples=samples, validation=validation, seeds=4)
    return draw_datasets(Job("sparse", "small_sequences", "test", "r", own, CHAINS, streams=STREAMS))


def make_job(members=(0,), state=None, full=None, settings=None, inputs=None, device="cpu", **changes):
    """A job on fixed sequences; with a `state` folder it saves after every chunk."""
    return Job(
        paper="sparse",
        name="small_runs",
        scale="test",
        recipe="r",
        own=Training.model_validate({**TRAINING, **changes}),
        sections={
            **CHAINS,
            "full_model": FullModel(**{**FULL, **(full or {})}),
            "optimiser": Optimiser(**{**OPTIMISER, **(settings or {})}),
        },
        inputs={"sequences": draw_sequences(), **(inputs or {})},
        members=members,
        streams=STREAMS,
        device=device,
        reporter=Reporter("small", io.StringIO(), io.StringIO()),
        saved=SavedState(state, "r", every=0) if state else None,
    )
