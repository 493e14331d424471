"""Claims of figure 4: the rank of key and query sets how many directions a drop learns."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.linattn.claims import controls
from onset.papers.linattn.claims import rank_measures as measures

CAPTION = "figure 4"

STATEMENTS = (
    Claim(
        id="multiples",
        place=CAPTION,
        sentence="Rank R has long plateaus where R divides the number m of learned directions (a condition "
        "that m divides R would be the wrong way round). From a small start.",
        standing="paper",
        measure=partial(measures.dwell_contrast, small=True),
        low=5,
        high=None,
        reason="shortest time at multiples over longest elsewhere, each times lambda_(m+1)^2; half of the "
        "least of 11 to 94 in trials with other draws of this start",
    ),
    Claim(
        id="multiples-published-start",
        place=CAPTION,
        sentence="The same at the published start, where directions overlap and the contrast is weaker.",
        standing="paper",
        measure=partial(measures.dwell_contrast, small=False),
        low=2,
        high=None,
        reason="the bound of `multiples` from a start 3.14 times as large: times at multiples go as one over "
        "the start, those elsewhere as its logarithm, 5 (0.32/0.78) = 2.0",
    ),
    Claim(
        id="rank-one-every-plateau",
        place=CAPTION,
        sentence="Rank one has a long plateau at every m, where higher ranks have none.",
        standing="paper",
        measure=measures.rank_one_contrast,
        low=2,
        high=None,
        reason="long: at least twice as long as the longest elsewhere at higher ranks, each times "
        "lambda_(m+1)^2",
    ),
    Claim(
        id="levels",
        place="Eq. 19",
        sentence="From a small start the plateaus of rank R lie at Eq. 19 with m = R, 2R, ... At the "
        "published start drops overlap and some of these plateaus are missing.",
        standing="paper",
        measure=measures.levels_at_multiples,
        low=None,
        high=0.01,
        reason="medians on the population; the levels are exact for ever smaller starts",
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.RANKS_EXCHANGED, {"levels": controls.LONG_CONTEXT})
