"""Claims of figure 6: Adam on linear attention ends in one of two clusters of losses."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.copyhead.claims import cluster_measures as measures
from onset.papers.copyhead.claims import controls

CAPTION = "figure 6, caption"
RECONSTRUCTION = "our reconstruction of the clusters of figure 6"

CLAIMS = assign_controls(
    (
        Claim(
            id="two-clusters",
            place=CAPTION,
            sentence="Final losses of Adam's seeds form two clusters, told apart by the signs of c1 and cG.",
            standing="paper",
            measure=measures.cluster_gap,
            low=0.5,
            high=None,
            reason="no seed in the half of the gap between the theory's losses that would blur two clusters",
        ),
        Claim(
            id="within-cluster",
            place=CAPTION,
            sentence="Seeds of one cluster have one loss.",
            standing="paper",
            measure=measures.spread_in_cluster,
            low=None,
            high=0.02,
            reason="one state; what is left is the end of convergence, far below the gap of 0.1 and more",
        ),
        Claim(
            id="low-loss",
            place=RECONSTRUCTION,
            sentence="The lower loss is that of the posterior's maximum.",
            standing="reconstruction",
            measure=partial(measures.cluster_loss, state="global"),
            low=None,
            high=0.02,
            reason="corrections from one set of sequences, about 0.01 as in the order parameters",
        ),
        Claim(
            id="high-loss",
            place=RECONSTRUCTION,
            sentence="The higher loss is that of a second maximum, with c1 and cG of opposite signs.",
            standing="reconstruction",
            measure=partial(measures.cluster_loss, state="metastable"),
            low=None,
            high=0.02,
            reason="as for the lower loss",
        ),
        Claim(
            id="second-state-from",
            place=RECONSTRUCTION,
            sentence="Seeds end there only at P at which the theory has that maximum.",
            standing="reconstruction",
            measure=measures.trapped_before,
            low=0.9,
            high=None,
            reason="one set of sequences moves the first P by a few per cent",
        ),
        Claim(
            id="minority",
            place=RECONSTRUCTION,
            sentence="At every P at least half of the seeds reach the lower loss, which figure 3 shows.",
            standing="reconstruction",
            measure=measures.share_trapped,
            low=None,
            high=0.5,
            reason="from signs drawn at random half of the seeds would end in either; pooling, which comes "
            "first, favours equal signs",
        ),
    ),
    controls.ONE_LOSS,
    {
        "within-cluster": controls.TWO_LOSSES,
        "low-loss": controls.LOSS_OFF,
        "high-loss": controls.LOSS_OFF,
        "second-state-from": controls.EARLIER,
        "minority": controls.OTHER_SIGN,
    },
)
