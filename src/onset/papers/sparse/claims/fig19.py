"""Claims of figure 19: overlapping groups, four heads (appendix F.6)."""

from __future__ import annotations

from onset.papers.sparse.claims.standard import reading_claim

CLAIMS = (reading_claim("figure 19; appendix F.6", "heads4"),)
