"""Theory against experiment: the loss of the chain itself, plateaus of the full flow, simplified flows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onset.claims.theory import Comparison, Point
from onset.papers.sparse.claims.flow_measures import Inputs, iterate_starts, read_sizes
from onset.papers.sparse.selection import take_run

Points = Iterator[Point]


def compare_ends(inputs: Inputs) -> Points:
    """Validation loss at the end against the chain's own on the same tokens."""
    run = take_run(inputs["runs"], "main")
    yield Point("end of training", run.teacher_loss, run.loss.isel(step=-1))


def compare_plateaus(inputs: Inputs) -> Points:
    """Loss of the full flow where each stage begins against what the features that are left contribute."""
    flow = inputs["flow"]
    left = 0.5 * np.cumsum(flow["strength"].values[::-1] ** 2)[::-1][1:]
    found = [one["loss"].interp(time=one["boundary"].values).values for one in iterate_starts(flow)]
    for stage, level, values in zip(flow["stage"].values, left, np.transpose(found), strict=True):
        yield Point(f"stage {int(stage)}", level, values)


def compare_coupled(inputs: Inputs) -> Points:
    """Potential of the coupled flow at the end against m_1^2/(2h)."""
    ideal = inputs["ideal"]
    m, h = read_sizes(inputs["sweep"], ideal)
    yield Point("end of the coupled flow", m[0] ** 2 / (2 * h), ideal["coupled_potential"].isel(time=-1))


def compare_attention(inputs: Inputs) -> Points:
    """Attention on the first feature's position at the end of the coupled flow against 1."""
    yield Point("end of the coupled flow", 1.0, inputs["ideal"]["coupled_s"].isel(time=-1, feature=0))


def compare_half_times(inputs: Inputs) -> Points:
    """Half-time of each later stage in the full flow against the cooperative flow from the same state."""
    stages = inputs["stages"]
    full = inputs["flow"]["half_time"].sel(feature=stages["stage"])
    for n in stages["stage"].values:
        one = stages["half_time"].sel(system="cooperative", stage=n).transpose("run", "seed")
        yield Point(f"stage {int(n)}", one.values, full.sel(stage=n).transpose("run", "seed").values)


def compare_dips(inputs: Inputs) -> Points:
    """Deepest dip of what the ensemble delivers, full flow against the cooperative flow."""
    stages = inputs["stages"]
    for n in stages["stage"].values:
        one = stages["dip"].sel(system="cooperative", stage=n).transpose("run", "seed")
        full = stages["full_dip"].sel(stage=n).transpose("run", "seed")
        yield Point(f"stage {int(n)}", one.values, full.values)


def compare_products(inputs: Inputs) -> Points:
    """V'<s', s_n*> at the end of the simplified flows against the strength m_n."""
    product, flow = inputs["stages"]["product"], inputs["flow"]
    for system in product["system"].values:
        for n in product["stage"].values:
            level = float(flow["strength"].sel(feature=n))
            yield Point(f"{system}, stage {int(n)}", level, product.sel(system=system, stage=n).values)


FIG1 = (Comparison("loss at the end, that of the chain itself", compare_ends, "nats"),)
FIG3 = FIG1
FIG6 = (
    Comparison("loss where a stage begins", compare_plateaus),
    Comparison("potential of the coupled flow, m_1²/(2h)", compare_coupled),
    Comparison("attention on the first feature", compare_attention),
)
FIG7 = (
    Comparison("half-time of a stage, cooperative flow", compare_half_times),
    Comparison("deepest dip of the ensemble, cooperative flow", compare_dips),
    Comparison("V'<s', s_n*> at the end, m_n", compare_products),
)
