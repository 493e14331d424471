"""Claims of figure 1: the query is correlated with one token, the target is an image of the next."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.gmc.claims import controls
from onset.papers.gmc.claims import task_measures as measures

UNIT = "standard errors"
REASON = "four standard errors of the estimate from the test sequences"

STATEMENTS = (
    Claim(
        id="target",
        place="definition of the task; figure 1",
        sentence="The target is the value of the match's successor, up to the noise alone.",
        standing="paper",
        measure=measures.target_identity,
        low=None,
        high=4.0,
        unit=UNIT,
        reason=REASON,
    ),
    Claim(
        id="query-norm",
        place="definition of the task",
        sentence="The query varies like a token.",
        standing="paper",
        measure=measures.query_norm,
        low=None,
        high=4.0,
        unit=UNIT,
        reason=REASON,
    ),
    Claim(
        id="query-match",
        place="definition of the task; figure 1",
        sentence="The query is C times the matched token and noise of covariance I - C Cᵀ.",
        standing="paper",
        measure=measures.query_residual,
        low=None,
        high=4.0,
        unit=UNIT,
        reason=REASON,
    ),
    Claim(
        id="match-uniform",
        place="definition of the task",
        sentence="Every token that has a successor is the match equally often, the last one never.",
        standing="paper",
        measure=measures.match_frequencies,
        low=None,
        high=4.0,
        unit=UNIT,
        reason=REASON,
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.OTHER_MATCH,
    {
        "query-norm": controls.NO_NOISE,
        "query-match": controls.NO_NOISE,
        "match-uniform": controls.NEVER_FIRST,
    },
)
