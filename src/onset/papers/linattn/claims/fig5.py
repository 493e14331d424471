"""Claims of figure 5: softmax attention keeps one drop (merged) and several drops (separate)."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.linattn.claims import controls
from onset.papers.linattn.claims import softmax_measures as measures

STATEMENTS = (
    Claim(
        id="merged-one-drop",
        place="figure 5",
        sentence="Softmax attention with merged key-query has one drop.",
        standing="paper",
        measure=measures.merged_drops,
        low=1,
        high=1,
        unit="drops",
        reason="a drop is a peak of -dL/dln(step) with a prominence of 0.1 of the whole fall; settings are "
        "ours",
    ),
    Claim(
        id="separate-several-drops",
        place="figure 5",
        sentence="Softmax attention with separate key and query has several drops.",
        standing="paper",
        measure=measures.separate_drops,
        low=3,
        high=None,
        unit="drops",
        reason="3 to 5 expected for D = 4; rates of 0.5 and above oscillate and would inflate the number",
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.MODELS_EXCHANGED)
