"""The order parameters of the papers, each brought to curves by seed along its own axis, with the loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


class Curves(NamedTuple):
    """An order parameter: name, paper, axis name and values (T,), curves (n, T) and losses (n, T) by seed."""

    name: str
    paper: str
    along: str
    axis: np.ndarray
    values: np.ndarray
    loss: np.ndarray


def collect_curves(inputs: Mapping[str, xr.Dataset]) -> list[Curves]:
    """All order parameters, paper by paper.

    `inputs` has the roles `gmc`, `sparse`, `linattn`, `linear`, `from_prior` and `from_copy`.
    """
    return [
        *follow_match_and_copy(inputs["gmc"]),
        *follow_groups(inputs["sparse"]),
        *follow_directions(inputs["linattn"]),
        *follow_linear_chains(inputs["linear"]),
        *follow_softmax_chains(inputs["from_prior"], "prior start"),
        *follow_softmax_chains(inputs["from_copy"], "copy start"),
    ]


def follow_match_and_copy(runs: xr.Dataset) -> Iterator[Curves]:
    """Head scores against steps; of each seed the head whose score is greatest at the end."""
    loss = runs["test_loss"].transpose("seed", "step").values
    titles = {"PTH": "previous token", "IH_MC": "induction, match and copy", "IH_Repeat": "induction, repeat"}
    for score, title in titles.items():
        scores = runs[score].transpose("seed", "layer", "head", "step").values
        flat = scores.reshape(len(scores), -1, scores.shape[-1])
        yield Curves(title, "gmc", "step", _float(runs["step"]), _best(flat), loss)


def follow_groups(runs: xr.Dataset) -> Iterator[Curves]:
    """Attention on each group of lags against steps; of each seed the head with most of it at the end."""
    first = runs.isel(run=0)
    loss = first["loss"].transpose("seed", "step").values
    masses = first["mass"].transpose("group", "seed", "layer", "head", "step").values
    for number, mass in enumerate(masses, start=1):
        flat = mass.reshape(len(mass), -1, mass.shape[-1])
        yield Curves(f"group {number}", "sparse", "step", _float(runs["step"]), _best(flat), loss)


def follow_directions(runs: xr.Dataset) -> Iterator[Curves]:
    """Diagonal of the function-space matrix by eigenvector, the largest eigenvalue first, against epochs."""
    first = runs.isel(run=0)
    loss = first["loss"].transpose("seed", "epoch").values
    for number, learned in enumerate(
        first["A_diagonal"].transpose("direction", "seed", "epoch").values, start=1
    ):
        yield Curves(f"direction {number}", "linattn", "epoch", _float(runs["epoch"]), learned, loss)


def follow_linear_chains(chains: xr.Dataset) -> Iterator[Curves]:
    """Sizes of both order parameters of linear attention against P; a chain stands for a seed."""
    for name, title in {"c1": "linear pooling |c₁|", "cG": "linear copy |c_G|"}.items():
        yield _average(chains, abs(chains[name]), title)


def follow_softmax_chains(chains: xr.Dataset, branch: str) -> Iterator[Curves]:
    """Copy order parameter of softmax attention against P, on one branch."""
    yield _average(chains, chains["aG"], f"softmax copy a_G, {branch}")


def _average(chains: xr.Dataset, values: xr.DataArray, title: str) -> Curves:
    kept = chains["kept"].astype(bool)
    mean = [
        part.where(kept).mean("step").transpose("chain", "P").values for part in (values, chains["test_loss"])
    ]
    return Curves(title, "copyhead", "P", _float(chains["P"]), mean[0], mean[1])


def _best(scores: np.ndarray) -> np.ndarray:
    """Of curves (seed, head, T) the one of each seed that ends highest, (seed, T)."""
    return scores[np.arange(len(scores)), scores[..., -1].argmax(-1)]


def _float(axis: xr.DataArray) -> np.ndarray:
    return axis.values.astype(np.float64)
