"""Claims of figure 18: overlapping groups, three heads (appendix F.6)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import order_claim, reading_claim

PLACE = "figure 18; appendix F.6"

CLAIMS = assign_controls((order_claim(PLACE, "heads3"), reading_claim(PLACE, "heads3")), controls.UNTRAINED)
