"""Parameters of *Training Dynamics of In-Context Learning in Linear Attention* (arXiv 2501.16265).

Units are the paper's: 1/N inside the model, plain gradient descent advances t/tau by twice the learning rate.
The settings of figures 5 to 8, and what figure 12 changes, are not public; those here are our choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from onset.params.base import Grid, PositiveFloat, PositiveInt, Section
from onset.params.variants import expand_variants


def _distinct(values: tuple[int, ...]) -> tuple[int, ...]:
    repeated = sorted({value for value in values if values.count(value) > 1})
    if repeated:
        raise ValueError(f"should be distinct seeds; given more than once: {', '.join(map(str, repeated))}")
    return values


def _count_seeds(found: Any) -> Any:
    return tuple(range(found)) if type(found) is int and found >= 1 else found


def _drop_nulls(runs: dict[str, Any]) -> dict[str, Any]:
    return {label: override for label, override in runs.items() if override is not None}


def _decreasing(values: tuple[float, ...]) -> tuple[float, ...]:
    if list(values) != sorted(values, reverse=True):
        raise ValueError("should be in decreasing order (equal values are allowed)")
    return values


Seeds = Annotated[
    tuple[Annotated[int, Field(ge=0)], ...],
    Field(
        strict=False,
        min_length=1,
        description="distinct seeds as a list, or how many from 0 (at least 1); each gives data and start",
    ),
    AfterValidator(_distinct),
    BeforeValidator(_count_seeds),
]
Model = Annotated[
    Literal["merged", "separate", "mlp"],
    Field(
        description="merged key-query (ATTN_M), separate key and query (ATTN_S), or the MLP on cubic features"
    ),
]
Rank = Annotated[int, Field(ge=1, description="rank R of key and query; read by `separate` alone")]
Heads = Annotated[int, Field(ge=1, description="heads H, or hidden neurons of the MLP")]
Deviation = Annotated[
    float,
    Field(
        gt=0,
        description="standard deviation of the starting weights, paper units; w_init of an aligned start",
    ),
]
Rate = Annotated[float, Field(gt=0, description="learning rate of full-batch gradient descent, paper units")]
Samples = Annotated[
    int, Field(ge=0, description="training sequences P; 0 trains on the population's gradient")
]
FreeSide = Annotated[
    bool,
    Field(description="whether the blocks of value and key that start at zero (label and input mixed) train"),
]
Start = Annotated[
    Literal["random", "aligned"],
    Field(description="independent Gaussian entries, or Eq. 10's balanced start along the identity"),
]
TaskName = Annotated[str, Field(description="section of the task")]


class Task(Section):
    """In-context linear regression: w ~ N(0, I), x ~ N(0, Lambda), y = w.x, no label noise.

    Lambda is diagonal in the coordinates, without loss of generality: data and starts are rotation-invariant.
    """

    N: int = Field(ge=1, description="context length, the query excluded")
    eigenvalues: Annotated[
        tuple[PositiveFloat, ...] | None, Field(strict=False), AfterValidator(lambda v: v and _decreasing(v))
    ] = Field(default=None, description="eigenvalues of Lambda, positive and decreasing; or give `law`")
    law: Literal["linear", "inverse", "white"] | None = Field(
        default=None, description="eigenvalues proportional to D..1, to 1/d, or all equal"
    )
    D: PositiveInt | None = Field(default=None, description="dimension of x; with `law`")
    trace: PositiveFloat | None = Field(default=None, description="trace of Lambda; with `law`")

    @model_validator(mode="after")
    def _one_form(self) -> Task:
        law = [self.law, self.D, self.trace]
        if self.eigenvalues is not None and any(value is not None for value in law):
            raise ValueError("should have either `eigenvalues` or `law`, `D` and `trace`, not both")
        if self.eigenvalues is None and any(value is None for value in law):
            raise ValueError("should have either `eigenvalues` or all of `law`, `D` and `trace`")
        if self.eigenvalues is not None and not self.eigenvalues:
            raise ValueError("eigenvalues should not be empty")
        return self

    @property
    def dimension(self) -> int:
        """D, however the spectrum is given."""
        return len(self.eigenvalues) if self.eigenvalues is not None else int(self.D or 0)


class NextToken(Section):
    """Next-token training: the loss averaged over context lengths 1..N."""

    scaling: Literal["tokens", "context"] = Field(
        description="attention over n pairs and the query divides by n+1 (tokens) or by n (context)"
    )


class Sets(Section):
    """Training sets, kept as their moments: all that full-batch gradients of linear attention see."""

    samples: Grid = Field(description="sizes P of the sets; a smaller one is the first part of a larger")
    seeds: Seeds
    side_blocks: bool = Field(
        description="whether to keep the moments of all (D+1)^2 D features, which free side blocks see"
    )
    next_token: bool = Field(description="whether to keep the moments of next-token training")


class MixtureSets(Section):
    """Sets in which a share of the sequences has a fresh w and the rest one fixed w of norm sqrt(D)."""

    shares: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(
        strict=False,
        min_length=1,
        description="shares of in-context sequences; at 0 context labels are pure noise",
    )
    samples: PositiveInt = Field(description="training sequences P")
    test_samples: PositiveInt = Field(description="sequences of each of the two test sets")
    seeds: Seeds


class RunOverride(Section):
    """What one run sets differently from its section."""

    task: TaskName | None = None
    model: Model | None = None
    rank: Rank | None = None
    heads: Heads | None = None
    init_std: Deviation | None = None
    learning_rate: Rate | None = None
    samples: Samples | None = None
    free_side_blocks: FreeSide | None = None
    start: Start | None = None


class Training(Section):
    """Full-batch gradient descent of linear models: base values, and runs that override some of them."""

    task: TaskName
    model: Model
    rank: Rank | None = None
    heads: Heads
    init_std: Deviation
    learning_rate: Rate
    samples: Samples
    free_side_blocks: FreeSide
    start: Start
    loss: Literal["query", "next_token"] = Field(
        description="squared error at the query, or averaged over context lengths"
    )
    epochs: PositiveInt = Field(description="full-batch steps")
    record_every: PositiveInt = Field(description="epochs between two records of losses and value weights")
    snapshot_every: PositiveInt = Field(description="epochs between two records of all weights")
    seeds: Seeds
    runs: Annotated[dict[str, RunOverride | None], AfterValidator(_drop_nulls)] = Field(
        min_length=1, description="runs by name, each with what it overrides; null leaves one out"
    )


class SoftmaxTraining(Section):
    """Full-batch gradient descent of softmax attention on the sequences themselves (settings: our choice)."""

    task: TaskName
    model: Literal["merged", "separate"] = Field(description="merged key-query or separate key and query")
    rank: Rank | None = None
    heads: Heads
    init_std: Deviation
    learning_rate: Rate
    samples: PositiveInt = Field(description="training sequences P")
    epochs: PositiveInt = Field(description="full-batch steps")
    record_every: PositiveInt = Field(description="epochs between two records")
    seeds: PositiveInt = Field(description="number of runs, each with its own data and start")
    block: PositiveInt = Field(description="seeds trained together in one job")


class MixtureTraining(Section):
    """ATTN_M with all blocks free on every mixture of in-context and in-weight sequences."""

    heads: Heads
    init_std: Deviation
    learning_rate: Rate
    epochs: PositiveInt = Field(description="full-batch steps")
    record_every: PositiveInt = Field(description="epochs between two records")
    seeds: Seeds


class Theory(Section):
    """Closed forms of every task, with Monte Carlo estimates beside them."""

    draws: int = Field(ge=0, description="sequences of the Monte Carlo estimates; 0 for none")


class Flow(Section):
    """Exact population gradient flow from the start of trained runs."""

    seeds: PositiveInt = Field(description="how many of the runs' first seeds are integrated")
    points: int = Field(ge=10, description="recorded times, evenly spaced (merged) or as squares (separate)")
    time: PositiveFloat = Field(description="last time, in units of tau")
    rtol: Annotated[float, Field(gt=0, le=1e-3)] = Field(description="relative tolerance of the integrator")


class Figure(Section):
    """A figure."""

    width: PositiveFloat = Field(description="figure width, in inches")
    height: PositiveFloat = Field(description="figure height, in inches")


class RunFigure(Figure):
    """A figure with panels of one single run."""

    seed: int = Field(ge=0, description="seed of the single run that is drawn")


def check(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Conditions that join sections, as (path of the key, what is wrong) pairs."""
    tasks = {name: section for name, section in sections.items() if isinstance(section, Task)}
    for name, section in sections.items():
        if isinstance(section, Training):
            yield from _check_training(name, section, tasks, sections)
        elif isinstance(section, SoftmaxTraining):
            yield from _check_task(f"{name}", section, tasks)
        trains = isinstance(section, (Training, SoftmaxTraining, MixtureTraining))
        if trains and section.record_every > section.epochs:
            yield f"{name}.record_every", f"{section.record_every} exceeds {name}.epochs = {section.epochs}"
    sets, runs = sections["mixture_sets"], sections["fig14_runs"]
    yield from _check_seeds("fig14_runs.seeds", runs.seeds, "mixture_sets", sets.seeds)
    repeated = {share for share in sets.shares if sets.shares.count(share) > 1}
    if repeated:
        yield "mixture_sets.shares", f"= {list(sets.shares)}: should be distinct shares"


