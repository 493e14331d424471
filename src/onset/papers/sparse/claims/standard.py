"""Claims that several figures make of their own runs: order of learning, competition, specialisation."""

from __future__ import annotations

from functools import partial

from onset.claims.claim import Claim
from onset.papers.sparse.claims import controls, head_measures, loss_measures, order_measures

OURS = "our reconstruction"
PAPER, CI = ("paper",), ("ci",)
EVERY = "a share of seeds; the claim is of every run, and a curve's minimum does not depend on a tolerance"
MOST = (
    "four fifths of the seeds; seeds that are not finished count either way, and undecided where that matters"
)


def order_claim(place: str, run: str = "main", role: str = "runs", name: str = "order") -> Claim:
    """The model is nearest to f_{A_1}, f_{A_1:2}, ... in this order, in every seed."""
    return Claim(
        id=name,
        place=place,
        sentence="The model comes nearest to the predictors of the first 1, 2, ... groups in this order.",
        standing="paper",
        measure=partial(order_measures.order_of_minima, run=run, role=role),
        low=1.0,
        high=None,
        reason=EVERY,
    )


def acquisition_claim(place: str, run: str = "main", role: str = "runs", name: str = "acquisition") -> Claim:
    """Heads acquire the groups in the order of importance, in four fifths of the seeds."""
    return Claim(
        id=name,
        place=place,
        sentence="Heads acquire the groups in the order of their importance: half of a head's attention on "
        "I(1), then on I(2), then on I(3).",
        standing="paper",
        measure=partial(order_measures.order_of_acquisition, run=run, role=role),
        control=controls.REVERSED,
        low=0.8,
        high=None,
        reason=MOST,
    )


def competition_claims(place: str, run: str = "main") -> tuple[Claim, ...]:
    """All heads on I(1) where the model is nearest to f_{A_1}; for runs from small starts."""
    return (
        Claim(
            id="competition-mass",
            place=place,
            sentence="At first all heads focus on the most important group: where the model is nearest to "
            "the predictor of I(1), every head has most of its attention there.",
            standing="paper",
            measure=partial(head_measures.first_stage_mass, run=run),
            control=controls.REVERSED,
            low=0.5,
            high=None,
            reason="the least over seeds and heads; more than half of a head's attention",
        ),
        Claim(
            id="competition-overlap",
            place=place,
            sentence="At first the heads' attention overlaps.",
            standing="paper",
            measure=partial(head_measures.first_stage_overlap, run=run),
            control=controls.AT_ONCE,
            low=0.75,
            high=None,
            reason="shared over joint mass, the least over seeds; 1 for equal heads, below 0.5 where one of "
            "three has left",
        ),
    )


def specialisation_claims(place: str, run: str = "main") -> tuple[Claim, ...]:
    """One head a group at the end; for runs from small starts."""
    return (
        Claim(
            id="one-to-one",
            place=place,
            sentence="At the end every head attends to another group.",
            standing="paper",
            measure=partial(head_measures.one_to_one, run=run),
            low=0.8,
            high=None,
            reason="four fifths of the seeds",
        ),
        Claim(
            id="specialised-mass",
            place=place,
            sentence="At the end every head has most of its attention on its group.",
            standing="paper",
            measure=partial(head_measures.specialised_mass, run=run),
            low=0.6,
            high=None,
            reason="clearly more than half, for the head that has least; median over seeds",
        ),
        Claim(
            id="final-overlap",
            place=place,
            sentence="At the end the heads' patterns are disjoint.",
            standing="paper",
            measure=partial(head_measures.final_overlap, run=run),
            low=None,
            high=0.15,
            reason="shared over joint mass; heads that have 0.8 on their own group and the rest evenly on "
            "others reach 0.2 / 1.8 = 0.11",
        ),
    )


def final_claims(place: str, run: str = "main") -> tuple[Claim, ...]:
    """The chain itself is nearly reached."""
    reason = "nats; a seventh of what is left after the first stage, about one nat"
    return (
        Claim(
            id="final-excess",
            place=place,
            sentence="At the end the loss is close to that of the chain itself.",
            standing="paper",
            measure=partial(loss_measures.final_excess, run=run),
            low=None,
            high=0.15,
            unit="nats",
            reason=reason,
        ),
        Claim(
            id="final-KL",
            place=place,
            sentence="At the end the model is close to the whole predictor.",
            standing="paper",
            measure=partial(loss_measures.final_KL, run=run),
            low=None,
            high=0.15,
            unit="nats",
            reason=reason,
        ),
    )


def entropy_claim(chain: str, value: float, deviation: float, scales: tuple[str, ...]) -> Claim:
    """The chain's entropy is that of other draws of its matrices, to three standard deviations."""
    return Claim(
        id=f"entropy-{chain.removesuffix('_chain')}-{scales[0]}",
        place=OURS,
        sentence="The chain's conditional entropy is that of six other draws of the matrices at these sizes.",
        standing="reconstruction",
        measure=partial(loss_measures.mean_entropy, chain=chain),
        control=controls.EVEN_CHAIN,
        low=round(value - 3 * deviation, 4),
        high=round(value + 3 * deviation, 4),
        unit="nats",
        scales=scales,
        reason=f"{value:g}, three standard deviations of a draw ({deviation:g}) either way",
    )


def published_claim(
    name: str, place: str, sentence: str, measure: object, value: float, factor: float = 1.5
) -> Claim:
    """A step read off a published curve, within a factor; at the paper's scale."""
    return Claim(
        id=name,
        place=place,
        sentence=sentence,
        standing="paper",
        measure=measure,  # type: ignore[arg-type]
        low=round(value / factor, 1),
        high=round(value * factor, 1),
        unit="steps",
        scales=PAPER,
        reason=f"step {value:g} is read off the plot of one run; a factor of {factor:g} for other matrices, "
        "another start and a smaller batch",
    )


def reading_claim(place: str, run: str = "main") -> Claim:
    """Every lag of a group is read by some head at the last map."""
    return Claim(
        id="all-lags-read",
        place=place,
        sentence="At the last step shown, heads together read all positions on which the next token depends.",
        standing="paper",
        measure=partial(head_measures.least_enrichment, run=run),
        low=2.0,
        high=None,
        reason="most attention of a head at a lag over that of even attention, the least over lags: twice",
    )
