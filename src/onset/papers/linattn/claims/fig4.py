"""Claims of figure 4: the rank of key and query sets how many directions a drop learns."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.papers.linattn.claims import rank_measures as measures

CAPTION = "figure 4"

CLAIMS = (
    Claim(
        id="multiples",
        place=CAPTION,
        sentence="Rank R has long plateaus where R divides the number m of learned directions (a condition "
        "that m divides R would be the wrong way round). From a small start.",
        standing="paper",
        measure=partial(measures.dwell_contrast, small=True),
        low=5,
        high=None,
        reason="shortest time at multiples over longest elsewhere, each times lambda_(m+1)^2; 11 to 94 "
        "expected",
    ),
    Claim(
        id="multiples-published-start",
        place=CAPTION,
        sentence="The same at the published start, where directions overlap and the contrast is weaker.",
        standing="paper",
        measure=partial(measures.dwell_contrast, small=False),
        low=2,
        high=None,
        reason="longer by what an eye sees; 4.8 to 42 expected",
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
