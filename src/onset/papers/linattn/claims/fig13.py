"""Claims of figure 13: repeated eigenvalues."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.linattn.claims import controls
from onset.papers.linattn.claims import repeated_measures as measures

CAPTION = "figure 13"

STATEMENTS = (
    Claim(
        id="rank-one-drops",
        place=CAPTION,
        sentence="Rank one has as many drops as directions although eigenvalues repeat.",
        standing="paper",
        measure=measures.drops_of_rank_one,
        low=0,
        high=0,
        unit="drops",
        reason="median over runs; a single run loses one where equal directions happen to rise together",
    ),
    Claim(
        id="levels",
        place="Eq. 19 and figure 13, dashed lines",
        sentence="The plateaus of rank one lie at the losses of Eq. 19.",
        standing="paper",
        measure=measures.levels_of_rank_one,
        low=None,
        high=1.0,
        reason="medians over what is accepted: 1 % on the population, 3 % on 80000 sequences, 8 % on fewer",
    ),
    Claim(
        id="rank-two-pairs",
        place=CAPTION,
        sentence="At rank two drops pair up: both directions of an eigenvalue drop together.",
        standing="paper",
        measure=measures.rank_two_pairs,
        low=None,
        high=0.25,
        reason="gap within a pair over gap between pairs on the logarithm of steps: 0.21 in a trial with "
        "another draw; rank one, which cannot pair them, has 0.6, in medians of six starts 0.4 to "
        "1.3",
    ),
    Claim(
        id="pair-in-one-head",
        place=CAPTION,
        sentence="At rank two one head takes both directions of an eigenvalue.",
        standing="paper",
        measure=measures.pair_shares,
        low=0.95,
        high=None,
        reason="median over runs of one head's part of the pair; one half is the most that a head of rank "
        "one can have, and a second head's part of 0.05 is accepted there too",
    ),
    Claim(
        id="fewer-drops",
        place=CAPTION,
        sentence="Higher ranks have fewer drops.",
        standing="paper",
        measure=measures.fewer_drops,
        low=1,
        high=None,
        unit="drops",
        reason="mean at rank one less mean at the highest rank; a whole drop less at least",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.UNTRAINED,
    {
        "levels": controls.LONG_CONTEXT,
        "rank-two-pairs": controls.RANKS_EXCHANGED,
        "fewer-drops": controls.RANKS_EXCHANGED,
    },
)
