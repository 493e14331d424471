"""Claims of figure 12: the furthest group first (appendix F.2)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import order_claim

CLAIMS = assign_controls((order_claim("figure 12; appendix F.2", "main"),), controls.UNTRAINED)
