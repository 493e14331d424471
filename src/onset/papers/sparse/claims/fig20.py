"""Claims of figure 20: SGD (appendix F.7)."""

from __future__ import annotations

from onset.papers.sparse.claims.standard import order_claim

CLAIMS = (order_claim("figure 20; appendix F.7", "main"),)
