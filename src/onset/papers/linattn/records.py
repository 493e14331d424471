"""What is recorded along training, and its Dataset; runs of different sizes are padded with NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from onset.papers.linattn.models import SIDE, function_matrix

if TYPE_CHECKING:
    from onset.papers.linattn.batches import Batch
    from onset.papers.linattn.runs import Run

VARIABLES = {
    "loss": (("epoch",), "training loss"),
    "v": (("epoch", "head"), "value weight"),
    "A_diagonal": (("epoch", "direction"), "diagonal of the function-space matrix A"),
    "A_off": (("epoch",), "Frobenius norm of the off-diagonal part of A"),
    "drift_value": (("epoch",), "largest change of |key-query weights|^2 - |value weights|^2 of a head"),
    "drift_key_query": (("epoch",), "largest change of an entry of K K^T - Q Q^T"),
    "side_weight": (("epoch",), "largest weight of the side blocks"),
    "A": (("snapshot", "direction", "column"), "function-space matrix A"),
    "U": (("snapshot", "head", "direction", "column"), "merged key-query weights"),
    "keys": (("snapshot", "head", "rank", "direction"), "key weights"),
    "queries": (("snapshot", "head", "rank", "direction"), "query weights"),
}
COORDINATES = {
    "head": "head",
    "rank": "key-query pair of a head",
    "direction": "eigenvector of the covariance, largest eigenvalue first",
    "column": "eigenvector of the covariance, query side",
}


def list_records(epochs: int, every: int) -> list[int]:
    """Epochs done at each record: 0, `every`, ..., and the last."""
    found = list(range(0, epochs + 1, every))
    return found if found[-1] == epochs else [*found, epochs]


def conserved_quantities(weights: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray | None]:
    """What gradient flow conserves of each head, on any data; gradient descent drifts by its rate.

    First |U|^2 - |v|^2 or sum_r |k_r|^2 - |v|^2 (B, H); then K K^T - Q Q^T (B, H, R, R), None without keys.
    Side blocks count with their block.  Source: arXiv 2501.16265, conservation laws.
    """
    v = weights["v"] ** 2
    if "v_side" in weights:
        v = v + (weights["v_side"] ** 2).sum(-1)
    if "U" in weights:
        u = (weights["U"] ** 2).sum((-2, -1))
        return (u + (weights["u_side"] ** 2).sum(-1) if "u_side" in weights else u) - v, None
    K, Q = weights["K"], weights["Q"]
    if "k_side" in weights:
        K = np.concatenate([K, weights["k_side"][..., None]], -1)
    gram = np.matmul(K, K.swapaxes(-1, -2))
    return np.trace(gram, axis1=-2, axis2=-1) - v, gram - np.matmul(Q, Q.swapaxes(-1, -2))


class Records:
    """Arrays (record or snapshot, B, ...) of one run or batch of runs, float64, filled as it trains."""

    def __init__(self, run: Run | Batch, records: int, snapshots: int) -> None:
        B, H = run.weights["v"].shape
        D, R = run.dimension, run.rank
        shapes: dict[str, tuple[int, ...]] = {
            **{name: (records, B) for name, (dims, _) in VARIABLES.items() if dims == ("epoch",)},
            "v": (records, B, H),
            "A_diagonal": (records, B, D),
            "A": (snapshots, B, D, D),
        }
        shapes |= {"keys": (snapshots, B, H, R, D), "queries": (snapshots, B, H, R, D)} if R else {}
        shapes |= {} if R else {"U": (snapshots, B, H, D, D)}
        self.arrays = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
        self.start = conserved_quantities(run.weights)

    def write(self, k: int, run: Run | Batch) -> None:
        """Fill record `k` from the run's weights as they are."""
        weights, arrays = run.weights, self.arrays
        A = function_matrix(weights)
        diagonal = np.diagonal(A, axis1=1, axis2=2)
        arrays["loss"][k] = run.loss.value(run.model.coefficients(weights))
        arrays["v"][k], arrays["A_diagonal"][k] = weights["v"], diagonal
        arrays["A_off"][k] = np.sqrt(np.maximum((A**2).sum((1, 2)) - (diagonal**2).sum(1), 0))
        value, key_query = conserved_quantities(weights)
        arrays["drift_value"][k] = np.abs(value - self.start[0]).max(1)
        if key_query is not None:
            arrays["drift_key_query"][k] = np.abs(key_query - self.start[1]).max((1, 2, 3))
        sides = [np.abs(weights[name]).reshape(len(A), -1).max(1) for name in SIDE if name in weights]
        arrays["side_weight"][k] = np.max(sides, axis=0) if sides else 0.0

    def keep(self, k: int, run: Run | Batch) -> None:
        """Fill snapshot `k`."""
        self.arrays["A"][k] = function_matrix(run.weights)
        for name, source in {"U": "U", "keys": "K", "queries": "Q"}.items():
            if name in self.arrays:
                self.arrays[name][k] = run.weights[source]

    def take(self, members: Sequence[int] | slice, rank: int) -> Records:
        """The records of some members, by their place, with the first `rank` pairs of key and query."""
        found = copy(self)
        found.arrays = {
            name: array[:, members, :, :rank] if name in ("keys", "queries") else array[:, members]
            for name, array in self.arrays.items()
        }
        return found


