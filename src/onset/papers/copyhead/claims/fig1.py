"""Claims of figure 1: linear attention pools before it copies, softmax attention copies at once."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.copyhead.claims import controls
from onset.papers.copyhead.claims import stage_measures as measures

PLACE = "abstract; figures 3 and 4, captions"

CLAIMS = assign_controls(
    (
        Claim(
            id="trivial",
            place=PLACE,
            sentence="Linear attention learns nothing until a number of sequences is passed.",
            standing="paper",
            measure=measures.pooling_below_onset,
            low=None,
            high=0.2,
            reason="fluctuations at finite size alone give |c1| of 0.1 at 0.9 of the onset",
        ),
        Claim(
            id="pooling-before-copying",
            place=PLACE,
            sentence="It pools first and copies after: the stages are apart in P.",
            standing="paper",
            measure=measures.pooling_before_copying,
            low=1.2,
            high=None,
            reason="a stage of its own, clearly wider than the rounding of the onset, a tenth of P; theory "
            "gives 1.8 at L = 16",
        ),
        Claim(
            id="crossover",
            place=PLACE,
            sentence="Pooling gives way to copying in a crossover, without a second transition.",
            standing="paper",
            measure=measures.steepest_theory,
            low=None,
            high=0.12,
            unit="per 10 sequences",
            reason="a smooth rise takes tens of sequences; a jump of 0.3 would show as 0.3 on any grid",
        ),
        Claim(
            id="copy-head",
            place=PLACE,
            sentence="With enough sequences every position attends most to the token before it.",
            standing="paper",
            measure=measures.rows_that_copy,
            low=1.0,
            high=None,
            reason="every one: the copy entry is several standard deviations above the others'",
        ),
        Claim(
            id="softmax-uniform",
            place=PLACE,
            sentence="Before its transition softmax attention is uniform.",
            standing="paper",
            measure=measures.copied_over_uniform,
            low=None,
            high=2.0,
            reason="1 if exactly uniform, and L if copying; aG of 0.02 in theory adds 0.02 (L-1)",
        ),
        Claim(
            id="softmax-copies",
            place=PLACE,
            sentence="After it most of the weight is on the copied token.",
            standing="paper",
            measure=measures.copied_above,
            low=0.5,
            high=None,
            reason="more than all other keys together",
        ),
    ),
    controls.ZERO,
    {
        "trivial": controls.ORDERED,
        "pooling-before-copying": controls.AT_ONCE,
        "crossover": controls.SECOND_JUMP,
        "copy-head": controls.FORWARD,
        "softmax-uniform": controls.ORDERED,
        "softmax-copies": controls.EVEN,
    },
)
