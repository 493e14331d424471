"""What the claims about depth measure (figure 6)."""

from __future__ import annotations

from onset.claims.claim import Measured
from onset.papers.gmc.claims.drop_measures import coincidence
from onset.papers.gmc.claims.measures import (
    Inputs,
    final_best,
    final_progress,
    last_best,
    take_median,
    take_worst,
)
from onset.papers.gmc.claims.score_measures import control_gap
from onset.papers.gmc.selection import count_layers, is_whole

SHALLOW = "depth1"


def list_deep(inputs: Inputs) -> dict[str, str]:
    """Roles of runs of two layers and more that train as long as the base runs, with their depth in words."""
    roles = [role for role in inputs if role not in ("floors", SHALLOW)]
    whole = [role for role in roles if is_whole(inputs[role], inputs["base"])]
    return {role: f"{count_layers(inputs[role])} layers" for role in sorted(whole, key=_by_depth(inputs))}


def _by_depth(inputs: Inputs):
    return lambda role: count_layers(inputs[role])


def name_short(inputs: Inputs) -> str:
    """Which depths a scale does not train to the end."""
    short = [role for role in inputs if role != "floors" and not is_whole(inputs[role], inputs["base"])]
    depths = sorted(count_layers(inputs[role]) for role in short)
    return f"; not trained to the end: {', '.join(map(str, depths))} layers" if depths else ""


def shallow_share(inputs: Inputs) -> Measured:
    """Share of the way from the uniform average to the Bayes floor that one layer gets."""
    runs = inputs[SHALLOW]
    loss = float(runs.final_loss.median())
    return take_median(final_progress(runs, inputs["floors"], SHALLOW), f"loss {loss:.3f}")


def shallow_IH_MC(inputs: Inputs) -> Measured:
    """IH-MC of the best head of one layer at the end."""
    pth = float(final_best(inputs[SHALLOW], "PTH").median())
    return take_median(final_best(inputs[SHALLOW], "IH_MC"), f"PTH {pth:.3f}")


def shallow_control(inputs: Inputs) -> Measured:
    """IH-Repeat of one layer less that without repetition."""
    return control_gap(inputs, SHALLOW)


def shallow_repeat(inputs: Inputs) -> Measured:
    """IH-Repeat of the best head of one layer at the end."""
    return take_median(last_best(inputs[SHALLOW], "IH_Repeat"))


def deep_share(inputs: Inputs) -> Measured:
    """The least share of the way that two layers and more get."""
    shares = {
        name: final_progress(inputs[role], inputs["floors"], role) for role, name in list_deep(inputs).items()
    }
    found = take_worst(shares, largest=False)
    return Measured(found.value, found.detail + name_short(inputs), found.undecided)


def deep_coincidence(inputs: Inputs, names: tuple[str, ...]) -> Measured:
    """How far the loss is from half-way when a score is, the largest over two layers and more."""
    found = coincidence(inputs, tuple(list_deep(inputs)), names)
    return Measured(found.value, found.detail + name_short(inputs), found.undecided)
