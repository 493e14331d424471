"""Claims of figure 8: which subdiagonals the heads follow on a repeated sequence."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.gmc.claims import controls
from onset.papers.gmc.claims import head_measures as measures

REASON = "one of eight queries may fail on a single sequence"

STATEMENTS = (
    Claim(
        id="first-subdiagonal",
        place="figure 8a",
        sentence="In the first layer a head attends to the previous token: the first subdiagonal.",
        standing="paper",
        measure=partial(measures.followed_rows, layer=0, offset="previous"),
        low=0.85,
        high=None,
        reason=REASON,
    ),
    Claim(
        id="repeat-subdiagonal",
        place="figure 8b",
        sentence="In the last layer a head attends, from the second copy, to the successor of the first "
        "occurrence: subdiagonal K - 1.",
        standing="paper",
        measure=partial(measures.followed_rows, layer=-1, offset="repeat"),
        low=0.85,
        high=None,
        reason=REASON,
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.UNTRAINED)
