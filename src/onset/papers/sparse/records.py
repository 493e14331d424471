"""The Dataset of a training experiment: records of runs that may differ in length, blocks and heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from onset.papers.sparse.evaluation import predict_log_probabilities

if TYPE_CHECKING:
    from onset.papers.sparse.runs import Run
    from onset.params.sparse import Training

HEADS = ("layer", "head")
DIMS: dict[str, tuple[str, ...]] = {
    "loss": ("step",),
    "train_loss": ("step",),
    "KL": ("step", "prefix"),
    "KL_learned": ("step", "context"),
    "mass": ("step", *HEADS, "group"),
    "value_alignment": ("step", "head", "group"),
    "head_difference": ("step",),
    "attention": ("map_step", *HEADS, "query", "key"),
    "log_probability": ("validation_sample", "query", "token"),
    "teacher_loss": (),
    "entropy": (),
}
TEXTS = {
    "loss": ("validation cross-entropy", "nats"),
    "train_loss": ("training cross-entropy", "nats"),
    "KL": ("divergence of the model from a prefix predictor", "nats"),
    "KL_learned": ("divergence of the model from a restricted-context one", "nats"),
    "mass": ("attention on the lags of a group", "1"),
    "value_alignment": ("share of a feature matrix in a head's values", "1"),
    "head_difference": ("largest difference between two heads in a weight", "1"),
    "attention": ("attention, mean over sequences", "1"),
    "log_probability": ("final log-probability", "nats"),
    "teacher_loss": ("cross-entropy of the chain itself", "nats"),
    "entropy": ("conditional entropy of the chain", "nats"),
    "run": ("run", "1"),
    "seed": ("seed", "1"),
    "step": ("steps done", "1"),
    "prefix": ("groups that the predictor sees", "1"),
    "context": ("tokens that the reference sees", "1"),
    "layer": ("block", "1"),
    "head": ("head", "1"),
    "group": ("group, the most important first", "1"),
    "map_step": ("steps done at the map", "1"),
    "query": ("predicting position", "1"),
    "key": ("input position", "1"),
    "validation_sample": ("validation sequence", "1"),
    "token": ("next token", "1"),
    "chain": ("chain", "1"),
    "model": ("architecture", "1"),
    "optimiser": ("optimiser", "1"),
    "layers": ("blocks", "1"),
    "heads": ("heads of a block", "1"),
    "samples": ("training sequences, 0 for fresh ones", "1"),
    "batch": ("sequences of a batch", "1"),
    "steps": ("optimiser steps", "1"),
    "context_of": ("tokens that the run sees, 0 for all", "1"),
    "init_scale": ("scale of the start, NaN for Xavier", "1"),
    "m": ("ratio of importance between groups", "1"),
    "b0": ("scale of the least important matrix", "1"),
    "learning_rate": ("learning rate", "1"),
    "weight_decay": ("weight decay", "1"),
}


def build_dataset(own: Training, runs: Sequence[Run]) -> xr.Dataset:
    """Records of finished runs, float32.

    loss, train_loss (run, seed, step), nats, the latter a mean over the batches since the evaluation before,
    each before its update; KL (run, seed, step, prefix) = KL(f_{A_1:i} || model) and, with references,
    KL_learned (run, seed, step, context); mass (run, seed, step, layer, head, group); attention (run, seed,
    map_step, layer, head, query, key) at the predicting queries; where all weights belong to a head,
    head_difference (run, seed, step), and with one block value_alignment (run, seed, step, head, group);
    teacher_loss, entropy (run, seed) of the chain on the same sequences.  With `predictions`, log_probability
    (run, seed, validation_sample, query, token) of the trained model.  NaN beyond a run's own steps, blocks
    and heads.  Coordinates on run tell how runs differ.
    """
    records = [collect(run) for run in runs]
    variables = {
        name: (("run", "seed", *dims), _stack([record.get(name) for record in records]), _text(name))
        for name, dims in DIMS.items()
        if any(name in record for record in records)
    }
    sizes: dict[str, int] = {}
    for dims, values, _ in variables.values():
        sizes |= dict(zip(dims, values.shape, strict=True))
    labels: dict[str, Any] = {name: np.arange(size) for name, size in sizes.items()}
    labels |= {"prefix": np.arange(sizes["prefix"]) + 1, "group": np.arange(sizes["group"]) + 1}
    labels |= {"run": [run.label for run in runs], "seed": runs[0].seeds}
    labels["step"] = np.arange(sizes["step"]) * own.evaluate_every
    if "map_step" in sizes:
        labels["map_step"] = list(own.map_steps)
    if "context" in sizes:
        labels["context"] = runs[0].source.contexts
    coordinates = {name: (name, np.asarray(values), _text(name)) for name, values in labels.items()}
    settings = [describe(run) for run in runs]
    for name in settings[0]:
        coordinates[name] = ("run", np.asarray([each[name] for each in settings]), _text(name))
    return xr.Dataset(variables, coords=coordinates)


def collect(run: Run) -> dict[str, np.ndarray]:
    """All variables of a run, (seed, ...) float32."""
    found = {name: tensor.numpy() for name, tensor in run.records.items()}
    if not run.own.map_steps:
        del found["attention"]
    for name in ("teacher_loss", "entropy"):
        found[name] = np.asarray([getattr(data, name) for data in run.evaluations])
    if run.own.predictions:
        found["log_probability"] = np.stack(
            [
                predict_log_probabilities(run.model, run.member(i), data.tokens)
                for i, data in enumerate(run.evaluations)
            ]
        )
    return {name: values.astype(np.float32) for name, values in found.items()}


def describe(run: Run) -> dict[str, Any]:
    """Settings that tell runs apart."""
    own, section = run.own, run.section
    return {
        "chain": own.chain,
        "model": own.model,
        "optimiser": own.optimiser,
        "layers": own.layers,
        "heads": own.heads,
        "samples": own.samples,
        "batch": own.batch,
        "steps": own.steps,
        "context_of": own.context or 0,
        "init_scale": np.nan if own.init_scale is None else own.init_scale,
        "m": section.m,
        "b0": section.b0,
        "learning_rate": own.learning_rate,
        "weight_decay": own.weight_decay,
    }


def _stack(parts: Sequence[np.ndarray | None]) -> np.ndarray:
    """Arrays along a new first axis, each padded with NaN at its ends; NaN for one that is missing."""
    found = [part for part in parts if part is not None]
    size = tuple(max(sizes) for sizes in zip(*(part.shape for part in found), strict=True))
    stacked = np.full((len(parts), *size), np.nan, dtype=np.float32)
    for target, part in zip(stacked, parts, strict=True):
        if part is not None:
            target[tuple(slice(n) for n in part.shape)] = part
    return stacked


def _text(name: str) -> dict[str, str]:
    text, units = TEXTS[name]
    return {"long_name": text, "units": units}
