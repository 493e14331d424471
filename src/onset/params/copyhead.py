"""Parameters of *Phase Transitions in Attention: a Bayesian theory of copy heads* (arXiv 2606.12058).

The paper's own sizes are not public.  Those of the `paper` scale were chosen so that both transitions
are separated and visible; every description below that names a symbol uses the paper's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from onset.params.base import Grid, PositiveFloat, PositiveInt, Section

Attention = Literal["linear", "softmax"]


class Task(Section):
    """The copy task: i.i.d. one-hot tokens, the target at position a is the token at a-1 (cyclic)."""

    L: int = Field(ge=3, description="sequence length, in positions")
    V: int = Field(ge=2, le=127, description="vocabulary size, in symbols (tokens are stored as int8)")


class Prior(Section):
    """Gaussian priors over the weights and the Gaussian likelihood."""

    g_OV: PositiveFloat = Field(
        description="variance of the output-value weights times V (each entry of W has variance g_OV/V)"
    )
    v: PositiveFloat = Field(description="variance of an attention logit, v = g_Q g_K")
    sigma2: PositiveFloat = Field(description="noise variance of the likelihood, sigma squared")


class Sequences(Section):
    """The training sequences; a run at P uses the first P of them."""

    samples: PositiveInt = Field(description="number of sequences drawn; at least the largest P of any run")


class TheoryGrid(Section):
    """Where the theory curves of an attention kind are evaluated."""

    P_min: PositiveInt = Field(description="smallest number of training sequences")
    P_max: PositiveInt = Field(description="largest number of training sequences")
    P_points: int = Field(ge=5, description="number of points of the curves, evenly spaced")


class LinearTheory(TheoryGrid):
    """Bare and dressed theory of linear attention."""

    P: Grid = Field(description="numbers of training sequences at which finite-size means are integrated")
    nodes: int = Field(
        ge=8, description="quadrature nodes along each of the two order parameters in finite-size means"
    )


class SoftmaxTheory(TheoryGrid):
    """Bare and dressed theory of softmax attention."""

    bins: int = Field(ge=20, description="bins for the logits of the L-1 keys that are not copied")
    scan: int = Field(ge=50, description="points of the scan for saddles along the order parameter")


class Sampling(Section):
    """Stochastic gradient Langevin dynamics (SGLD) on all weights: chains times P in one program."""

    attention: Attention = Field(description="attention kind")
    start: Literal["prior", "copy"] = Field(description="initial state of the chains")
    P: Grid = Field(description="numbers of training sequences")
    chains: int = Field(ge=2, description="independent chains for each P")
    block: PositiveInt = Field(description="chains computed together in one job")
    steps: PositiveInt = Field(description="Langevin steps of each chain")
    step_size: Annotated[float, Field(gt=0, lt=1)] = Field(
        description="step size epsilon, with parameters whitened to unit prior variance"
    )
    burn_in: Annotated[float, Field(ge=0, lt=1)] = Field(description="share of the steps left out of means")
    record_every: PositiveInt = Field(description="steps between two records of the order parameters")
    snapshots: PositiveInt = Field(description="attention matrices kept along each chain, evenly spaced")


class Training(Section):
    """Full-batch Adam on the negative log posterior: seeds times P in one program."""

    attention: Attention = Field(description="attention kind")
    P: Grid = Field(description="numbers of training sequences")
    seeds: int = Field(ge=1, description="initialisations for each P")
    block: PositiveInt = Field(description="seeds trained together in one job")
    epochs: PositiveInt = Field(description="full-batch steps")
    learning_rate: PositiveFloat = Field(
        description="initial learning rate in whitened parameters; cosine to 0"
    )
    record_every: PositiveInt = Field(description="epochs between two records")


class OrderParameterFigure(Section):
    """A figure of order parameters against P with attention maps beside."""

    maps_at: Grid = Field(description="values of P whose mean attention maps are drawn; must be sampled")
    width: PositiveFloat = Field(description="figure width, in inches")
    height: PositiveFloat = Field(description="figure height, in inches")


def check(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Conditions that join sections, as (path of the key, what is wrong) pairs."""
    samples = sections["sequences"].samples
    for name, section in sections.items():
        if isinstance(section, (Sampling, Training)) and max(section.P) > samples:
            yield f"{name}.P", f"largest value {max(section.P)} exceeds sequences.samples = {samples}"
        if isinstance(section, TheoryGrid) and section.P_max <= section.P_min:
            yield f"{name}.P_max", f"{section.P_max} is not above {name}.P_min = {section.P_min}"
        if isinstance(section, Sampling):
            records = section.steps // section.record_every
            if records < 20:
                yield (
                    f"{name}.record_every",
                    f"leaves {records} records of {section.steps} steps; at least 20 are needed",
                )
            elif section.snapshots > records:
                yield f"{name}.snapshots", f"{section.snapshots} exceeds the {records} records of a chain"
        if isinstance(section, OrderParameterFigure):
            yield from _check_maps(name, section, sections)
        if isinstance(section, Training) and section.record_every > section.epochs:
            yield f"{name}.record_every", f"{section.record_every} exceeds {name}.epochs = {section.epochs}"


def _check_maps(
    name: str, figure: OrderParameterFigure, sections: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Values of P whose maps a figure draws, but that its chains do not sample."""
    kind = {"fig3": "linear", "fig4": "softmax"}.get(name)
    for other, section in sections.items():
        if isinstance(section, Sampling) and section.attention == kind:
            for P in sorted(set(figure.maps_at) - set(section.P)):
                yield f"{name}.maps_at", f"has {P}, which is not among {other}.P"
