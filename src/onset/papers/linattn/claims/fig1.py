"""Claims of figure 1: merged key-query attention and the MLP on cubic features learn in one drop."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.linattn.claims import controls
from onset.papers.linattn.claims import merged_measures as measures

CAPTION = "figure 1"
EQUATION = "Eq. 10"
RECONSTRUCTION = "our reconstruction of the theory behind figure 1"

STATEMENTS = (
    Claim(
        id="one-drop",
        place=CAPTION,
        sentence="ATTN_M and the MLP on cubic features have one abrupt drop.",
        standing="paper",
        measure=measures.drops_of,
        low=1,
        high=1,
        unit="drops",
        reason="a drop is a peak of -dL/dln(step) with a prominence of 0.03 of the whole fall",
    ),
    Claim(
        id="floor",
        place="section on merged key-query, fixed points",
        sentence="On the population the loss ends at that of the one non-zero fixed point M_*.",
        standing="paper",
        measure=measures.population_end,
        low=None,
        high=1e-3,
        reason="convergence is exponential; what is left at the end of training is 2e-5 of the target's "
        "variance",
    ),
    Claim(
        id="floor-on-sets",
        place=CAPTION,
        sentence="On the training set the loss ends near that of M_*, which holds for infinitely many "
        "sequences.",
        standing="paper",
        measure=measures.set_end,
        low=None,
        high=0.1,
        reason="the loss of one set of 5000 sequences scatters by a few per cent",
    ),
    Claim(
        id="half-drop-step",
        place="figure 1, horizontal axis",
        sentence="The loss of ATTN_M is half-way down after about 1000 steps of the published run.",
        standing="paper",
        measure=measures.published_half_drop,
        low=900,
        high=1200,
        unit="steps",
        reason="the start's size, and with it the time of the drop, varies with the seed; read off an axis",
    ),
    Claim(
        id="flow",
        place=RECONSTRUCTION,
        sentence="Gradient descent drops when the exact flow on the population does.",
        standing="reconstruction",
        measure=measures.flow_half_drop,
        low=None,
        high=0.02,
        reason="a step of gradient descent lags the flow in proportion to the rate, about 1 % here",
    ),
    Claim(
        id="mlp-on-the-way",
        place="section on merged key-query, equivalence with the MLP",
        sentence="ATTN_M learns like the MLP on cubic features. Equality is exact only without the blocks "
        "that mix labels and inputs; on a finite set these grow and the two differ during the drop.",
        standing="paper",
        measure=partial(measures.model_gap, end=False),
        low=None,
        high=0.1,
        reason="losses fall by about 0.86 within the drop, a shift by a hundredth of its time costs 0.03 to "
        "0.07",
    ),
    Claim(
        id="mlp-at-the-end",
        place="section on merged key-query, equivalence with the MLP",
        sentence="ATTN_M and the MLP end at the same loss, up to what the additional blocks gain on a "
        "finite set.",
        standing="paper",
        measure=partial(measures.model_gap, end=True),
        low=None,
        high=2e-3,
        reason="the additional blocks fit noise of the set, of order 1/P for each of their weights",
    ),
    Claim(
        id="white-aligned",
        place=EQUATION,
        sentence="On white inputs, from a balanced start along the identity, A follows sigma(t) of Eq. 10.",
        standing="paper",
        measure=measures.aligned_deviation,
        low=None,
        high=0.01,
        reason="a share of the final sigma, at the rate 1e-3 on unit covariance; gradient descent deviates "
        "by 0.006",
    ),
    Claim(
        id="white-first-order",
        place=EQUATION,
        sentence="The deviation from Eq. 10 halves with the rate: it is that of gradient descent from the "
        "flow.",
        standing="reconstruction",
        measure=measures.halving_ratio,
        low=1.9,
        high=2.1,
        reason="first order in the rate; the second order is the relative size of the deviation itself",
    ),
    Claim(
        id="white-random-start",
        place=EQUATION,
        sentence="Eq. 10 also holds from a small random start, if w_init is its overlap with the growing "
        "mode; the entries' standard deviation in its place would be wrong by a factor.",
        standing="reconstruction",
        measure=measures.random_start_deviation,
        low=None,
        high=0.005,
        reason="beyond the lag of gradient descent, which is known, corrections are of the order of the "
        "start's size",
    ),
    Claim(
        id="conservation",
        place="appendix on conservation laws",
        sentence="The flow conserves the difference of the Gram matrices of values and key-queries.",
        standing="paper",
        measure=measures.flow_conservation,
        low=None,
        high=1e-8,
        reason="exact; what is left is the integrator's error at its relative tolerance",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.UNTRAINED,
    {
        "floor": controls.LONG_CONTEXT,
        "floor-on-sets": controls.LONG_CONTEXT,
        "half-drop-step": controls.LATE_RUN,
        "flow": controls.SLOW_FLOW,
        "white-aligned": controls.SLOW_FLOW,
        "white-first-order": controls.SLOW_FLOW,
        "white-random-start": controls.SLOW_FLOW,
        "mlp-on-the-way": controls.SLOW_MLP,
        "mlp-at-the-end": controls.OTHER_SET,
        "conservation": controls.SUM_OF_SQUARES,
    },
)
