"""Claims of figure 7: the simplified flows of the cooperative phase."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.claims.control import assign_controls
from onset.papers.sparse.claims import flow_controls as controls
from onset.papers.sparse.claims import stage_measures as measures

FIGURE = "figure 7, appendix D.1"
COOPERATION = "section 3.3, appendices B.3 and B.4"
MEDIAN = "median over starts, worst stage"

STATEMENTS = (
    Claim(
        id="overlay-attention",
        place=FIGURE,
        sentence="The simplified flows trace the free head's attention.",
        standing="paper",
        measure=measures.overlay_distance,
        low=None,
        high=0.08,
        reason=f"root mean square on records even in log t; {MEDIAN}. Starts in which heads leave early pass "
        "the saddle farther away and are further off",
    ),
    Claim(
        id="overlay-timing",
        place=FIGURE,
        sentence="They learn their feature when the full flow does.",
        standing="paper",
        measure=measures.overlay_timing,
        low=None,
        high=0.1,
        reason=f"relative distance of half-times; {MEDIAN}",
    ),
    Claim(
        id="overlay-dips",
        place=FIGURE,
        sentence="They have the dips of the heads that stay behind.",
        standing="paper",
        measure=measures.overlay_dip,
        low=None,
        high=0.1,
        reason=f"relative distance of the deepest point of what the ensemble delivers; {MEDIAN}",
    ),
    Claim(
        id="overlay-product",
        place=FIGURE,
        sentence="From the full flow's states, the free head ends by delivering all of its feature.",
        standing="reconstruction",
        measure=measures.overlay_product,
        low=None,
        high=1e-3,
        reason="relative distance of V'<s', s_n*> from m_n, worst of all starts, stages and systems",
    ),
    Claim(
        id="free-head-converges",
        place="section 3.3",
        sentence="The reduced flow converges to its positional feature, s' to s_n*.",
        standing="paper",
        measure=measures.free_residual,
        low=None,
        high=0.05,
        unit="of attention",
        reason="as stated; an approach as slow as that of the coupled flow would leave 0.01. Every s' = "
        "(1 - a) s_n* + a s_1* with V' = m_n V_n*/(1 - a) has the least loss, and the flow stops at one of "
        "them",
    ),
    Claim(
        id="free-head-delivers",
        place="section 3.3",
        sentence="What converges is what the free head delivers: V'<s', s_n*> to m_n V_n*.",
        standing="reconstruction",
        measure=measures.free_product,
        low=None,
        high=1e-3,
        reason="relative distance at the end, worst stage and perturbation",
    ),
    Claim(
        id="limit-equation",
        place="appendix B.3.1",
        sentence="At the limit m_n² = h² |s'_(n-1)|² |V'|².",
        standing="paper",
        measure=partial(measures.limit_equation, factor=True),
        low=None,
        high=1e-2,
        reason="as printed, relative to m_n²; the h² belongs to the coupled flow, where all heads are equal",
    ),
    Claim(
        id="limit-equation-corrected",
        place="appendix B.3.1",
        sentence="At the limit m_n² = |s'_(n-1)|² |V'|².",
        standing="reconstruction",
        measure=partial(measures.limit_equation, factor=False),
        low=None,
        high=1e-2,
        reason="relative to m_n², at the end; it falls algebraically",
    ),
    Claim(
        id="potentials",
        place=COOPERATION,
        sentence="The potentials of the cooperative and the reduced flow never fall.",
        standing="paper",
        measure=measures.potential_fall,
        low=-1e-10,
        high=None,
        reason="exact; the interval leaves room for the solvers' absolute tolerance",
    ),
    Claim(
        id="cooperative-limit",
        place=COOPERATION,
        sentence="The potential of the cooperative flow tends to (m_1² + … + m_n²)/2.",
        standing="paper",
        measure=partial(measures.potential_limit, system="cooperative"),
        low=None,
        high=1e-3,
        reason="relative distance at the end, worst stage and perturbation",
    ),
    Claim(
        id="reduced-limit",
        place=COOPERATION,
        sentence="The potential of the reduced flow tends to m_n²/2.",
        standing="paper",
        measure=partial(measures.potential_limit, system="reduced"),
        low=None,
        high=1e-3,
        reason="relative distance at the end, worst stage and perturbation",
    ),
    Claim(
        id="slaving",
        place="section 3.3",
        sentence="The heads that stay behind keep close to V*, at rest under the free head.",
        standing="paper",
        measure=measures.slaving,
        low=None,
        high=0.05,
        unit="of m_1",
        reason="largest distance along the flow; close is a twentieth of m_1",
    ),
    Claim(
        id="perturbation-suffices",
        place="appendix B.3.1",
        sentence="A perturbation towards the second feature starts the reduced flow at a positive potential.",
        standing="paper",
        measure=measures.first_potential,
        low=0.0,
        high=None,
        reason="positive where m_2 > m_1²/(2h²); over epsilon², since it vanishes with it. At stage 3 the "
        "same start has a negative one and escapes all the same: the condition is not necessary",
    ),
)

CLAIMS = assign_controls(
    STATEMENTS,
    controls.START,
    {
        "overlay-attention": controls.NEXT_HEAD,
        "overlay-timing": controls.SLOWER,
        "overlay-dips": controls.SHALLOW,
        "overlay-product": controls.SHORT,
        "potentials": controls.BACKWARDS,
        "slaving": controls.NOT_FOLLOWING,
        "perturbation-suffices": controls.OPPOSITE,
    },
)
