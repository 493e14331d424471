"""Claims of figure 10: fresh batches, the same stages (appendix F.1)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import final_claims, order_claim

PLACE = "figure 10; appendix F.1"

CLAIMS = assign_controls((order_claim(PLACE), *final_claims(PLACE)), controls.UNTRAINED)
