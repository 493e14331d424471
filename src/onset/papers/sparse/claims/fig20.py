"""Claims of figure 20: SGD (appendix F.7)."""

from __future__ import annotations

from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls
from onset.papers.sparse.claims.standard import order_claim

CLAIMS = assign_controls((order_claim("figure 20; appendix F.7", "main"),), controls.UNTRAINED)
