"""Claims of figure 7: Adam on softmax attention ends in one cluster of losses, and its loss jumps with P."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.copyhead.claims import controls
from onset.papers.copyhead.claims import loss_measures as measures

CAPTION = "figure 7, caption"
RECONSTRUCTION = "our reconstruction of the losses of figure 7"

CLAIMS = assign_controls(
    (
        Claim(
            id="one-cluster",
            place=CAPTION,
            sentence="At each P all seeds end with one loss.",
            standing="paper",
            measure=measures.loss_spread,
            low=None,
            high=0.05,
            reason="far below the jump of 0.4 between the states; seeds may go either way at the spinodal",
        ),
        Claim(
            id="global-minimum",
            place=CAPTION,
            sentence="Adam always reaches the global minimum.",
            standing="paper",
            measure=partial(measures.share_lowest, everywhere=True),
            low=1.0,
            high=None,
            reason="always",
        ),
        Claim(
            id="global-minimum-alone",
            place=CAPTION,
            sentence="It does so wherever the global minimum is the only one it can reach from the prior.",
            standing="reconstruction",
            measure=partial(measures.share_lowest, everywhere=False),
            low=1.0,
            high=None,
            reason="every seed: no other state is left",
        ),
        Claim(
            id="loss-theory",
            place=RECONSTRUCTION,
            sentence="The final loss is the theory's, of uniform attention up to the upper spinodal, of "
            "copying above.",
            standing="reconstruction",
            measure=measures.loss_difference,
            low=None,
            high=0.02,
            reason="corrections from one set of sequences, as for linear attention",
        ),
        Claim(
            id="loss-jump",
            place=CAPTION,
            sentence="The final loss jumps as P grows.",
            standing="paper",
            measure=measures.largest_drop,
            low=0.3,
            high=None,
            reason="more than three times the fall over all smaller P; theory has 0.4 at the spinodal",
        ),
        Claim(
            id="jump-at-spinodal",
            place=RECONSTRUCTION,
            sentence="It jumps where the uniform minimum disappears.",
            standing="reconstruction",
            measure=measures.drop_against_spinodal,
            low=0.94,
            high=1.05,
            reason="as in figure 4: corrections from one set of sequences",
        ),
    ),
    controls.LOSS_OFF,
    {
        "one-cluster": controls.TWO_LOSSES,
        "loss-jump": controls.GRADUAL_LOSS,
        "jump-at-spinodal": controls.GRADUAL_LOSS,
    },
)
