"""Claims of figure 6: one layer does not suffice, two and more do."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.gmc.claims import controls
from onset.papers.gmc.claims import depth_measures as measures

FIGURE = "figure 6"
OURS = "our reconstruction"

STATEMENTS = (
    Claim(
        id="one-layer-loss",
        place=FIGURE,
        sentence="One layer does not solve the task.",
        standing="paper",
        measure=measures.shallow_share,
        low=None,
        high=0.3,
        reason="less than a third of the way from the uniform average to the Bayes floor: it may weigh by "
        "norms and positions, but cannot match",
    ),
    Claim(
        id="one-layer-IH-MC",
        place=FIGURE,
        sentence="One layer has no head that follows the match.",
        standing="paper",
        measure=measures.shallow_IH_MC,
        low=None,
        high=0.4,
        reason="less than half of the attention on the successor; a solved model has more than nine tenths",
    ),
    Claim(
        id="one-layer-repeat",
        place=OURS,
        sentence="IH-Repeat of one layer is due to positions: it is as high without repetition.",
        standing="reconstruction",
        measure=measures.shallow_control,
        low=-0.1,
        high=0.1,
        reason="no head of one layer can see what preceded a key; a tenth for correlations of equal tokens",
    ),
    Claim(
        id="deep-learns",
        place=FIGURE,
        sentence="Two layers and more solve the task.",
        standing="paper",
        measure=measures.deep_share,
        low=0.8,
        high=None,
        reason="four fifths of the way from the uniform average to the Bayes floor, at every depth",
    ),
    Claim(
        id="coincidence",
        place="abstract; figure 6",
        sentence="At every depth from two layers on, PTH and IH-MC rise when the loss drops.",
        standing="paper",
        measure=partial(measures.deep_coincidence, names=("PTH", "IH_MC")),
        low=None,
        high=0.45,
        reason="the loss is between a twentieth and 19 twentieths of its way when the score is half-way",
    ),
    Claim(
        id="coincidence-IH-Repeat",
        place="abstract; figure 6",
        sentence="At every depth from two layers on, IH-Repeat rises when the loss drops.",
        standing="paper",
        measure=partial(measures.deep_coincidence, names=("IH_Repeat",)),
        low=None,
        high=0.45,
        reason="the loss is between a twentieth and 19 twentieths of its way when the score is half-way; "
        "heads that look back by a fixed number of positions raise it before",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.UNTRAINED,
    {
        "one-layer-loss": controls.DEEP,
        "one-layer-IH-MC": controls.DEEP,
        "one-layer-repeat": controls.DEEP,
        "coincidence": controls.EARLY,
        "coincidence-IH-Repeat": controls.EARLY,
    },
)
