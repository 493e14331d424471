"""Claims of figure 8: theory and chains move together with v, g_OV and L; softmax has hysteresis."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.copyhead.claims import controls
from onset.papers.copyhead.claims import phase_measures as measures

PAPER = "abstract; figure 4, caption"
RECONSTRUCTION = "our reconstruction; figure 8 is ours"

CLAIMS = assign_controls(
    (
        Claim(
            id="transition",
            place=RECONSTRUCTION,
            sentence="At every sampled v, g_OV and L the dressed P_c lies where chains change phase.",
            standing="reconstruction",
            measure=measures.transition_outside,
            low=None,
            high=2.0,
            unit="sequences",
            reason="the rounding of the transition at finite L, about two sequences",
        ),
        Claim(
            id="moves-together",
            place=RECONSTRUCTION,
            sentence="Where v, g_OV or L move the predicted transition, the sampled one moves with it.",
            standing="reconstruction",
            measure=measures.moves_together,
            low=0.5,
            high=2.0,
            reason="brackets are as wide as the window, whose width grows with P_c; 0 if it did not move",
        ),
        Claim(
            id="two-starts",
            place=PAPER,
            sentence="At P around the transition chains from copying keep it while chains from the prior do "
            "not gain it.",
            standing="reconstruction",
            measure=measures.kept_phases,
            low=1,
            high=None,
            unit="values of P",
            reason="one P of a grid as coarse as this is enough: with one phase both starts agree at every P",
        ),
        Claim(
            id="loop",
            place=PAPER,
            sentence="Carried up and down in P, softmax attention runs through a wide loop.",
            standing="reconstruction",
            measure=partial(measures.loop_area, kind="softmax"),
            low=4.0,
            high=None,
            unit="sequences",
            reason="a jump of 0.6 kept up over 7 sequences or more; theory's window has 17",
        ),
        Claim(
            id="loop-there",
            place=PAPER,
            sentence="The way down keeps copying longer than the way up gains it.",
            standing="reconstruction",
            measure=measures.loop_sign,
            low=4.0,
            high=None,
            unit="standard errors",
            reason="the customary four, also where a low barrier makes the loop narrow",
        ),
        Claim(
            id="no-loop",
            place=PAPER,
            sentence="Linear attention, whose transition is continuous, has no loop.",
            standing="reconstruction",
            measure=partial(measures.ways_differ, tolerance=0.04),
            low=None,
            high=0.04,
            reason="chains of a dwell scatter by about 0.01; softmax attention differs by 0.6",
        ),
        Claim(
            id="no-loop-area",
            place=PAPER,
            sentence="Nor is there an area between the ways of linear attention.",
            standing="reconstruction",
            measure=partial(measures.loop_area, kind="linear"),
            low=-0.6,
            high=0.6,
            unit="sequences",
            reason="a difference of 0.01 over 60 sequences",
        ),
        Claim(
            id="bare-too-low",
            place=RECONSTRUCTION,
            sentence="Fluctuations of the logits move the transition up at every setting.",
            standing="reconstruction",
            measure=measures.bare_over_dressed,
            low=None,
            high=0.99,
            reason="P_c is found to 0.01 sequences; 15 % at L = 16, less where v, and with it the noise "
            "of the logits, is small",
        ),
        Claim(
            id="jump-at-all-L",
            place=PAPER,
            sentence="The transition is of first order at every length.",
            standing="reconstruction",
            measure=measures.smallest_jump,
            low=0.5,
            high=None,
            reason="more than half of the way from uniform attention to copying, as in figure 4",
        ),
        Claim(
            id="barrier-grows",
            place=RECONSTRUCTION,
            sentence="The barrier grows faster than L, so that longer sequences have a sharper transition.",
            standing="reconstruction",
            measure=measures.barrier_exponent,
            low=1.0,
            high=None,
            reason="L rows act as one; 1 is what independent rows with a fixed barrier each would give",
        ),
        Claim(
            id="onset",
            place="our reconstruction of the onset of figure 3",
            sentence="The bare onset is where the Hessian at 0 becomes singular, at all v, g_OV and L.",
            standing="reconstruction",
            measure=measures.onset_difference,
            low=None,
            high=0.05,
            unit="sequences",
            reason="two computations of one number; the root finder's tolerance is smaller",
        ),
    ),
    None,
    {
        "transition": controls.LATE,
        "moves-together": controls.UNMOVED,
        "two-starts": controls.ONE_START,
        "loop": controls.NO_LOOP,
        "loop-there": controls.NO_LOOP,
        "no-loop": controls.LOOP_EVERYWHERE,
        "no-loop-area": controls.LOOP_EVERYWHERE,
        "bare-too-low": controls.BARE_HIGHER,
        "jump-at-all-L": controls.SMALL_JUMP,
        "barrier-grows": controls.LOW_BARRIER,
        "onset": controls.ONSET_OFF,
    },
)
