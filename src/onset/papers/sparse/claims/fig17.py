"""Claims of figure 17: overlapping groups, four heads (appendix F.6)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import order_claim

CLAIMS = assign_controls((order_claim("figure 17; appendix F.6", "heads4"),), controls.UNTRAINED)
