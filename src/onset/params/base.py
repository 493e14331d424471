"""The base of every parameter section, and types that several papers use."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

T = TypeVar("T")


class Section(BaseModel):
    """A section of params.yaml: closed (unknown keys are errors), strictly typed and immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def require_increasing(values: tuple[T, ...]) -> tuple[T, ...]:
    """The values.  Raises ValueError where they do not increase strictly."""
    if any(b <= a for a, b in pairwise(values)):  # type: ignore[operator]
        raise ValueError("should be strictly increasing, without repeats")
    return values


PositiveInt = Annotated[int, Field(ge=1)]
PositiveFloat = Annotated[float, Field(gt=0)]
Grid = Annotated[
    tuple[PositiveInt, ...], Field(strict=False, min_length=1), AfterValidator(require_increasing)
]
"""A swept integer parameter: positive, strictly increasing, at least one value."""
