"""Claims of figure 13: two minimal blocks (appendix F.4)."""

from __future__ import annotations

from onset.papers.sparse.claims.standard import order_claim

CLAIMS = (order_claim("figure 13; appendix F.4", "minimal"),)
