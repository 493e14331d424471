"""What the claims about many directions measure (figure 8)."""

from __future__ import annotations

import numpy as np

from onset.claims.claim import Measured
from onset.papers.linattn.claims.measures import (
    Inputs,
    count_over_seeds,
    farthest_count,
    lack_run,
    median_plateau_error,
    take_runs,
    tally,
    theory_of,
)
from onset.papers.linattn.selection import learned_directions


def merged_drops(inputs: Inputs) -> Measured:
    """Number of drops farthest from 1, over all dimensions and seeds of ATTN_M."""
    runs = take_runs(inputs["runs"], model="merged")
    if not runs:
        return lack_run("of ATTN_M")
    counts = np.concatenate([count_over_seeds(run.loss) for run in runs])
    return Measured(farthest_count(counts, 1), tally(counts))


def separate_drops(inputs: Inputs) -> Measured:
    """Fewest drops over all dimensions and seeds of ATTN_S."""
    runs = take_runs(inputs["runs"], model="separate")
    if not runs:
        return lack_run("of ATTN_S")
    counts = np.concatenate([count_over_seeds(run.loss) for run in runs])
    return Measured(float(counts.min()), tally(counts))


def first_plateaus(inputs: Inputs, smallest: bool, count: int = 3) -> Measured:
    """Largest median error of the first plateaus of ATTN_S: of the smallest dimension, or of all others.

    Undecided where that holds of one of the dimensions.
    """
    runs = take_runs(inputs["runs"], model="separate", rank_of=1)
    least = min((int(theory_of(inputs, run).dimension) for run in runs), default=0)
    found = {}
    for run in runs:
        theory = theory_of(inputs, run)
        if (int(theory.dimension) == least) == smallest:
            found[int(theory.dimension)] = median_plateau_error(run, theory, only=slice(1, count))
    decided = {D: one for D, one in found.items() if one.value is not None}
    if not decided:
        return lack_run("of rank one that reaches a plateau" + ("" if smallest else " in a higher dimension"))
    detail = "; ".join(f"D = {D}: {one.detail}" for D, one in decided.items())
    undecided = next((one.undecided for one in decided.values() if one.undecided), "")
    return Measured(max(one.value for one in decided.values() if one.value is not None), detail, undecided)


def unlearned_rest(inputs: Inputs) -> Measured:
    """Smallest excess of the last loss of ATTN_S over the floor, in losses of the last direction alone.

    Of dimensions in which every run learns a direction.
    """
    excess, texts = [], []
    for run in take_runs(inputs["runs"], model="separate", rank_of=1):
        theory = theory_of(inputs, run)
        levels, learned = theory.plateau_loss.values, learned_directions(run, theory).sum("direction")
        if int(learned.min()):
            least = float(run.loss.isel(epoch=-1).min()) - levels[-1]
            excess.append(float(least / (levels[-2] - levels[-1])))
            texts.append(
                f"D = {int(theory.dimension)}: {least:.3g} above {levels[-1]:.3g}, "
                f"{int(learned.min())} to {int(learned.max())} directions learned"
            )
    if not excess:
        return lack_run("of rank one that learns a direction")
    return Measured(min(excess), "; ".join(texts))
