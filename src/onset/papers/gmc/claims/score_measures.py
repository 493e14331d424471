"""What the claims about scores, floors and baselines measure (figures 2 and 5)."""

from __future__ import annotations

from onset.claims.claim import Measured
from onset.papers.gmc.claims.measures import (
    Inputs,
    final_best,
    final_progress,
    first_best,
    last_best,
    take_median,
    take_worst,
)
from onset.papers.gmc.selection import NAMES, count_repeated, random_scores, take_levels

CEILING_MARGIN = 0.02
"""By how much training may leave IH-MC above the mean posterior weight of the match."""


def final_score(inputs: Inputs, name: str) -> Measured:
    """PTH on all test sequences, or IH-Repeat at the last record, of the best head."""
    runs = inputs["runs"]
    return take_median(final_best(runs, name) if f"final_{name}" in runs else last_best(runs, name))


def final_IH_MC_share(inputs: Inputs) -> Measured:
    """IH-MC of the best head over the mean posterior weight of the match, all test sequences."""
    ceiling = float(take_levels(inputs["floors"], "runs", "all").match_weight)
    found = final_best(inputs["runs"], "IH_MC")
    return take_median(found / ceiling, f"ceiling {ceiling:.3f}")


def excess_over_ceiling(inputs: Inputs) -> Measured:
    """IH-MC of the best head less the mean posterior weight of the match, all test sequences."""
    ceiling = float(take_levels(inputs["floors"], "runs", "all").match_weight)
    if ceiling + CEILING_MARGIN >= 1:
        return Measured(None, absent=f"the ceiling is {ceiling:.4f}: no attention could be above it")
    return take_median(final_best(inputs["runs"], "IH_MC") - ceiling, f"ceiling {ceiling:.3f}")


def control_gap(inputs: Inputs, role: str = "runs") -> Measured:
    """IH-Repeat of the best head less that without repetition, at the last record."""
    runs = inputs[role]
    repeated, control = (last_best(runs, name) for name in ("IH_Repeat", "IH_Repeat_control"))
    detail = f"{float(repeated.median()):.3f} with repetition, {float(control.median()):.3f} without"
    return take_median(repeated - control, detail)


def excess_over_bayes(inputs: Inputs) -> Measured:
    """Final loss less the Bayes floor, all test sequences."""
    bayes = float(take_levels(inputs["floors"], "runs", "all").bayes_loss)
    return take_median(inputs["runs"].final_loss - bayes, f"Bayes floor {bayes:.4f} on the test sequences")


def excess_over_noise(inputs: Inputs, role: str = "runs") -> Measured:
    """Final loss less the noise floor."""
    levels = take_levels(inputs["floors"], role, "all")
    noise, bayes = float(levels.noise_floor), float(levels.bayes_loss)
    return take_median(inputs[role].final_loss - noise, f"noise floor {noise:g}, Bayes floor {bayes:.4f}")


def final_share(inputs: Inputs, role: str = "runs") -> Measured:
    """Share of the way from the uniform average to the Bayes floor at the end."""
    return take_median(final_progress(inputs[role], inputs["floors"], role))


def bayes_above_noise(inputs: Inputs) -> Measured:
    """Population Bayes floor less the noise floor, in standard errors of the former."""
    levels = take_levels(inputs["floors"], "runs", "population")
    bayes, noise = float(levels.bayes_loss), float(levels.noise_floor)
    error = float(levels.bayes_loss_se)
    return Measured((bayes - noise) / max(error, 1e-12), f"Bayes {bayes:.4f} ± {error:.4f}, noise {noise:g}")


def baseline_distance(inputs: Inputs, printed: bool) -> Measured:
    """Largest distance between the best head's score before training and a baseline."""
    runs = inputs["runs"]
    levels = take_levels(inputs["floors"], "runs")
    expected = random_scores(int(levels["T"]), count_repeated(runs), printed)
    known = {NAMES[name]: value for name, value in expected.items()}
    return take_worst({name: abs(found - known[name]) for name, found in first_best(runs).items()})