def _check_training(
    name: str, section: Training, tasks: Mapping[str, Task], sections: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    if section.snapshot_every % section.record_every:
        yield (
            f"{name}.snapshot_every",
            f"= {section.snapshot_every}: should be a multiple of "
            f"{name}.record_every = {section.record_every}",
        )
    runs = expand_variants(section, "runs")
    if not runs:
        yield f"{name}.runs", "leaves out every run; at least one should stay"
    for label, run in runs.items():
        override = section.runs[label]

        def at(key: str, where: str = f"{name}.runs.{label}", given: Any = override) -> str:
            return f"{where}.{key}" if getattr(given, key, None) is not None else f"{name}.{key}"

        yield from _check_task(name, run, tasks, at)
        if run.task not in tasks:
            continue
        if run.free_side_blocks and (run.model == "mlp" or run.samples == 0 or section.loss != "query"):
            yield (
                at("free_side_blocks"),
                "= true: attention on a finite set with the query loss alone has them; should be false here",
            )
        if run.start == "aligned" and run.model == "separate":
            yield at("start"), "= 'aligned': separate key and query start at random"
        if run.samples:
            name_of_sets = run.task.replace("_task", "_sets")
            sets = sections.get(name_of_sets)
            if not isinstance(sets, Sets):
                yield at("samples"), f"= {run.samples}: {run.task} has no training sets; should be 0"
                continue
            if run.samples not in sets.samples:
                yield (
                    at("samples"),
                    f"= {run.samples}: should be 0 or one of {name_of_sets}.samples = {list(sets.samples)}",
                )
            if section.loss == "next_token" and not sets.next_token:
                yield f"{name}.loss", f"= 'next_token': needs {name_of_sets}.next_token to be true"
            if run.free_side_blocks and not sets.side_blocks:
                yield at("free_side_blocks"), f"= true: needs {name_of_sets}.side_blocks to be true"
            yield from _check_seeds(f"{name}.seeds", section.seeds, name_of_sets, sets.seeds)


def _check_task(name: str, run: Any, tasks: Mapping[str, Task], at: Any = None) -> Iterator[tuple[str, str]]:
    at = at or (lambda key: f"{name}.{key}")
    if run.task not in tasks:
        yield at("task"), f"= {run.task!r}: should be one of {', '.join(sorted(tasks))}"
    elif run.model == "separate":
        D = tasks[run.task].dimension
        if run.rank is None:
            yield at("rank"), "is missing; separate key and query need a rank"
        elif run.rank > D:
            yield at("rank"), f"= {run.rank}: should be at most D = {D} of {run.task}"


def _check_seeds(
    where: str, seeds: tuple[int, ...], name: str, available: tuple[int, ...]
) -> Iterator[tuple[str, str]]:
    lacking = sorted(set(seeds) - set(available))
    if lacking:
        yield where, f"= {list(seeds)}: {name}.seeds has no {', '.join(map(str, lacking))}"
