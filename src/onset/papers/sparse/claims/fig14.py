"""Claims of figure 14: two full blocks (appendix F.4)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import order_claim

CLAIMS = assign_controls((order_claim("figure 14; appendix F.4", "full"),), controls.UNTRAINED)
