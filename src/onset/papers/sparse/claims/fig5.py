"""Claims of figure 5: the size of the dataset decides how many stages there are."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls, loss_measures, order_measures
from onset.papers.sparse.claims.standard import EVERY, PAPER, order_claim, published_claim

LEFT, RIGHT, TEXT = "figure 5, left", "figure 5, right", "section 2.5"
PUBLISHED = {"n600": (1.33, 70), "n2000": (0.81, 260)}
"""Least excess loss and its step, read off the published curves."""

STATEMENTS = (
    Claim(
        id="more-data-better",
        place=LEFT,
        sentence="The least excess loss falls with the size of the dataset.",
        standing="paper",
        measure=loss_measures.growth_with_size,
        low=None,
        high=1.0,
        reason="ratio of seed means from one size to the next, the largest; 1 is no difference",
    ),
    Claim(
        id="few-data-stop-early",
        place=LEFT,
        sentence="The smallest dataset stops at the first stage, fresh data go through all.",
        standing="paper",
        measure=loss_measures.share_of_smallest,
        low=None,
        high=0.25,
        reason="least excess loss; that of one nat or more after the first stage against a seventh of it",
    ),
    order_claim(RIGHT, "online", name="order-fresh"),
    Claim(
        id="context-in-turn",
        place=RIGHT,
        sentence="On fresh data the nearest restricted model goes from the shortest context to the longest.",
        standing="paper",
        measure=partial(order_measures.nearest_in_turn, run="online"),
        low=1.0,
        high=None,
        reason=EVERY,
    ),
    Claim(
        id="best-context-grows",
        place=RIGHT,
        sentence="When its loss is least, the model is nearest to a restricted model of a context that grows "
        "with the dataset.",
        standing="paper",
        measure=loss_measures.context_growth,
        low=0,
        high=None,
        reason="change of the number of the nearest model from one size to the next, the least",
    ),
    Claim(
        id="last-group-few-data",
        place=TEXT,
        sentence="On the smallest dataset no head attends to the last group, even after overfitting.",
        standing="paper",
        measure=partial(loss_measures.last_group_mass, largest_set=False),
        low=None,
        high=0.4,
        reason="mass of the head that has most; a head that has acquired a group has a half, uniform "
        "attention 0.13 to 0.2",
    ),
    Claim(
        id="last-group-fresh-data",
        place=TEXT,
        sentence="On fresh data a head attends to the last group.",
        standing="paper",
        measure=partial(loss_measures.last_group_mass, largest_set=True),
        low=0.45,
        high=None,
        reason="mass of the head that has most; a half, of which the slowest head may lack a tenth",
    ),
    Claim(
        id="overfits",
        place=TEXT,
        sentence="The smallest dataset is overfit after its best step.",
        standing="paper",
        measure=loss_measures.overfitting,
        low=1.2,
        high=None,
        reason="excess loss at the end over its least; a fifth more than noise of a validation set",
    ),
    *(
        Claim(
            id=f"best-{run}",
            place=LEFT,
            sentence=f"With {run[1:]} sequences the least excess loss is {excess:g}.",
            standing="paper",
            measure=partial(loss_measures.best_excess, run=run),
            low=round(excess - 0.35, 3),
            high=round(excess + 0.35, 3),
            unit="nats",
            scales=PAPER,
            reason="read off the plot of one run; 0.35 for other matrices, the level of the first plateau "
            "differing by a quarter of a nat already",
        )
        for run, (excess, _) in PUBLISHED.items()
    ),
    *(
        published_claim(
            f"best-step-{run}",
            RIGHT,
            f"With {run[1:]} sequences the loss is least around step {step}.",
            partial(loss_measures.best_step, run=run),
            step,
        )
        for run, (_, step) in PUBLISHED.items()
    ),
)

BEST = controls.exchange("runs", "n600", "n2000")
CLAIMS = assign_controls(
    STATEMENTS,
    controls.SIZES_EXCHANGED,
    {
        "order-fresh": controls.REVERSED,
        "context-in-turn": controls.REVERSED,
        **{f"best-{what}": BEST for what in ("n600", "n2000", "step-n600", "step-n2000")},
    },
)
