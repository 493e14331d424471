"""Claims of figure 7: next-token training has the same drops."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.linattn.claims import controls
from onset.papers.linattn.claims import next_token_measures as measures

CAPTION = "figure 7"

STATEMENTS = (
    Claim(
        id="plateaus",
        place="Eq. 23",
        sentence="Under the next-token loss the plateaus of ATTN_S lie at Eq. 23, with means over context "
        "lengths taken for the scaling that is used: the equation's 1/n, or 1/(n+1) of the published "
        "program.",
        standing="paper",
        measure=measures.population_plateaus,
        low=None,
        high=0.01,
        reason="median over runs on the population; runs in which two directions rise together lie off",
    ),
    Claim(
        id="plateaus-on-sets",
        place=CAPTION,
        sentence="On training sets the plateaus lie near Eq. 23.",
        standing="paper",
        measure=measures.set_plateaus,
        low=None,
        high=0.08,
        reason="the accuracy of plateaus on training sets of 5000 sequences",
    ),
    Claim(
        id="merged-one-drop",
        place=CAPTION,
        sentence="ATTN_M has one drop under the next-token loss too.",
        standing="paper",
        measure=measures.merged_drops,
        low=1,
        high=1,
        unit="drops",
        reason="a drop is a peak of -dL/dln(step) with a prominence of 0.03 of the whole fall",
    ),
    Claim(
        id="merged-floor",
        place="Eq. 23",
        sentence="ATTN_M ends near the last plateau of Eq. 23.",
        standing="paper",
        measure=measures.merged_end,
        low=None,
        high=0.1,
        reason="the loss of one set of 5000 sequences scatters by a few per cent",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.UNTRAINED,
    {
        "plateaus": controls.QUERY_LOSS,
        "plateaus-on-sets": controls.QUERY_LOSS,
        "merged-floor": controls.QUERY_LOSS,
    },
)
