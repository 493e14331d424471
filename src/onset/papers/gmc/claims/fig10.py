"""Claims of figure 10: gradient descent turns W_KQ into the max-margin direction."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.gmc.claims import maxmargin_controls as controls
from onset.papers.gmc.claims import maxmargin_measures as measures

STATEMENTS = (
    Claim(
        id="assumptions",
        place="section 4, assumptions A1 to A4",
        sentence="There are data on which the assumptions about the data hold: separable, support vectors "
        "linearly independent, target outside the hull of the other values, positive products.",
        standing="paper",
        measure=measures.count_valid,
        low=1,
        high=None,
        unit="seeds",
        reason="one is needed for the theory to say anything; all other claims are about these seeds",
    ),
    Claim(
        id="direction",
        place="section 4 and figure 10",
        sentence="W_KQ converges in direction to the hard-margin solution.",
        standing="paper",
        measure=measures.final_cosine,
        low=0.99,
        high=1,
        reason="median over seeds; 1 - cos falls as 1/log² tau only, and what is left depends on the data: "
        "some hundredths where multipliers are very small",
    ),
    Claim(
        id="direction-turning",
        place="section 4 and figure 10",
        sentence="At the end the direction is still approaching the hard-margin solution, on every seed.",
        standing="reconstruction",
        measure=measures.turning,
        low=None,
        high=0.9,
        reason="1 - cos over that a decade before, worst seed; 1/log² tau gives 0.55 to 0.65 for the two "
        "last decades of 10^4 iterations, more where corrections are larger, 1 where it has stopped",
    ),
    Claim(
        id="norm-growth",
        place="section 4",
        sentence="|W_KQ| grows as |W_hat| ½ log tau.",
        standing="paper",
        measure=measures.growth,
        low=0.95,
        high=1.05,
        unit="of theory",
        reason="median over seeds of the slope in the last decade; corrections are powers of 1/tau that can "
        "be small, and terms in 1/log tau",
    ),
    Claim(
        id="loss-monotone",
        place="section 4, assumption A5, and figure 10",
        sentence="The training loss falls at every iteration.",
        standing="paper",
        measure=measures.loss_rises,
        low=None,
        high=0,
        unit="iterations",
        reason="counted over every iteration and all seeds on which A1 to A4 hold",
    ),
    Claim(
        id="loss-decay",
        place="section 4 and figure 10",
        sentence="The training loss goes to zero as 1/tau.",
        standing="paper",
        measure=measures.loss_decay,
        low=9,
        high=11,
        unit="fold a decade",
        reason="10 by theory; median over seeds, with corrections as for the norm",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.START,
    {
        "assumptions": controls.REFUSED,
        "norm-growth": controls.TWICE,
        "loss-monotone": controls.ONE_RISE,
        "loss-decay": controls.SQUARE_ROOT,
    },
)
