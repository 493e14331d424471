"""Claims of figure 12: the furthest group first (appendix F.2)."""

from __future__ import annotations

from onset.papers.sparse.claims.standard import order_claim

CLAIMS = (order_claim("figure 12; appendix F.2", "main"),)
