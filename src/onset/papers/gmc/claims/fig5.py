"""Claims of figure 5: what makes the drop later and slower."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.gmc.claims import controls, drop_measures, score_measures, sweep_measures

FIGURE = "figure 5"
RATIO = "a ratio of 1 is no difference; seeds that disagree decide nothing"
HALF = "steps from a tenth of the way to half of it"
SETTINGS = ("base", "close", "loose", "long", "wide", "gpt2")

STATEMENTS = (
    Claim(
        id="looser-later",
        place=FIGURE,
        sentence="The larger c, the later the drop.",
        standing="paper",
        measure=partial(sweep_measures.least_later, roles=("close", "base", "loose")),
        low=1.0,
        high=None,
        reason=RATIO,
    ),
    Claim(
        id="looser-slower",
        place=FIGURE,
        sentence="The larger c, the slower the drop.",
        standing="paper",
        measure=partial(sweep_measures.least_slower, roles=("close", "base", "loose")),
        low=1.0,
        high=None,
        reason=f"{HALF}; {RATIO}",
    ),
    Claim(
        id="longer-later",
        place=FIGURE,
        sentence="A longer context drops later.",
        standing="paper",
        measure=partial(sweep_measures.later, earlier="base", other="long"),
        low=1.0,
        high=None,
        reason=RATIO,
    ),
    Claim(
        id="longer-slower",
        place=FIGURE,
        sentence="A longer context drops more slowly.",
        standing="paper",
        measure=partial(sweep_measures.slower, faster="base", other="long"),
        low=1.0,
        high=None,
        reason=f"{HALF}; {RATIO}",
    ),
    Claim(
        id="wider-later",
        place=FIGURE,
        sentence="Tokens of more entries drop later.",
        standing="paper",
        measure=partial(sweep_measures.later, earlier="base", other="wide"),
        low=1.0,
        high=None,
        reason=RATIO,
    ),
    Claim(
        id="wider-slower",
        place=FIGURE,
        sentence="Tokens of more entries drop more slowly.",
        standing="paper",
        measure=partial(sweep_measures.slower, faster="base", other="wide"),
        low=1.0,
        high=None,
        reason=f"{HALF}; {RATIO}",
    ),
    Claim(
        id="gpt2-learns",
        place=FIGURE,
        sentence="GPT-2 learns the task too.",
        standing="paper",
        measure=partial(score_measures.final_share, role="gpt2"),
        low=0.8,
        high=None,
        reason="four fifths of the way from the uniform average to the Bayes floor",
    ),
    Claim(
        id="gpt2-later",
        place=FIGURE,
        sentence="GPT-2 drops later than Llama.",
        standing="paper",
        measure=partial(sweep_measures.later, earlier="base", other="gpt2"),
        low=1.0,
        high=None,
        reason=RATIO,
    ),
    Claim(
        id="coincidence",
        place="abstract; figure 5",
        sentence="In every setting that is learned, PTH, IH-MC and IH-Repeat rise when the loss drops.",
        standing="paper",
        measure=partial(drop_measures.coincidence, roles=SETTINGS),
        low=None,
        high=0.45,
        reason="the loss is between a twentieth and 19 twentieths of its way when the score is half-way",
    ),
    Claim(
        id="close-noise-floor",
        place="definition of the task; figure 5",
        sentence="Where the match is close, the loss ends near the noise floor of 0.01.",
        standing="paper",
        measure=partial(score_measures.excess_over_noise, role="close"),
        low=None,
        high=0.01,
        scales=("paper",),
        reason="one noise variance above it; at c = 1.1 the Bayes floor is near 0.013",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.UNTRAINED,
    {
        "looser-later": controls.exchange("close", "loose"),
        "looser-slower": controls.exchange("close", "loose"),
        "longer-later": controls.exchange("base", "long"),
        "longer-slower": controls.exchange("base", "long"),
        "wider-later": controls.exchange("base", "wide"),
        "wider-slower": controls.exchange("base", "wide"),
        "gpt2-later": controls.exchange("base", "gpt2"),
        "coincidence": controls.EARLY,
    },
)
