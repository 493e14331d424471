"""Parameters of *Gaussian Match-and-Copy* (arXiv 2602.07562).

Sizes, optimiser and schedule are those of the paper's Table 1.  The paper leaves open: seeds, evaluation
interval, weight decay, clipping, initialisation of the two projections, RoPE's base, and size, seed and token
scale of the max-margin run; those are our choice and each description says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from onset.params.base import PositiveFloat, PositiveInt, Section

LARGEST_NORM = 1 + 1e-9
"""Spectral norm up to which a covariance counts as at most 1: what rounding of its entries may add."""


def _distinct(values: tuple[int, ...]) -> tuple[int, ...]:
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
Row = Annotated[tuple[float, ...], Field(strict=False)]
Share = Annotated[float, Field(gt=0, lt=1)]


class Task(Section):
    """Match and copy: the query is correlated with one token of the context, the target is its successor.

    The covariance C of query and match is given by exactly one of `c`, `singular_values` and `matrix`;
    targets have as many entries as tokens.
    """

    T: int = Field(ge=3, description="context length, the query excluded")
    d_in: PositiveInt = Field(description="entries of a token, and of a target")
    c: Annotated[float, Field(ge=1)] | None = Field(
        default=None, description="C = I/c^2: at 1 the query equals its match; larger is harder"
    )
    singular_values: Annotated[tuple[Annotated[float, Field(ge=0)], ...], Field(strict=False)] | None = Field(
        default=None, description="diagonal C: its d_in entries, at most 1"
    )
    matrix: Annotated[tuple[Row, ...], Field(strict=False)] | None = Field(
        default=None, description="C as d_in rows of d_in entries, of spectral norm at most 1"
    )
    sigma_token: PositiveFloat = Field(description="root of a token's mean squared norm")
    sigma_noise: Annotated[float, Field(ge=0)] = Field(
        description="standard deviation of the noise on each entry of a target"
    )


class Backbone(Section):
    """Sizes and start of every transformer; no dropout (our choice: with dropout GPT-2 misses the floor)."""

    width: PositiveInt = Field(description="entries of the residual stream (d_model)")
    heads: PositiveInt = Field(description="attention heads of a layer; divide the width")
    ffn: PositiveInt = Field(description="hidden units of the feed-forward block")
    init_std: PositiveFloat = Field(description="standard deviation of the backbone's starting weights")
    projections: Literal["default", "normal"] = Field(
        description="start of input and output map (open in the paper, our choice: `default`): PyTorch's own "
        "for a linear layer, or normal with `init_std`, from which the circuit does not form in time"
    )
    rope_theta: PositiveFloat = Field(
        description="base of the rotary position embedding, Llama alone (open in the paper, our choice)"
    )


class Optimiser(Section):
    """AdamW with linear warm-up and cosine decay, on fresh batches."""

    batch: PositiveInt = Field(description="sequences of a batch")
    learning_rate: PositiveFloat = Field(description="learning rate at the end of warm-up")
    final_rate: Annotated[float, Field(ge=0, le=1)] = Field(
        description="learning rate after the last step, as a share of the largest (open, our choice)"
    )
    beta1: Annotated[float, Field(ge=0, lt=1)] = Field(description="decay of the mean gradient")
    beta2: Annotated[float, Field(ge=0, lt=1)] = Field(description="decay of the mean squared gradient")
    epsilon: PositiveFloat = Field(description="added to the root of the mean squared gradient")
    weight_decay: Annotated[float, Field(ge=0)] = Field(
        description="decoupled weight decay (open, our choice: PyTorch's default)"
    )
    clip: PositiveFloat | None = Field(
        description="largest norm of the gradient, null for none (open, our choice)"
    )


class Sets(Section):
    """Fixed sequences on which a run is evaluated."""

    samples: PositiveInt = Field(description="test sequences, for final numbers")
    curve_samples: PositiveInt = Field(
        description="the first of them, used all along training (the paper's test set)"
    )
    repeated_samples: PositiveInt = Field(
        description="repeated sequences for IH-Repeat, and as many non-repeated controls"
    )
    K: Annotated[int, Field(ge=2)] | None = Field(description="length of what is repeated; null for T")


class Floors(Section):
    """Losses that can be reached, on the test sequences and in the population."""

    draws: Annotated[int, Field(ge=1000)] = Field(
        description="sequences of the Monte Carlo estimate of population values"
    )


class Training(Section):
    """Online training of one transformer for each seed."""

    architecture: Literal["llama", "gpt2"] = Field(description="Llama-3-style or GPT-2-style blocks")
    layers: PositiveInt = Field(description="blocks of the backbone")
    steps: PositiveInt = Field(description="optimiser steps, each on a fresh batch")
    warmup: int = Field(ge=0, description="first steps, in which the learning rate rises linearly")
    evaluate_every: PositiveInt = Field(description="steps between two evaluations (open, our choice)")
    map_steps: Annotated[
        tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False), AfterValidator(_distinct)
    ] = Field(description="evaluated steps at which attention maps of a repeated sequence are kept")
    seeds: PositiveInt = Field(
        description="runs, each with its own start and data (open in the paper, our choice)"
    )
    block: PositiveInt = Field(description="seeds trained in one job")


class MaxMarginTask(Section):
    """Exact match and exact copy: the query is its match, the target its successor, without noise.

    Size and token scale are open in the paper, our choice.
    """

    d_in: PositiveInt = Field(description="entries of a token")
    T: int = Field(ge=3, description="context length, the query excluded")
    n: PositiveInt = Field(description="training sequences")
    sigma_token: PositiveFloat = Field(description="root of a token's mean squared norm")


class MaxMarginData(Section):
    """Training sequences of the max-margin analysis."""

    seeds: Seeds


class MaxMarginTheory(Section):
    """Hard-margin solution, its correction vector, and the assumptions about the data."""

    tolerance: Share = Field(
        description="multipliers below this share of the largest count as 0, so outside the support"
    )


class MaxMarginDescent(Section):
    """Full-batch gradient descent from zero with all diagnostics."""

    iterations: Annotated[int, Field(ge=100)] = Field(description="gradient steps")
    learning_rate: PositiveFloat = Field(description="learning rate on the loss that `loss` names")
    loss: Literal["half", "full"] = Field(
        description="sum over sequences of half the squared error (appendix) or of all of it (Eq. 9)"
    )
    points: Annotated[int, Field(ge=10)] = Field(
        description="recorded iterations evenly spaced in the logarithm, and as many evenly spaced"
    )
    tail: Share = Field(description="share of the last iterations over which the limits of h are averaged")


class Figure(Section):
    """A figure."""

    width: PositiveFloat = Field(description="figure width, in inches")
    height: PositiveFloat = Field(description="figure height, in inches")


class ScoreFigure(Figure):
    """Scores of every head before and after the drop."""

    before: int = Field(ge=0, description="evaluated step before the drop")
    after: int = Field(ge=0, description="evaluated step after the drop")
    seed: int = Field(ge=0, description="run that is drawn")


class MapFigure(Figure):
    """Attention maps of every head on a repeated sequence."""

    step: int = Field(ge=0, description="step whose maps are drawn; one of the runs' `map_steps`")
    seed: int = Field(ge=0, description="run that is drawn")


class MaxMarginFigure(Figure):
    """A figure of one max-margin run."""

    seed: Annotated[int, Field(ge=0)] | None = Field(
        description="seed that is drawn thick; null for the first on whose data A1 to A4 hold (our choice)"
    )


def check(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Conditions that join keys or sections, as (path of the key, what is wrong) pairs."""
    yield from _check_backbone(sections["backbone"], sections)
    for name, section in sections.items():
        if isinstance(section, Task):
            yield from _check_covariance(name, section)
        elif isinstance(section, Sets) and section.curve_samples > section.samples:
            yield (
                f"{name}.curve_samples",
                f"= {section.curve_samples}: exceeds {name}.samples = {section.samples}",
            )
        elif isinstance(section, Training):
            yield from _check_training(name, section)
    yield from _check_figures(sections)


