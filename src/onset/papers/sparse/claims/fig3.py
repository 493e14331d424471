"""Claims of figure 3: the full model passes predictors of more groups and models of longer context."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls, order_measures
from onset.papers.sparse.claims.standard import EVERY, PAPER, entropy_claim, order_claim, published_claim

LEFT, RIGHT = "figure 3, left", "figure 3, right; section 2.3"

STATEMENTS = (
    order_claim(LEFT),
    Claim(
        id="context-in-turn",
        place=RIGHT,
        sentence="The full model is nearest to the model of the shortest context first, then to the next, "
        "then to the one that sees all groups.",
        standing="paper",
        measure=order_measures.nearest_in_turn,
        low=1.0,
        high=None,
        reason=EVERY,
    ),
    Claim(
        id="context-order",
        place=RIGHT,
        sentence="The model comes nearest to the models of restricted context in the order of their context.",
        standing="paper",
        measure=partial(order_measures.order_of_minima, dim="context"),
        low=1.0,
        high=None,
        reason=EVERY,
    ),
    published_claim(
        "first-switch",
        RIGHT,
        "The 8-gram model becomes the nearest around step 75.",
        partial(order_measures.switch_step, number=1),
        75,
    ),
    published_claim(
        "second-switch",
        RIGHT,
        "The 12-gram model becomes the nearest around step 480.",
        partial(order_measures.switch_step, number=2),
        480,
    ),
    entropy_claim("wide_chain", 0.362, 0.023, PAPER),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.UNTRAINED,
    {
        "context-in-turn": controls.REVERSED,
        "context-order": controls.REVERSED,
    },
)
