"""Parameters of the comparison across the papers.

The definitions are in docs/theory/atlas.md; levels, resamples and sizes are this project's choices.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onset.params.base import PositiveFloat, PositiveInt, Section

Share = Annotated[float, Field(gt=0, lt=1)]


class Emergence(Section):
    """When and how sharply every order parameter emerges."""

    level: Share = Field(description="share of the way whose crossing is the time of onset")
    low: Share = Field(description="share of the way at which the width of the change begins")
    high: Share = Field(description="share of the way at which the width of the change ends")
    resamples: PositiveInt = Field(description="bootstrap samples of the seeds")
    coverage: Share = Field(description="probability that the bootstrap interval covers")
    points: Annotated[int, Field(ge=11)] = Field(
        description="shares of the loss drop at which curves are read"
    )


class AtlasFigure(Section):
    """A figure of the atlas."""

    width: PositiveFloat = Field(description="figure width, in inches")
    height: PositiveFloat = Field(description="figure height, in inches")