def _check_backbone(backbone: Backbone, sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if backbone.width % backbone.heads:
        yield (
            "backbone.heads",
            f"= {backbone.heads}: should divide backbone.width = {backbone.width}",
        )
        return
    size = backbone.width // backbone.heads
    rotary = [name for name, section in sections.items() if getattr(section, "architecture", "") == "llama"]
    if size % 2 and rotary:
        yield (
            "backbone.heads",
            f"= {backbone.heads}: makes heads of {size} entries; the rotary embedding of "
            f"{', '.join(rotary)} needs an even number",
        )


def _check_covariance(name: str, task: Task) -> Iterator[tuple[str, str]]:
    given = [key for key in ("c", "singular_values", "matrix") if getattr(task, key) is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none"
        yield name, f"should have exactly one of c, singular_values and matrix, has {found}"
        return
    if task.singular_values is not None:
        if len(task.singular_values) != task.d_in:
            yield (
                f"{name}.singular_values",
                f"has {len(task.singular_values)} entries; should have {name}.d_in = {task.d_in}",
            )
        yield from _check_norm(f"{name}.singular_values", max(task.singular_values, default=0.0))
    if task.matrix is not None:
        shape = {len(row) for row in task.matrix}
        if len(task.matrix) != task.d_in or shape != {task.d_in}:
            yield (
                f"{name}.matrix",
                f"has {len(task.matrix)} rows of {', '.join(map(str, sorted(shape)))} entries; "
                f"should have {task.d_in} of {name}.d_in = {task.d_in}",
            )
        else:
            yield from _check_norm(f"{name}.matrix", measure_norm(task.matrix))


def _check_norm(where: str, norm: float) -> Iterator[tuple[str, str]]:
    if norm > LARGEST_NORM:
        yield where, f"has spectral norm {norm:.6g}; should be at most 1, for the query varies like a token"


def measure_norm(matrix: Sequence[Sequence[float]]) -> float:
    """Spectral norm of a matrix given by its rows."""
    import numpy as np  # only where a task gives a whole matrix

    return float(np.linalg.norm(np.asarray(matrix, dtype=np.float64), 2))


def _check_training(name: str, section: Training) -> Iterator[tuple[str, str]]:
    if section.steps % section.evaluate_every:
        yield (
            f"{name}.evaluate_every",
            f"= {section.evaluate_every}: should divide {name}.steps = {section.steps}",
        )
    if section.warmup >= section.steps:
        yield f"{name}.warmup", f"= {section.warmup}: should be less than {name}.steps = {section.steps}"
    for step in section.map_steps:
        if not _is_evaluated(step, section):
            yield f"{name}.map_steps", f"has {step}, which is not evaluated; {_evaluated(name, section)}"


def _is_evaluated(step: int, section: Training) -> bool:
    return step <= section.steps and step % section.evaluate_every == 0


def _evaluated(name: str, section: Training) -> str:
    return f"should be a multiple of {name}.evaluate_every = {section.evaluate_every} up to {section.steps}"


def _check_figures(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    runs, data = sections["base_runs"], sections["maxmargin_data"]
    for name, section in sections.items():
        if isinstance(section, (ScoreFigure, MapFigure)) and section.seed >= runs.seeds:
            yield f"{name}.seed", f"= {section.seed}: should be below base_runs.seeds = {runs.seeds}"
        if isinstance(section, ScoreFigure):
            for key in ("before", "after"):
                step = getattr(section, key)
                if not _is_evaluated(step, runs):
                    yield f"{name}.{key}", f"= {step}: {_evaluated('base_runs', runs)}"
            if section.before >= section.after:
                yield (
                    f"{name}.before",
                    f"= {section.before}: should be less than {name}.after = {section.after}",
                )
        if isinstance(section, MapFigure) and section.step not in runs.map_steps:
            yield (
                f"{name}.step",
                f"= {section.step}: should be one of base_runs.map_steps = {list(runs.map_steps)}",
            )
        if isinstance(section, MaxMarginFigure) and section.seed not in (None, *data.seeds):
            yield (
                f"{name}.seed",
                f"= {section.seed}: should be one of maxmargin_data.seeds = {list(data.seeds)}",
            )
