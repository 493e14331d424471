"""Parameters of the toy paper."""

from typing import Literal

from pydantic import Field

from onset.params.base import PositiveFloat, PositiveInt, Section


class World(Section):
    mean: float = Field(description="mean of the points")


class Points(Section):
    samples: PositiveInt = Field(description="number of points")


class Walk(Section):
    seeds: PositiveInt = Field(description="number of walkers")
    block: PositiveInt = Field(description="walkers in one job")
    steps: PositiveInt = Field(description="steps of the walk")
    rate: PositiveFloat = Field(description="step size")
    pause: float = Field(ge=0, description="seconds to wait after each step")


class Race(Section):
    seeds: tuple[int, ...] = Field(strict=False, min_length=1, description="seeds of the runners")
    runs: tuple[str, ...] = Field(strict=False, min_length=1, description="names of the runs")
    steps: PositiveInt = Field(description="steps of each runner")
    growth: PositiveFloat = Field(description="what a step of the fastest runner multiplies")


class Line(Section):
    offset: float = Field(description="added to the mean")


class WalkFigure(Section):
    colour: Literal["black", "red"] = Field(description="colour of the curve")


def check(sections):
    if sections["fit"].steps > 10_000:
        yield "fit.steps", "a toy walks at most 10000 steps"


def warn(sections):
    if sections["fit"].rate > 1:
        yield "fit.rate", f"= {sections['fit'].rate:g}: is above 1, beyond which a walk overshoots"
