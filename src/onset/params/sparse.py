"""Parameters of *Incremental Learning of Sparse Attention Patterns in Transformers* (arXiv 2602.19143).

Hyperparameters stand in an appendix that the paper's text only refers to; those here are facts of the
authors' public code.  Batches are smaller than theirs (3000), the base scale b0 is inferred, and numbers of
seeds, evaluation intervals and the settings of runs without a figure are our choice; descriptions say so.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from onset.params.base import PositiveFloat, PositiveInt, Section


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    repeated = sorted({value for value in values if values.count(value) > 1})
    if repeated:
        raise ValueError(f"should be distinct; given more than once: {', '.join(map(str, repeated))}")
    return values


def _count_seeds(found: Any) -> Any:
    return tuple(range(found)) if type(found) is int and found >= 1 else found


Seeds = Annotated[
    tuple[Annotated[int, Field(ge=0)], ...],
    Field(strict=False, min_length=1, description="distinct seeds as a list, or how many from 0"),
    AfterValidator(_distinct),
    BeforeValidator(_count_seeds),
]
Steps = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False), AfterValidator(_distinct)]
Lags = Annotated[tuple[int, ...], Field(strict=False, min_length=1), AfterValidator(_distinct)]
Weights = Annotated[tuple[PositiveFloat, ...], Field(strict=False, min_length=1)]
Tolerance = Annotated[float, Field(gt=0, le=1e-3)]

ChainName = Annotated[str, Field(description="section of the Markov chain")]
Model = Annotated[
    Literal["minimal", "full"],
    Field(
        description="minimal: one-hot tokens and positions, merged key-query, no residual, norm or MLP; "
        "full: a standard post-norm block"
    ),
]
Layers = Annotated[int, Field(ge=1, description="blocks")]
Heads = Annotated[int, Field(ge=1, description="attention heads of a block")]
OptimiserName = Annotated[Literal["adamw", "sgd"], Field(description="AdamW, or SGD with momentum")]
Rate = Annotated[float, Field(gt=0, description="learning rate, constant")]
Decay = Annotated[
    float, Field(ge=0, description="weight decay: decoupled in AdamW, added to the gradient in SGD")
]
Batch = Annotated[
    int,
    Field(ge=1, description="sequences of a batch (authors: 3000; the stages are the same at fewer)"),
]
Samples = Annotated[
    int,
    Field(ge=0, description="training sequences, the first of the dataset; 0 draws a fresh batch each step"),
]
InitScale = Annotated[
    float,
    Field(
        ge=0,
        description="u of the minimal model: key-query entries uniform on [-u, u] and values 0; null for "
        "Xavier-uniform starts of both (the curve that the paper labels 1)",
    ),
]
Precision = Annotated[
    Literal["float32", "float64"], Field(description="precision of training; u <= 1e-6 needs float64")
]
Context = Annotated[
    int, Field(ge=1, description="attention reaches the last `context` tokens alone; null for all of them")
]
RunSteps = Annotated[int, Field(ge=1, description="optimiser steps")]
Normalise = Annotated[bool, Field(description="layer normalisations of the full model")]
Residual = Annotated[bool, Field(description="residual connections of the full model")]
FeedForward = Annotated[bool, Field(description="MLP of the full model")]
Merged = Annotated[bool, Field(description="key and query of the full model as one matrix a head")]


class Chain(Section):
    """High-order Markov chain: x_t ~ softmax(sum_k A_k sum_{i in I(k)} alpha_i x_{t-i}), x one-hot.

    A_k is a random orthogonal matrix times m^(h-k) b0 (times the size of I(k), where `scaling` is `sum`).
    """

    d: Annotated[int, Field(ge=2)] = Field(description="symbols")
    T: PositiveInt = Field(description="sampled tokens of a sequence, after the uniform prefix")
    window: PositiveInt = Field(description="tokens w that the next may depend on, and of the uniform prefix")
    groups: Annotated[tuple[Lags, ...], Field(strict=False, min_length=1)] = Field(
        description="lags of I(1), I(2), ..., the most important group first; lag 1 is the latest token"
    )
    alpha: Annotated[tuple[Weights, ...], Field(strict=False)] | None = Field(
        default=None,
        description="weights alpha of each group, oldest token first, each summing to one; null for 1/|I(k)|",
    )
    m: Annotated[float, Field(ge=1)] = Field(description="ratio of importance between one group and the next")
    b0: PositiveFloat = Field(
        description="scale of the least important matrix (inferred: an inverse temperature of 10 times the "
        "size of a group)"
    )
    scaling: Literal["mean", "sum"] = Field(
        description="mean: alpha sums to one (the paper's equation); sum: tokens of a group are added up "
        "(authors' code), which differs where groups have different sizes"
    )
    overlap: bool = Field(description="whether groups may share lags")
    mutually_orthogonal: bool = Field(
        description="whether the matrices are also made Frobenius-orthogonal to each other (appendix D.2)"
    )


class FullModel(Section):
    """Sizes of the full model."""

    width: PositiveInt = Field(description="entries of the residual stream; divisible by the heads")
    ffn: PositiveInt = Field(description="hidden units of the MLP")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        description="dropout of embeddings, attention weights and branches"
    )


class Optimiser(Section):
    """What all optimisers share."""

    beta1: Annotated[float, Field(ge=0, lt=1)] = Field(description="AdamW: decay of the mean gradient")
    beta2: Annotated[float, Field(ge=0, lt=1)] = Field(
        description="AdamW: decay of the mean squared gradient"
    )
    epsilon: PositiveFloat = Field(description="AdamW: added to the root of the mean squared gradient")
    momentum: Annotated[float, Field(ge=0, lt=1)] = Field(description="SGD: momentum")
    clip: PositiveFloat | None = Field(description="largest norm of the gradient, null for none")


class Sequences(Section):
    """Training and validation sequences of one chain or several, with their matrices."""

    samples: PositiveInt = Field(description="training sequences of each seed")
    validation: PositiveInt = Field(description="validation sequences of each seed")
    seeds: Seeds


class RunOverride(Section):
    """What one run sets differently from its section."""

    chain: ChainName | None = None
    model: Model | None = None
    layers: Layers | None = None
    heads: Heads | None = None
    optimiser: OptimiserName | None = None
    learning_rate: Rate | None = None
    weight_decay: Decay | None = None
    batch: Batch | None = None
    samples: Samples | None = None
    init_scale: InitScale | None = None
    dtype: Precision | None = None
    context: Context | None = None
    steps: RunSteps | None = None
    normalise: Normalise | None = None
    residual: Residual | None = None
    feed_forward: FeedForward | None = None
    merged: Merged | None = None


class Training(Section):
    """Training of transformers on a chain: base values, and runs that override some of them."""

    chain: ChainName
    model: Model
    layers: Layers = 1
    heads: Heads
    optimiser: OptimiserName
    learning_rate: Rate
    weight_decay: Decay
    batch: Batch
    samples: Samples
    init_scale: InitScale | None = None
    dtype: Precision
    context: Context | None = None
    steps: RunSteps
    normalise: Normalise = True
    residual: Residual = True
    feed_forward: FeedForward = True
    merged: Merged = False
    evaluate_every: PositiveInt = Field(description="steps between two evaluations (our choice)")
    evaluation_samples: PositiveInt = Field(
        description="validation sequences of an evaluation, the first ones (our choice)"
    )
    map_steps: Steps = Field(description="evaluated steps at which attention maps are kept")
    predictions: bool = Field(
        default=False, description="whether the final predictions on the validation sequences are kept"
    )
    seeds: PositiveInt = Field(
        description="seeds of every run, each with its own chain, data and start (the paper shows one)"
    )
    block: PositiveInt = Field(description="seeds trained in one job")
    runs: dict[str, RunOverride | None] = Field(
        min_length=1, description="runs by name, each with what it overrides; null leaves one out"
    )


class Levels(Section):
    """Entropies of the chains and divergences of their prefix predictors."""

    floor: Annotated[float, Field(gt=0, lt=1e-3)] = Field(
        description="least probability of a reference in a divergence"
    )


class Features(Section):
    """Regression variant: h orthonormal features m_k = m^(h-k), each at one of T positions."""

    h: Annotated[int, Field(ge=2)] = Field(description="features, and heads")
    T: PositiveInt = Field(description="positions")
    m: Annotated[float, Field(gt=1)] = Field(description="ratio of importance between two features")


class FlowSolver(Section):
    """solve_ivp: RK45 up to a time, LSODA afterwards, where explicit methods are held up by stability."""

    switch_time: PositiveFloat = Field(description="time up to which RK45 is used")
    rtol: Tolerance = Field(description="relative tolerance of RK45 (absolute: 1e-3 of it)")
    late_rtol: Tolerance = Field(description="relative tolerance of LSODA (absolute: 1e-3 of it)")


class FlowNoise(Section):
    """Noise of the starting attention 1/T."""

    noise: Literal["uniform", "gaussian"] = Field(
        description="uniform on [0, epsilon] (authors' script), or normal (the paper)"
    )
    epsilon: PositiveFloat = Field(
        description="largest value, or standard deviation, of the noise; the paper's 1e-6 is the variance"
    )


class FlowStarts(Section):
    """Starts of the regression flow: values 0, attention 1/T with noise, each row summing to one."""

    seeds: Seeds
    runs: dict[str, FlowNoise | None] = Field(min_length=1, description="noises by name; null leaves one out")
    random_starts: PositiveInt = Field(
        description="random starts of the coupled system inside its invariant region"
    )


class FlowTimes(Section):
    """Recorded times of a flow: 0 and times spaced as logarithms."""

    first_time: PositiveFloat = Field(description="first recorded time after 0")
    time: PositiveFloat = Field(description="last time")
    points: Annotated[int, Field(ge=50)] = Field(description="recorded times after 0")


class RegressionFlow(FlowTimes):
    """Gradient flow of the regression variant."""

    seeds: PositiveInt = Field(description="seeds of flow_starts that are followed, the first ones")


class StageFlow(Section):
    """Simplified flows of each stage from the full flow's state at the stage's beginning."""

    boundaries: Annotated[tuple[PositiveFloat, ...], Field(strict=False, min_length=1)] | None = Field(
        description="times at which stages 2, 3, ... begin (the paper: 25 and 300, which depend on the "
        "start); null for the closest approach of each run to the saddle before the stage"
    )


class IdealFlow(FlowTimes):
    """Coupled system from uniform and from random starts; stages from the theory's starts."""

    epsilons: Annotated[
        tuple[Annotated[float, Field(gt=0, lt=1)], ...],
        Field(strict=False, min_length=1),
        AfterValidator(_distinct),
    ] = Field(description="perturbations of the theory's start towards the next feature (open in the paper)")


