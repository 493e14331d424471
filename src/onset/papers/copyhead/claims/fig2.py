"""Claims of figure 2: both actions as landscapes, one transition continuous and one by a barrier."""

from __future__ import annotations

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.copyhead.claims import controls
from onset.papers.copyhead.claims import landscape_measures as measures

PAPER = "abstract; figure 2, caption (actions by name)"
RECONSTRUCTION = "our reconstruction of the actions of figure 2"

CLAIMS = assign_controls(
    (
        Claim(
            id="symmetry",
            place=RECONSTRUCTION,
            sentence="The linear action does not change when both order parameters change sign.",
            standing="reconstruction",
            measure=measures.asymmetry,
            low=None,
            high=1e-9,
            reason="an exact symmetry of attention and read-out together; double precision leaves 1e-14",
        ),
        Claim(
            id="minima",
            place=RECONSTRUCTION,
            sentence="The minima found by descent are the lowest points of the landscapes.",
            standing="reconstruction",
            measure=measures.minima_above_grid,
            low=None,
            high=1e-6,
            unit="nat",
            reason="no point of a grid lies below the least minimum; descent converges to better than this",
        ),
        Claim(
            id="wells",
            place=RECONSTRUCTION,
            sentence="The linear action has one well, then two, then four with the metastable pair.",
            standing="reconstruction",
            measure=measures.minima_missed,
            low=None,
            high=0,
            unit="values of P",
            reason="a count; wells are asked for within two steps of the grid",
        ),
        Claim(
            id="second-order",
            place=PAPER,
            sentence="Linear attention: where ordered minima exist the trivial state is none, as in a "
            "transition of second order.",
            standing="paper",
            measure=measures.trivial_curvature,
            low=None,
            high=-1e-9,
            unit="nat",
            reason="a metastable trivial state would make it positive; rounding is below 1e-9",
        ),
        Claim(
            id="metastable",
            place="figure 6, caption",
            sentence="A second pair of minima, with c1 and cG of opposite signs, lies above the first.",
            standing="reconstruction",
            measure=measures.second_above,
            low=1.0,
            high=None,
            unit="nat",
            reason="more than fluctuations of a nat, so that the posterior tells them apart",
        ),
        Claim(
            id="first-order",
            place=PAPER,
            sentence="Softmax attention: the lower minimum changes once, from uniform attention to copying.",
            standing="paper",
            measure=measures.crossings,
            low=1,
            high=1,
            reason="a count",
        ),
        Claim(
            id="barrier",
            place=PAPER,
            sentence="Where both phases are minima, a barrier separates them.",
            standing="paper",
            measure=measures.least_barrier,
            low=0.1,
            high=None,
            unit="nat",
            reason="it vanishes at the spinodals; above rounding and the resolution of the saddle",
        ),
    ),
    controls.FLAT,
    {
        "symmetry": controls.TILTED,
        "minima": controls.MISPLACED,
        "wells": controls.CONVEX,
        "second-order": controls.CONVEX,
        "metastable": controls.SECOND_LOWER,
        "first-order": controls.NEVER_CROSS,
        "barrier": controls.NO_BARRIER,
    },
)
