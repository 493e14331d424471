"""Claims of figure 7: which heads form, in which layer, and when."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.gmc.claims import controls
from onset.papers.gmc.claims import head_measures as measures

FIGURE = "figure 7"

STATEMENTS = (
    Claim(
        id="before",
        place=FIGURE,
        sentence="Before the drop no head looks back by one or follows the match.",
        standing="paper",
        measure=measures.formed_before,
        low=None,
        high=round(1 / 3, 4),
        reason="less than a third of the way from random attention to the ceiling, at three quarters of the "
        "emergence step (the paper's step 120 of about 160)",
    ),
    Claim(
        id="after",
        place=FIGURE,
        sentence="After the drop both heads are there.",
        standing="paper",
        measure=measures.formed_after,
        low=round(2 / 3, 4),
        high=None,
        reason="more than two thirds of the way from random attention to the ceiling, at five quarters of "
        "the emergence step (the paper's step 200 of about 160)",
    ),
    Claim(
        id="previous-token-layer",
        place="figures 7 and 8",
        sentence="Previous-token heads are in the first layer.",
        standing="paper",
        measure=partial(measures.layer_gap, name="PTH", layer=0),
        low=0.5,
        high=None,
        reason="half of a score's range above every other layer",
    ),
    Claim(
        id="induction-layer",
        place="figures 7 and 8",
        sentence="Induction heads are in the last layer.",
        standing="paper",
        measure=partial(measures.layer_gap, name="IH_MC", layer=-1),
        low=0.5,
        high=None,
        reason="half of a score's range above every other layer",
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.UNTRAINED, {"before": controls.EARLY, "after": controls.LATE})
