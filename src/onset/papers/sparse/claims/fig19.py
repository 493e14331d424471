"""Claims of figure 19: overlapping groups, four heads (appendix F.6)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import reading_claim

CLAIMS = assign_controls((reading_claim("figure 19; appendix F.6", "heads4"),), controls.UNTRAINED)
