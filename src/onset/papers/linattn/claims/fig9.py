"""Claims of figure 9: weights of merged key-query attention, early and late."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.linattn.claims import controls
from onset.papers.linattn.claims import map_measures as measures

CAPTION = "figure 9"
RECONSTRUCTION = "our reconstruction of the theory behind figure 9"

STATEMENTS = (
    Claim(
        id="early-map",
        place=CAPTION,
        sentence="Before the drop the map A of ATTN_M is parallel to Λ².",
        standing="paper",
        measure=measures.early_cosine,
        low=0.98,
        high=None,
        reason="smallest cosine over seeds when 2 % of the loss have gone; a set of 5000 sequences tilts "
        "Λ² by 0.05",
    ),
    Claim(
        id="early-heads",
        place=CAPTION,
        sentence="Before the drop every head's U_i is parallel to Λ².",
        standing="paper",
        measure=partial(measures.head_cosine, early=True),
        low=0.98,
        high=None,
        reason="as for the map; a head whose v started near zero has outgrown its own start late, but by "
        "then",
    ),
    Claim(
        id="late-map",
        place=CAPTION,
        sentence="At the end A is parallel to the optimal map E[Λ̂²]⁻¹Λ.",
        standing="paper",
        measure=measures.late_cosine,
        low=0.99,
        high=None,
        reason="the smallest eigenvalue converges last; on sets of 5000 the optimum itself is a few per "
        "cent off",
    ),
    Claim(
        id="late-distance",
        place=CAPTION,
        sentence="At the end A equals the optimal map, not only its direction.",
        standing="paper",
        measure=measures.late_distance,
        low=None,
        high=0.1,
        reason="relative Frobenius distance; 0.03 to 0.08 was measured on sets of 5000 sequences",
    ),
    Claim(
        id="late-heads",
        place=CAPTION,
        sentence="At the end every head's U_i is parallel to A.",
        standing="paper",
        measure=partial(measures.head_cosine, early=False),
        low=0.99,
        high=None,
        reason="heads grow in proportion to one direction, up to the size of their start",
    ),
    Claim(
        id="turn",
        place=RECONSTRUCTION,
        sentence="A turns: its cosine with Λ² falls to that between Λ² and the optimal map.",
        standing="reconstruction",
        measure=measures.turned_away,
        low=0.9,
        high=1.1,
        unit="of the turn",
        reason="a tenth of the turn; the distance from the optimal map that is accepted at the end would "
        "allow 0.17, and a set of 5000 sequences moves it by 0.01 (one standard error)",
    ),
    Claim(
        id="growth",
        place=RECONSTRUCTION,
        sentence="Before the drop A grows as exp(2 |Λ²|_F t/tau): its head values and U_i grow at |Λ²|_F "
        "each.",
        standing="reconstruction",
        measure=measures.growth_error,
        low=None,
        high=0.02,
        reason="a step of gradient descent multiplies by 1 + x where the flow has exp(x), x = 0.01; "
        "rounding of records",
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.UNTRAINED, {"growth": controls.OTHER_RATE})
