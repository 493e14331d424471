"""Claims of figure 15: unequal weights in a group (appendix F.5)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import order_claim

CLAIMS = assign_controls((order_claim("figure 15; appendix F.5", "main"),), controls.UNTRAINED)
