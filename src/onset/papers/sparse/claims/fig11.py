"""Claims of figure 11: the most important group is the furthest one (appendix F.2)."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls, head_measures

STATEMENTS = (
    Claim(
        id="furthest-first",
        place="figure 11; appendix F.2",
        sentence="At first all heads turn to the most important group, though it is the furthest.",
        standing="paper",
        measure=head_measures.first_group_growth,
        low=1.5,
        high=None,
        reason="where the model is nearest to the predictor of I(1): times by which a head's attention to "
        "I(1) has grown, over the same of the other group that grew most; half as much again. Masses "
        "themselves compare groups of different size. With tokens summed, as in the authors' code, the terms "
        "of the groups are nearly as large as each other (as 41, 34 and 28), so that none stands out",
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.REVERSED)
