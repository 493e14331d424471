"""Claims of figure 16: unequal weights in a group (appendix F.5)."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls, head_measures

STATEMENTS = (
    Claim(
        id="checkered",
        place="figure 16; appendix F.5",
        sentence="Heads attend more to the position of the larger α of their group.",
        standing="paper",
        measure=head_measures.heavier_share,
        low=1.5,
        high=None,
        reason="ratio of attention at the two lags, the least over groups; half-way, on a logarithmic scale, "
        "between even attention and 0.7 to 0.3",
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.UNTRAINED)
