"""Claims of figure 5: coverage by two order parameters, other samplers, finite widths of Q and K."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.copyhead.claims import controls
from onset.papers.copyhead.claims import coverage_measures as cover
from onset.papers.copyhead.claims import sampler_measures as samplers
from onset.papers.copyhead.claims import width_measures as widths

CAPTION = "figure 5, caption"
COVERED = "our reconstruction of the theory behind figure 5"
SAMPLERS = "our samplers of the posterior of figures 3 and 4"
WIDTHS = "our reconstruction at finite d_k; the paper's prior, with d_k, is known from a fragment"

COVERAGE = (
    Claim(
        id="adam-linear",
        place=CAPTION,
        sentence="Adam's linear attention lies almost wholly in the plane of both order parameters.",
        standing="paper",
        measure=partial(cover.adam_coverage, kind="linear"),
        low=0.98,
        high=None,
        reason="1 at the maximum of the averaged posterior; one set of sequences leaves below 0.01 outside",
    ),
    Claim(
        id="adam-softmax",
        place=COVERED,
        sentence="So does Adam's softmax attention.",
        standing="reconstruction",
        measure=partial(cover.adam_coverage, kind="softmax"),
        low=0.98,
        high=None,
        reason="as for linear attention",
    ),
    Claim(
        id="adam-linear-cosine",
        place=CAPTION,
        sentence="Adam's linear attention points along the theory's matrix.",
        standing="paper",
        measure=partial(cover.adam_cosine, kind="linear"),
        low=0.98,
        high=None,
        reason="within the plane, an error of 0.05 in cG at c1 = 1 turns the matrix by cosine 0.98 at L = 16",
    ),
    Claim(
        id="adam-softmax-cosine",
        place=COVERED,
        sentence="Adam's softmax attention points along the theory's matrix on either side of the window.",
        standing="reconstruction",
        measure=partial(cover.adam_cosine, kind="softmax"),
        low=0.98,
        high=None,
        reason="as for linear attention; in the window the theory has two matrices",
    ),
    Claim(
        id="chains-linear",
        place=CAPTION,
        sentence="The mean linear attention of SGLD chains lies in the plane.",
        standing="paper",
        measure=partial(cover.chains_coverage, kind="linear"),
        low=0.93,
        high=None,
        reason="noise outside the plane averages out as one over the number of independent samples, which "
        "leaves 0.94 for a single chain of 80 time units near the onset",
    ),
    Claim(
        id="chains-softmax",
        place=CAPTION,
        sentence="So does the mean softmax attention of SGLD chains.",
        standing="paper",
        measure=partial(cover.chains_coverage, kind="softmax"),
        low=0.93,
        high=None,
        reason="as for linear attention, with less noise",
    ),
    Claim(
        id="sample-linear",
        place=COVERED,
        sentence="A single sample's share in the plane is that of the theory with fluctuations.",
        standing="reconstruction",
        measure=partial(cover.sample_coverage, kind="linear"),
        low=None,
        high=0.05,
        reason="it grows as c1, which is within 0.03 to 0.06 of the theory near the onset",
    ),
    Claim(
        id="sample-softmax",
        place=COVERED,
        sentence="The same for softmax attention, on either side of the window.",
        standing="reconstruction",
        measure=partial(cover.sample_coverage, kind="softmax"),
        low=None,
        high=0.05,
        reason="as for linear attention",
    ),
)

SAMPLERS_AGREE = (
    Claim(
        id="collapsed",
        place=SAMPLERS,
        sentence="Chains on the logits alone, the read-out integrated out, have the same order parameters.",
        standing="reconstruction",
        measure=partial(samplers.sampler_difference, variant="collapsed", tolerance=0.02),
        low=None,
        high=0.02,
        reason="the same posterior; scatter of chains away from transitions, as in figures 3 and 4",
    ),
    Claim(
        id="minibatch",
        place=SAMPLERS,
        sentence="So have chains on minibatches of sequences.",
        standing="reconstruction",
        measure=partial(samplers.sampler_difference, variant="minibatch", tolerance=0.03),
        low=None,
        high=0.03,
        reason="scatter of chains, and the noise of minibatches, which the step size leaves in",
    ),
    Claim(
        id="copy-start",
        place=SAMPLERS,
        sentence="Linear chains forget whether they started from the prior or from copying.",
        standing="reconstruction",
        measure=partial(samplers.sampler_difference, variant="copy", tolerance=0.03),
        low=None,
        high=0.03,
        reason="scatter of chains away from the onset; only the state with c1 cG < 0 is left out",
    ),
    Claim(
        id="step-halving",
        place=SAMPLERS,
        sentence="Half the step does not move the order parameters.",
        standing="reconstruction",
        measure=partial(samplers.sampler_difference, variant="half", tolerance=0.02),
        low=None,
        high=0.02,
        reason="the discretisation's bias is of order the step size, 1 % or less of a variance",
    ),
    Claim(
        id="step-bias",
        place=SAMPLERS,
        sentence="Nor does it move the norm of the attention, which has the largest bias.",
        standing="reconstruction",
        measure=samplers.step_bias,
        low=None,
        high=0.04,
        reason="Euler steps of size e on a unit Gaussian overestimate its variance by e/2, 1 to 2 % here; as "
        "much again for the scatter of chains",
    ),
)

FINITE_WIDTH = (
    Claim(
        id="qk-pooling",
        place=WIDTHS,
        sentence="SGLD on Q and K pools as the theory with fluctuations says, up to terms of order L/d_k.",
        standing="reconstruction",
        measure=partial(widths.width_means, quantity="pooling"),
        low=None,
        high=1.0,
        unit="L/d_k",
        reason="the theory adds the cost of a finite width to Gaussian noise, which leaves out terms of "
        "relative order L/d_k",
    ),
    Claim(
        id="qk-copying",
        place=WIDTHS,
        sentence="It also copies as the theory says, up to the same terms.",
        standing="reconstruction",
        measure=partial(widths.width_means, quantity="copy"),
        low=None,
        high=1.0,
        unit="L/d_k",
        reason="as for pooling",
    ),
    Claim(
        id="qk-wide-pooling",
        place=WIDTHS,
        sentence="At d_k of 20 L pooling is within the tolerance of figure 3.",
        standing="reconstruction",
        measure=partial(widths.very_wide_means, quantity="pooling"),
        low=None,
        high=0.04,
        reason="0.03 as in figure 3, and a tenth of the correction, which is 0.1 in c1",
        scales=("paper",),
    ),
    Claim(
        id="qk-wide-copying",
        place=WIDTHS,
        sentence="At d_k of 20 L copying is within the tolerance of figure 3.",
        standing="reconstruction",
        measure=partial(widths.very_wide_means, quantity="copy"),
        low=None,
        high=0.02,
        reason="as in figure 3",
        scales=("paper",),
    ),
    Claim(
        id="narrow-jump",
        place=WIDTHS,
        sentence="At small d_k pooling sets in much more steeply than at infinite width.",
        standing="reconstruction",
        measure=widths.narrow_rise,
        low=1.5,
        high=None,
        reason="below d_k of about 8 L the theory has a jump, rounded at finite L; half more than the second-"
        "order rise tells them apart",
    ),
    Claim(
        id="qk-softmax",
        place=WIDTHS,
        sentence="Softmax attention on Q and K copies as the theory of that width says.",
        standing="reconstruction",
        measure=widths.softmax_means,
        low=None,
        high=0.03,
        reason="the width shifts aG by 0.01 to 0.02, which the theory has up to a factor of 2",
    ),
    Claim(
        id="qk-adam-softmax",
        place="figure 4, caption, which has Adam agree with SGLD; by our reconstruction not on Q, K",
        sentence="Adam on Q and K with matched decay stays at uniform attention where the posterior copies.",
        standing="reconstruction",
        measure=widths.matched_softmax,
        low=None,
        high=0.05,
        reason="uniform attention is a minimum under the nuclear norm at every P here; copying has 0.8",
    ),
    Claim(
        id="qk-adam-linear",
        place="figure 3, caption, which has Adam agree with SGLD; by our reconstruction not on Q, K",
        sentence="Linear attention trained so has next to none of the posterior's copying.",
        standing="reconstruction",
        measure=widths.matched_linear,
        low=None,
        high=0.2,
        reason="the nuclear norm keeps the maximum's cG at 0 for every P here; less than a fifth is "
        "plain disagreement",
    ),
    Claim(
        id="qk-adam-map",
        place=WIDTHS,
        sentence="It pools no earlier than the theory with the nuclear norm for prior.",
        standing="reconstruction",
        measure=widths.matched_above_map,
        low=None,
        high=0.05,
        reason="corrections from one set of sequences, as in figure 3; seeds may stay behind, in the trivial "
        "state",
    ),
    Claim(
        id="qk-adam-anchored",
        place="our attempt at the paper's agreement of Adam and SGLD",
        sentence="Decay towards the start brings Adam on Q and K close to the posterior.",
        standing="reconstruction",
        measure=widths.anchored_difference,
        low=None,
        high=0.2,
        reason="rough by nature: without decay it overshoots, with matched decay it is off by 0.4 or more",
    ),
)

CLAIMS = assign_controls(
    (*COVERAGE, *SAMPLERS_AGREE, *FINITE_WIDTH),
    controls.ZERO,
    {
        "adam-linear": controls.ONE_ROW,
        "adam-softmax": controls.ONE_ROW,
        "adam-linear-cosine": controls.FORWARD,
        "adam-softmax-cosine": controls.FORWARD,
        "chains-linear": controls.ONE_ROW,
        "chains-softmax": controls.ONE_ROW,
        "step-bias": controls.COARSE,
        "narrow-jump": controls.GRADUAL,
        "qk-adam-softmax": controls.FOLLOWS,
        "qk-adam-linear": controls.FOLLOWS,
        "qk-adam-map": controls.FOLLOWS,
    },
)
