"""Parameters of *Phase Transitions in Attention: a Bayesian theory of copy heads* (arXiv 2606.12058).

The paper's own sizes are not public.  Those of the `paper` scale were chosen so that both transitions
are separated and visible; every description below that names a symbol uses the paper's.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from onset.params.base import Grid, PositiveFloat, PositiveInt, Section, require_increasing

Attention = Literal["linear", "softmax"]
Start = Literal["prior", "copy"]
Weights = Literal["sampled", "integrated"]
Decay = Literal["matched", "anchored"]
StepSize = Annotated[float, Field(gt=0, lt=1)]
Length = Annotated[int, Field(ge=3)]
Variances = Annotated[
    tuple[PositiveFloat, ...], Field(strict=False, min_length=1), AfterValidator(require_increasing)
]
Lengths = Annotated[tuple[Length, ...], Field(strict=False, min_length=1), AfterValidator(require_increasing)]


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
    d_k: PositiveInt | None = Field(
        default=None,
        description="width of queries and keys, which are then the parameters; null for infinite, where the "
        "logits are independent Gaussians and the parameters themselves",
    )


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


class Landscapes(Section):
    """Bare actions over the order parameters, with their minima."""

    linear_P: Grid = Field(description="numbers of training sequences, linear attention")
    softmax_P: Grid = Field(description="numbers of training sequences, softmax attention")
    c1_max: PositiveFloat = Field(description="largest |c1|")
    cG_max: PositiveFloat = Field(description="largest |cG|")
    points: int = Field(ge=11, description="points along each order parameter")


class Clusters(Section):
    """The two saddles of linear attention in which Adam can end."""

    P: Grid = Field(description="numbers of training sequences")


class FiniteWidth(TheoryGrid):
    """Theory at finite widths of queries and keys."""

    d_k: Grid = Field(description="widths of queries and keys")


class PhaseDiagram(Section):
    """Transitions of both attention kinds along each of three parameters, the others as in the priors."""

    v: Variances = Field(description="logit variances")
    g_OV: Variances = Field(description="variances of the output-value weights times V")
    L: Lengths = Field(description="sequence lengths (finite-size table)")
    P_max: PositiveInt = Field(description="largest P at which a transition is looked for")
    bins: int = Field(
        ge=20, description="bins for the logits of the L-1 keys that are not copied, dressed theory"
    )
    scan: int = Field(ge=50, description="points of the scan for saddles along the order parameter")


class Sampling(Section):
    """Stochastic gradient Langevin dynamics (SGLD): chains times P in one program."""

    attention: Attention = Field(description="attention kind")
    start: Start = Field(description="initial state of the chains")
    P: Grid = Field(description="numbers of training sequences")
    chains: int = Field(ge=2, description="independent chains for each P")
    block: PositiveInt = Field(description="chains computed together in one job")
    steps: PositiveInt = Field(description="Langevin steps of each chain")
    step_size: StepSize = Field(
        description="step size epsilon, with parameters whitened to unit prior variance"
    )
    burn_in: Annotated[float, Field(ge=0, lt=1)] = Field(description="share of the steps left out of means")
    record_every: PositiveInt = Field(description="steps between two records of the order parameters")
    snapshots: PositiveInt = Field(description="attention matrices kept along each chain, evenly spaced")
    weights: Weights = Field(
        default="sampled",
        description="sampled: chains move all weights; integrated: the collapsed sampler, chains move the "
        "logits (or queries and keys) alone, with the output-value weights integrated out",
    )
    batch: PositiveInt | None = Field(
        default=None,
        description="sequences of a minibatch, drawn anew for each step and chain; null for all of them",
    )


class SamplingOverride(Section):
    """What one run of a sampling experiment sets differently."""

    attention: Attention | None = Field(default=None, description="attention kind")
    start: Start | None = Field(default=None, description="initial state of the chains")
    P: Grid | None = Field(default=None, description="numbers of training sequences")
    steps: PositiveInt | None = Field(default=None, description="Langevin steps")
    step_size: StepSize | None = Field(default=None, description="step size")
    record_every: PositiveInt | None = Field(default=None, description="steps between two records")
    weights: Weights | None = Field(default=None, description="weights sampled or integrated")
    batch: PositiveInt | None = Field(default=None, description="sequences of a minibatch")
    d_k: PositiveInt | None = Field(default=None, description="width of queries and keys")
    v: PositiveFloat | None = Field(default=None, description="variance of a logit")
    g_OV: PositiveFloat | None = Field(default=None, description="variance of the weights times V")
    L: Length | None = Field(default=None, description="sequence length, with sequences of its own")


class VariantSampling(Section):
    """Runs of Langevin chains that differ in the sampler, the priors or the size; all chains in one job."""

    attention: Attention = Field(description="attention kind")
    start: Start = Field(description="initial state of the chains")
    P: Grid = Field(description="numbers of training sequences")
    chains: int = Field(ge=2, description="independent chains for each run and P")
    steps: PositiveInt = Field(description="Langevin steps of each chain")
    step_size: StepSize = Field(
        description="step size epsilon, with parameters whitened to unit prior variance"
    )
    burn_in: Annotated[float, Field(ge=0, lt=1)] = Field(description="share of the steps left out of means")
    record_every: PositiveInt = Field(description="steps between two records")
    weights: Weights = Field(
        default="sampled", description="sampled: all weights move; integrated: the collapsed sampler"
    )
    batch: PositiveInt | None = Field(default=None, description="sequences of a minibatch; null for all")
    d_k: PositiveInt | None = Field(default=None, description="width of queries and keys; null as in `prior`")
    v: PositiveFloat | None = Field(default=None, description="variance of a logit; null as in `prior`")
    g_OV: PositiveFloat | None = Field(
        default=None, description="variance of the weights times V; null as in `prior`"
    )
    L: Length | None = Field(
        default=None, description="sequence length, with sequences of its own; null as in `task`"
    )
    runs: dict[str, SamplingOverride | None] = Field(
        min_length=1, description="runs by label, each with what it sets differently; null leaves a run out"
    )


class SweepOverride(Section):
    """What one run of a sweep sets differently."""

    attention: Attention | None = Field(default=None, description="attention kind")
    P: Grid | None = Field(default=None, description="numbers of training sequences")
    dwell: PositiveInt | None = Field(default=None, description="Langevin steps at each P")
    step_size: StepSize | None = Field(default=None, description="step size")


class Sweep(Section):
    """Langevin chains carried from P to P, upwards from the prior and downwards from the copy state."""

    attention: Attention = Field(description="attention kind")
    P: Annotated[Grid, Field(min_length=2)] = Field(description="numbers of training sequences, at least two")
    chains: int = Field(ge=2, description="independent chains in each direction")
    dwell: PositiveInt = Field(description="Langevin steps at each P")
    step_size: StepSize = Field(description="step size epsilon")
    kept: Annotated[float, Field(gt=0, le=1)] = Field(
        description="last share of each dwell that enters the means"
    )
    runs: dict[str, SweepOverride | None] = Field(
        min_length=1, description="runs by label, each with what it sets differently; null leaves a run out"
    )


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


class TrainingOverride(Section):
    """What one run of a training experiment sets differently."""

    attention: Attention | None = Field(default=None, description="attention kind")
    P: Grid | None = Field(default=None, description="numbers of training sequences")
    d_k: PositiveInt | None = Field(default=None, description="width of queries and keys")
    decay: Decay | None = Field(default=None, description="towards 0 or towards the initial state")
    decay_weight: PositiveFloat | None = Field(default=None, description="factor of the decay")


class VariantTraining(Section):
    """Runs of full-batch Adam that differ in width or decay; all seeds in one job."""

    attention: Attention = Field(description="attention kind")
    P: Grid = Field(description="numbers of training sequences")
    seeds: int = Field(ge=1, description="initialisations for each run and P")
    epochs: PositiveInt = Field(description="full-batch steps")
    learning_rate: PositiveFloat = Field(
        description="initial learning rate in whitened parameters; cosine to 0"
    )
    record_every: PositiveInt = Field(description="epochs between two records")
    d_k: PositiveInt | None = Field(default=None, description="width of queries and keys; null as in `prior`")
    decay: Decay = Field(
        default="matched",
        description="weight decay of logits, or of queries and keys: matched, towards 0, is the prior; "
        "anchored decays towards the initial state (our attempt; the paper's decay is not known)",
    )
    decay_weight: PositiveFloat = Field(default=1.0, description="factor of that decay; 1 is the prior's")
    runs: dict[str, TrainingOverride | None] = Field(
        min_length=1, description="runs by label, each with what it sets differently; null leaves a run out"
    )


class PlainFigure(Section):
    """A figure that draws all that it is given."""

    width: PositiveFloat = Field(description="figure width, in inches")
    height: PositiveFloat = Field(description="figure height, in inches")


class OrderParameterFigure(Section):
    """A figure of order parameters against P with attention maps beside."""

    maps_at: Grid = Field(description="values of P whose mean attention maps are drawn; must be sampled")
    width: PositiveFloat = Field(description="figure width, in inches")
    height: PositiveFloat = Field(description="figure height, in inches")


class StagesFigure(Section):
    """Attention maps at each stage of both attention kinds."""

    linear_at: Grid = Field(description="values of P of the maps, linear attention; must be sampled")
    softmax_at: Grid = Field(description="values of P of the maps, softmax attention; must be sampled")
    width: PositiveFloat = Field(description="figure width, in inches")
    height: PositiveFloat = Field(description="figure height, in inches")


class LossFigure(Section):
    """Losses along training."""

    at: Grid = Field(description="values of P that are drawn; must be trained")
    width: PositiveFloat = Field(description="figure width, in inches")
    height: PositiveFloat = Field(description="figure height, in inches")
