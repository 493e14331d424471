"""Claims of figure 11: the squared gradient is summable and falls as the square of the iteration."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.gmc.claims import maxmargin_controls as controls
from onset.papers.gmc.claims import maxmargin_measures as measures

CAPTION = "figure 11, assumption A6"

STATEMENTS = (
    Claim(
        id="gradient-power",
        place=CAPTION,
        sentence="The squared gradient falls as tau^-2.",
        standing="paper",
        measure=measures.gradient_power,
        low=-2.05,
        high=-1.95,
        reason="median over seeds of the slope in the last decade; corrections to the law fall with tau",
    ),
    Claim(
        id="gradient-level",
        place="section 4",
        sentence="The gradient is |W_hat|/(2 tau) over the learning rate, its constant included.",
        standing="reconstruction",
        measure=measures.gradient_level,
        low=0.97,
        high=1.03,
        unit="of theory",
        reason="a step must add W_hat/(2 tau); median over seeds, with corrections as for the power",
    ),
    Claim(
        id="increments",
        place=CAPTION,
        sentence="Increments of the cumulative squared gradient over doublings of tau halve.",
        standing="paper",
        measure=measures.increment_ratio,
        low=0.45,
        high=0.55,
        reason="½ by the tau^-2 law; median over seeds",
    ),
    Claim(
        id="summable",
        place=CAPTION,
        sentence="The cumulative squared gradient converges.",
        standing="paper",
        measure=measures.late_share,
        low=None,
        high=0.01,
        unit="of the sum",
        reason="share of the last decade, worst seed; by the law all that is to come is a ninth of it",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.LOGARITHM,
    {
        "gradient-power": controls.JUST_DIVERGES,
        "gradient-level": controls.TWICE_MARGIN,
        "increments": controls.EVEN_DOUBLINGS,
    },
)
