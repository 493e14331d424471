"""Claims of figure 14: two full blocks (appendix F.4)."""

from __future__ import annotations

from onset.papers.sparse.claims.standard import order_claim

CLAIMS = (order_claim("figure 14; appendix F.4", "full"),)
