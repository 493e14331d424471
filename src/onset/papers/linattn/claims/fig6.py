"""Claims of figure 6: larger starts shorten the plateaus."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.linattn.claims import controls
from onset.papers.linattn.claims import start_measures as measures

CAPTION = "figure 6"

STATEMENTS = (
    Claim(
        id="earlier",
        place=CAPTION,
        sentence="The larger the start, the earlier the loss falls.",
        standing="paper",
        measure=measures.late_starts,
        low=None,
        high=0,
        unit="pairs of starts",
        reason="median half-drop times over runs must fall from one start to the next",
    ),
    Claim(
        id="no-first-plateau",
        place=CAPTION,
        sentence="From a very large start the loss decays at once, like an exponential, without a first "
        "plateau.",
        standing="paper",
        measure=measures.largest_start,
        low=0.5,
        high=None,
        unit="of the steepest slope",
        reason="an exponential is steepest at its beginning; from small starts the share is below a "
        "hundredth",
    ),
    Claim(
        id="merged-delay",
        place="Eq. 10, for any covariance",
        sentence="A start smaller by a factor f delays the drop of ATTN_M by ln(f)/|Lambda^2|_F.",
        standing="reconstruction",
        measure=measures.delay_ratio,
        low=0.97,
        high=1.03,
        unit="of theory",
        reason="exact for small starts; gradient descent grows more slowly than the flow by half a per cent",
    ),
    Claim(
        id="separate-halving",
        place="Eq. 21",
        sentence="The first plateau of ATTN_S is as long as one over the start: half the start, twice the "
        "time.",
        standing="reconstruction",
        measure=measures.halving_ratio,
        low=1.9,
        high=2.2,
        reason="hyperbolic growth from small weights; the drop itself and corrections of higher order",
    ),
    Claim(
        id="merged-one-drop",
        place="figures 1 and 6",
        sentence="ATTN_M has one drop whatever the size of its start.",
        standing="reconstruction",
        measure=measures.merged_drops,
        low=1,
        high=1,
        unit="drops",
        reason="a drop is a peak of -dL/dln(step) with a prominence of 0.03 of the whole fall; starts up to "
        "0.3",
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.STARTS_EXCHANGED, {"merged-one-drop": controls.UNTRAINED})
