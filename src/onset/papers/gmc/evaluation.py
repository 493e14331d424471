"""Loss and head scores of a model on fixed test sequences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from onset.measures.head_scores import measure_IH_MC, measure_IH_repeat, measure_PTH

if TYPE_CHECKING:
    import xarray as xr

    from onset.papers.gmc.models.transformer import Transformer

PART = 128  # sequences whose attention is held at once


@dataclass(frozen=True)
class Matching:
    """Match-and-copy sequences: tokens (n, T+1, d_in), targets (n, d_out) float64 and match (n,)."""

    tokens: Tensor
    targets: np.ndarray
    match: np.ndarray


@dataclass(frozen=True)
class TestSequences:
    """All that a run is evaluated on; `curve` are the sequences that are used along training.

    repeated, control (m, 2K, d_in); tokens are on the device of the run.
    """

    __test__ = False  # no test case, whatever pytest makes of the name

    all: Matching
    curve: Matching
    repeated: Tensor
    control: Tensor


def read_test(dataset: xr.Dataset, device: str) -> TestSequences:
    """The test sequences of a `*_test` Dataset."""

    def move(values: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    tokens, targets = dataset["tokens"].values, dataset["targets"].values.astype(np.float64)
    match, curve = dataset["match"].values, dataset["curve"].values
    return TestSequences(
        all=Matching(move(tokens), targets, match),
        curve=Matching(move(tokens[curve]), targets[curve], match[curve]),
        repeated=move(dataset["repeated"].values),
        control=move(dataset["control"].values),
    )


def observe(model: Transformer, tokens: Tensor) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Predictions (n, d_out) float64 and attention (n, layer, head, query, key), part after part."""
    for begin in range(0, len(tokens), PART):
        part = slice(begin, min(begin + PART, len(tokens)))
        with torch.no_grad():
            prediction, maps = model.observe(tokens[part])
        yield part, prediction.double().cpu().numpy(), maps.cpu().numpy()


def score_matching(model: Transformer, sequences: Matching) -> dict[str, np.ndarray]:
    """Mean squared error () and the scores PTH and IH_MC (layer, head), means over the sequences, float64.

    The loss is the mean over entries of the target.  Source: arXiv 2602.07562, loss and head scores.
    """
    sums: dict[str, np.ndarray] = {}
    for part, prediction, maps in observe(model, sequences.tokens):
        found = {
            "loss": np.square(prediction - sequences.targets[part]).mean(1),
            "PTH": measure_PTH(maps),
            "IH_MC": measure_IH_MC(maps, sequences.match[part]),
        }
        for name, values in found.items():
            sums[name] = sums.get(name, 0.0) + values.sum(0, dtype=np.float64)
    return {name: total / len(sequences.tokens) for name, total in sums.items()}


def score_repeated(model: Transformer, tokens: Tensor) -> np.ndarray:
    """IH-Repeat (layer, head), mean over sequences of even length, float64; they need not repeat."""
    total = sum(measure_IH_repeat(maps).sum(0, dtype=np.float64) for _, _, maps in observe(model, tokens))
    return np.asarray(total / len(tokens))


def evaluate(model: Transformer, test: TestSequences) -> dict[str, np.ndarray]:
    """test_loss () on the curve sequences, and PTH, IH_MC, IH_Repeat, IH_Repeat_control (layer, head)."""
    matching = score_matching(model, test.curve)
    return {
        "test_loss": matching.pop("loss"),
        **matching,
        "IH_Repeat": score_repeated(model, test.repeated),
        "IH_Repeat_control": score_repeated(model, test.control),
    }
