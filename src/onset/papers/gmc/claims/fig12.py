"""Claims of figure 12: the weights h of the residual settle."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.gmc.claims import maxmargin_controls as controls
from onset.papers.gmc.claims import maxmargin_measures as measures

CAPTION = "figure 12, assumption A7"

STATEMENTS = (
    Claim(
        id="h-summable",
        place=CAPTION,
        sentence="Partial sums of |h - h_inf|/tau level off, with h_inf the mean of the last iterations.",
        standing="paper",
        measure=measures.h_late_share,
        low=None,
        high=0.1,
        unit="of the sum",
        reason="share of the last of four decades, worst seed; a sum that grows as log tau would have 0.2 "
        "and more. The limit is taken from the run's own end, which favours the last decade",
    ),
    Claim(
        id="h-limit",
        place=CAPTION,
        sentence="h approaches the limit that the data alone predict, on every seed.",
        standing="reconstruction",
        measure=measures.h_approach,
        low=None,
        high=0.98,
        reason="largest deviation over that a decade before, worst seed; 1 where h settles elsewhere, and a "
        "rate of 0.01, below those that the data predict, would give 0.98",
    ),
    Claim(
        id="h-rate",
        place=CAPTION,
        sentence="The power of tau with which h approaches that limit is the slowest that the data predict.",
        standing="reconstruction",
        measure=measures.h_rate,
        low=0.8,
        high=1.25,
        unit="of theory",
        reason="median over seeds; a seed in which the slowest mode is weak is still faster, and one in "
        "which modes cancel is slower",
    ),
    Claim(
        id="h-summable-limit",
        place=CAPTION,
        sentence="With h_inf that limit, each decade adds less to the sum of |h - h_inf|/tau than the one "
        "before.",
        standing="reconstruction",
        measure=measures.h_sum_decades,
        low=None,
        high=0.98,
        reason="worst seed; 1 for a sum that grows as log tau, below 1 for any power law of the deviation",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS, controls.START, {"h-summable": controls.LOGARITHM, "h-summable-limit": controls.LOGARITHM}
)
