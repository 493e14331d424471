"""Claims of figure 13: two minimal blocks (appendix F.4)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import order_claim

CLAIMS = assign_controls((order_claim("figure 13; appendix F.4", "minimal"),), controls.UNTRAINED)