def build_dataset(
    runs: Sequence[Run], records: Sequence[Records], epochs: list[int], snapshots: list[int]
) -> xr.Dataset:
    """All runs along `run`, each variable (run, seed, ...) in float32."""
    D = max(run.dimension for run in runs)
    sizes = {"epoch": len(epochs), "snapshot": len(snapshots), "direction": D, "column": D}
    sizes |= {"head": max(run.own.heads for run in runs), "rank": max(run.rank for run in runs)}
    variables = {}
    for name, (dims, text) in VARIABLES.items():
        parts = [record.arrays.get(name) for record in records]
        if all(part is None for part in parts):
            continue
        shape = (sizes[dims[0]], len(runs[0].own.seeds), *(sizes[dim] for dim in dims[1:]))
        padded = np.full((len(runs), *shape), np.nan, dtype=np.float32)
        for whole, part in zip(padded, parts, strict=True):
            if part is not None:
                whole[tuple(slice(n) for n in part.shape)] = part
        attributes = {"long_name": text, "units": "1"}
        variables[name] = (("run", "seed", *dims), np.swapaxes(padded, 1, 2), attributes)
    dataset = xr.Dataset(variables)
    columns = {
        "model": ([run.own.model for run in runs], "model"),
        "task": ([run.own.task for run in runs], "task"),
        "rank_of": ([run.rank for run in runs], "rank of key and query; 0 where merged"),
        "heads": ([run.own.heads for run in runs], "heads"),
        "samples": ([run.own.samples for run in runs], "training sequences; 0 for the population"),
        "init_std": ([run.own.init_std for run in runs], "standard deviation of the starting weights"),
        "learning_rate": ([run.own.learning_rate for run in runs], "learning rate"),
        "time_per_epoch": ([2 * run.own.learning_rate for run in runs], "time of one epoch"),
        "stability_bound": ([run.stability_bound for run in runs], "largest stable learning rate"),
    }
    units = {"time_per_epoch": "τ"}
    coordinates = {
        "run": ("run", [run.label for run in runs], {"long_name": "run", "units": "1"}),
        "seed": ("seed", np.asarray(runs[0].own.seeds), {"long_name": "seed", "units": "1"}),
        "epoch": ("epoch", np.asarray(epochs), {"long_name": "epochs done", "units": "1"}),
        "snapshot_epoch": (
            "snapshot",
            np.asarray(snapshots),
            {"long_name": "epochs done at the snapshot", "units": "1"},
        ),
    }
    for name, (values, text) in columns.items():
        coordinates[name] = ("run", values, {"long_name": text, "units": units.get(name, "1")})
    for name, text in COORDINATES.items():
        if name in dataset.sizes:
            size = np.arange(dataset.sizes[name])
            coordinates[name] = (name, size, {"long_name": text, "units": "1"})
    return dataset.assign_coords(coordinates)
