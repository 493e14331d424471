"""Claims of figure 9: fresh batches, the same competition and specialisation (appendix F.1)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import acquisition_claim, competition_claims, specialisation_claims

PLACE = "figure 9; appendix F.1"

CLAIMS = assign_controls(
    (*competition_claims(PLACE), acquisition_claim(PLACE), *specialisation_claims(PLACE)), controls.UNTRAINED
)
