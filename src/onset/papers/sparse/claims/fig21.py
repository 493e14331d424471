"""Claims of figure 21: SGD, one pattern a head (appendix F.7)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import reading_claim, specialisation_claims

PLACE = "figure 21; appendix F.7"

CLAIMS = assign_controls((specialisation_claims(PLACE)[0], reading_claim(PLACE)), controls.UNTRAINED)
