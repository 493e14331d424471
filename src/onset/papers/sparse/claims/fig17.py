"""Claims of figure 17: overlapping groups, four heads (appendix F.6)."""

from __future__ import annotations

from onset.papers.sparse.claims.standard import order_claim

CLAIMS = (order_claim("figure 17; appendix F.6", "heads4"),)
