"""Claims of figure 2: attention of the full model, from uniform to one pattern a head."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.sparse.claims import controls, head_measures
from onset.papers.sparse.claims.standard import CI, PAPER, specialisation_claims

CAPTION = "figure 2, caption"
LEAD = "a tenth of a head's attention; 0 where it is even, for the head that has least"
HEADS = "four fifths of the seeds, each head counted by the group that has most of its attention"

STATEMENTS = (
    Claim(
        id="uniform-at-first",
        place=CAPTION,
        sentence="Attention is uniform before training, and is not afterwards.",
        standing="paper",
        measure=head_measures.departure_from_uniform,
        low=None,
        high=0.2,
        reason="largest departure of a mass from that of uniform attention before training, over that at the "
        "end; a fifth, for random starts are not exactly even",
    ),
    Claim(
        id="all-on-first",
        place=CAPTION,
        sentence="Early on (step 60 of the paper's run) all heads attend to I(1) most.",
        standing="paper",
        measure=head_measures.lead_of_first,
        low=0.1,
        high=None,
        scales=CI,
        reason=f"where the model is nearest to the predictor of I(1), for want of step 60: {LEAD}",
    ),
    Claim(
        id="all-on-first-at-60",
        place=CAPTION,
        sentence="At step 60 all heads attend to I(1) most.",
        standing="paper",
        measure=partial(head_measures.lead_of_first, step=60),
        low=0.1,
        high=None,
        scales=PAPER,
        reason=LEAD,
    ),
    Claim(
        id="one-on-second",
        place=CAPTION,
        sentence="After that (step 300 of the paper's run) one head attends to I(2), the others to I(1).",
        standing="paper",
        measure=head_measures.one_head_on_second,
        low=0.8,
        high=None,
        scales=CI,
        reason=f"where the model is nearest to the predictor of I(1) and I(2): {HEADS}",
    ),
    Claim(
        id="one-on-second-at-300",
        place=CAPTION,
        sentence="At step 300 one head attends to I(2) and two to I(1).",
        standing="paper",
        measure=partial(head_measures.one_head_on_second, step=300),
        low=0.8,
        high=None,
        scales=PAPER,
        reason=HEADS,
    ),
    specialisation_claims(CAPTION)[0],
    Claim(
        id="weak-diagonal",
        place=CAPTION,
        sentence="The head of I(1) attends less to the query's own token, which the skip connection brings.",
        standing="paper",
        measure=head_measures.diagonal_share,
        low=None,
        high=0.9,
        reason="attention to it over the mean of the other lags of I(1); the caption says less, not by how "
        "much: a tenth",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.UNTRAINED,
    {
        "all-on-first": controls.REVERSED,
        "all-on-first-at-60": controls.REVERSED,
        "one-on-second": controls.REVERSED,
        "one-on-second-at-300": controls.REVERSED,
        "weak-diagonal": controls.EVEN_MAPS,
    },
)
