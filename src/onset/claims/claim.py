"""A claim: a sentence of a paper, the number that decides it, and the interval that it accepts."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import xarray as xr

    from onset.claims.control import Control

Standing = Literal["paper", "reconstruction"]


@dataclass(frozen=True)
class Measured:
    """What a claim's measure returns.

    value      the measured number, in the claim's unit; None where it could not be measured
    detail     what a reader wants to know beside it: where it was measured, what was left out
    undecided  why the number decides nothing (for instance too few chains agree); empty where it decides
    absent     why there is nothing to measure at this scale (for instance a grid without the region);
               empty where there is
    spread     the interval of the number over seeds or chains, where the measure gives one; an end of the
               accepted interval inside it leaves the claim undecided
    """

    value: float | None
    detail: str = ""
    undecided: str = ""
    absent: str = ""
    spread: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.value is None and not (self.undecided or self.absent):
            raise ValueError("a measure without a value must say why: `undecided` or `absent`")


@dataclass(frozen=True)
class Claim:
    """A statement, the measured number that decides it and the interval that it accepts.

    id          name within its figure
    place       where the paper says it: figure, section or abstract
    sentence    the statement, in our words
    standing    "paper": the statement is the paper's, only the tolerance is ours;
                "reconstruction": ours, tested because the paper's statements lean on it
    measure     the number, from the figure's Datasets by role
    low, high   the accepted interval, ends included; None where it is open on that side
    reason      why the interval ends where it does
    unit        of the number and the interval; "1" where dimensionless
    scales      the scales at which the claim is tested; None for all
    control     inputs of which the claim must not hold; None where none has been named yet
    quantity    what is measured, in words; the first sentence of the measure's docstring where left out
    """

    id: str
    place: str
    sentence: str
    standing: Standing
    measure: Callable[[Mapping[str, xr.Dataset]], Measured]
    low: float | None
    high: float | None
    reason: str
    unit: str = "1"
    scales: tuple[str, ...] | None = None
    control: Control | None = None
    quantity: str = ""

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise ValueError(f"claim {self.id} accepts every number; give `low`, `high` or both")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"claim {self.id} accepts no number: {self.low} > {self.high}")

    def describe_quantity(self) -> str:
        """What is measured: `quantity`, else what the measure's docstring says first, with its arguments."""
        if self.quantity:
            return self.quantity
        measure: Any = self.measure
        given: dict[str, Any] = {}
        while isinstance(measure, functools.partial):
            given = {**measure.keywords, **given}
            measure = measure.func
        first = inspect.cleandoc(measure.__doc__ or "").partition("\n\n")[0]
        sentence = " ".join(first.split()).removesuffix(".")
        told = ", ".join(f"{name}={_spell(value)}" for name, value in sorted(given.items()))
        return f"{sentence} ({told})" if told and sentence else sentence


def _spell(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(_spell, value)) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)
