"""Claims of figure 13: attention outside the support vanishes, and pairs of support vectors are aligned."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.gmc.claims import maxmargin_controls as controls
from onset.papers.gmc.claims import maxmargin_measures as measures

CAPTION = "figure 13, assumption A9"

STATEMENTS = (
    Claim(
        id="tail-falls",
        place=CAPTION,
        sentence="The tail proxy g decreases.",
        standing="paper",
        measure=measures.tail_rises,
        low=None,
        high=0,
        unit="records",
        reason="records of the last two decades above the one before, all seeds with a rival off the support",
    ),
    Claim(
        id="tail-summable",
        place=CAPTION,
        sentence="The sum of g/tau converges: g falls as a power of tau.",
        standing="paper",
        measure=measures.tail_power,
        low=None,
        high=-0.02,
        reason="slope in the last decade, worst seed; any negative power is enough, and a margin of 1.04 off "
        "the support has -0.02",
    ),
    Claim(
        id="tail-power",
        place=CAPTION,
        sentence="The power is the one that the margins of W_hat predict, half of 1 less the least margin "
        "off the support.",
        standing="reconstruction",
        measure=measures.tail_power_ratio,
        low=0.8,
        high=1.25,
        unit="of theory",
        reason="median over seeds; where the least margin is close to 1, two powers mix for very long",
    ),
    Claim(
        id="alignment",
        place="text, assumption A8",
        sentence="The misaligned share of the off-diagonal mass is close to zero late in training.",
        standing="paper",
        measure=measures.misaligned_late,
        low=None,
        high=0.05,
        reason="largest of the last decade, median over seeds; a tenth of the bound",
    ),
    Claim(
        id="alignment-bound",
        place="text, assumption A8",
        sentence="The misaligned share stays below one half throughout.",
        standing="paper",
        measure=measures.misaligned_ever,
        low=None,
        high=0.5,
        reason="the assumption's own bound, over all records of all seeds on which A1 to A4 hold",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.START,
    {
        "tail-falls": controls.BACKWARDS,
        "alignment": controls.MISALIGNED,
        "alignment-bound": controls.MISALIGNED,
    },
)
