"""Claims of figure 8: the minimal model's heads do what those of the regression flow do (appendix D.2)."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls, head_measures
from onset.papers.sparse.claims.standard import (
    acquisition_claim,
    competition_claims,
    order_claim,
    specialisation_claims,
)

PLACE = "figure 8; appendix D.2"
COMPENSATION = (
    "least alignment over time and over heads that end elsewhere, the shallowest of the seeds, as a share of "
    "the pattern; value matrices start at exactly 0"
)

STATEMENTS = (
    order_claim(PLACE),
    *competition_claims(PLACE),
    acquisition_claim(PLACE),
    specialisation_claims(PLACE)[0],
    Claim(
        id="compensation-second",
        place=PLACE,
        sentence="While one head learns I(2), the others' value matrices turn against its pattern.",
        standing="paper",
        measure=partial(head_measures.dip, group=2),
        low=None,
        high=-0.01,
        reason=f"{COMPENSATION}: below -1 %",
    ),
    Claim(
        id="compensation-third",
        place=PLACE,
        sentence="While one head learns I(3), the others' value matrices turn against its pattern.",
        standing="paper",
        measure=partial(head_measures.dip, group=3),
        low=None,
        high=-0.05,
        reason=f"{COMPENSATION}: below -5 %; larger than the dip of I(2), the published one is near -50 %",
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.UNTRAINED)
