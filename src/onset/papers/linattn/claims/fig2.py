"""Claims of figure 2: a rank-one head with separate key and query is a convolution on the cubic feature."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.linattn.claims import controls
from onset.papers.linattn.claims import convolution_measures as measures

STATEMENTS = (
    Claim(
        id="convolution",
        place="figure 2",
        sentence="Rank-one heads over tokens predict what the network on the cubic feature does: a kernel "
        "k_i with stride D, then q_i, then v_i.",
        standing="paper",
        measure=measures.attention_against_network,
        low=None,
        high=1e-10,
        reason="exact; rounding in double precision",
    ),
    Claim(
        id="trained-maps",
        place="figure 2",
        sentence="The network built from trained values, keys and queries answers unit features with the "
        "trained map.",
        standing="paper",
        measure=measures.trained_maps,
        low=None,
        high=1e-5,
        reason="exact; weights and map are stored in single precision",
    ),
)

CLAIMS = assign_controls(STATEMENTS, controls.OTHER_NETWORK, {"trained-maps": controls.OTHER_MAPS})
