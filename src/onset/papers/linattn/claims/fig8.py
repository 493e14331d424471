"""Claims of figure 8: one drop against many where the input has many directions."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.linattn.claims import controls
from onset.papers.linattn.claims import dimension_measures as measures

CAPTION = "figure 8"

STATEMENTS = (
    Claim(
        id="merged-one-drop",
        place=CAPTION,
        sentence="ATTN_M has one abrupt drop in high dimension too.",
        standing="paper",
        measure=measures.merged_drops,
        low=1,
        high=1,
        unit="drops",
        reason="a drop is a peak of -dL/dln(step) with a prominence of 0.03 of the whole fall",
    ),
    Claim(
        id="separate-many-drops",
        place=CAPTION,
        sentence="ATTN_S learns in several drops in high dimension too.",
        standing="paper",
        measure=measures.separate_drops,
        low=3,
        high=None,
        unit="drops",
        reason="three that are told apart; how many more fit into the run is a matter of its length",
    ),
    Claim(
        id="plateaus",
        place="figure 8, dashed lines, and Eq. 19",
        sentence="The first three plateaus of ATTN_S lie at the losses of Eq. 19, in the smallest "
        "dimension drawn.",
        standing="paper",
        measure=partial(measures.first_plateaus, smallest=True),
        low=None,
        high=0.02,
        reason="median over seeds; what the next directions have gained by then, 0.01 to 0.9 % in trials "
        "with other draws at D = 16",
    ),
    Claim(
        id="plateaus-higher",
        place="figure 8, dashed lines, and Eq. 19",
        sentence="So they do in the higher dimensions. In single runs two directions rise together, in any "
        "dimension, and the plateau between them is off by a few per cent: medians are compared.",
        standing="paper",
        measure=partial(measures.first_plateaus, smallest=False),
        low=None,
        high=0.02,
        reason="as in the smallest dimension",
    ),
    Claim(
        id="unlearned-rest",
        place="Eq. 19",
        sentence="ATTN_S ends above the floor: the small directions are not learned within the run.",
        standing="reconstruction",
        measure=measures.unlearned_rest,
        low=0.5,
        high=None,
        unit="losses of the last direction",
        reason="each direction takes 1/lambda^2; of the last one at least, more than half is left",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.UNTRAINED,
    {
        "plateaus": controls.LONG_CONTEXT,
        "plateaus-higher": controls.LONG_CONTEXT,
        "unlearned-rest": controls.AT_THE_FLOOR,
    },
)
