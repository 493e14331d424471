"""Claims of figure 18: overlapping groups, three heads (appendix F.6)."""

from __future__ import annotations

from onset.papers.sparse.claims.standard import order_claim, reading_claim

PLACE = "figure 18; appendix F.6"

CLAIMS = (order_claim(PLACE, "heads3"), reading_claim(PLACE, "heads3"))