class EscapeFlow(FlowTimes):
    """Time of the second stage against the size of the noise, from a deterministic start."""

    noises: Annotated[tuple[PositiveFloat, ...], Field(strict=False, min_length=3), AfterValidator(_distinct)]


class StepSegment(Section):
    """Steps of one length."""

    until: PositiveFloat = Field(description="time up to which they are taken")
    step: PositiveFloat = Field(description="length of a step")


class StartSweep(Section):
    """All starts of flow_starts in one batch, by steps fixed in advance."""

    method: Literal["rk4", "dopri5"] = Field(description="Runge-Kutta method of order 4 or 5")
    segments: Annotated[tuple[StepSegment, ...], Field(strict=False, min_length=1)] = Field(
        description="steps, from time 0 on"
    )
    points: Annotated[int, Field(ge=50)] = Field(description="recorded times, spaced as logarithms")


class Figure(Section):
    """A figure."""

    width: PositiveFloat = Field(description="figure width, in inches")
    height: PositiveFloat = Field(description="figure height, in inches")


class SeedFigure(Figure):
    """A figure of one seed."""

    seed: Annotated[int, Field(ge=0)] = Field(description="seed that is drawn thick")


class RunFigure(SeedFigure):
    """A figure of one run and seed."""

    run: str = Field(description="run that is drawn")


class MapFigure(RunFigure):
    """Attention maps of one run and seed."""

    steps: Annotated[Steps, Field(min_length=1)] = Field(
        description="steps whose maps are drawn; among the experiment's `map_steps`"
    )


class SizeFigure(SeedFigure):
    """Learning against the size of the dataset."""

    runs: Annotated[tuple[str, ...], Field(strict=False, min_length=1), AfterValidator(_distinct)] = Field(
        description="runs with a panel of divergences to the restricted references"
    )


class FlowFigure(RunFigure):
    """A figure of the regression flow."""
