"""The look that all figures share."""

from __future__ import annotations

from pydantic import Field

from onset.params.base import PositiveFloat, PositiveInt, Section


class Plotting(Section):
    """Type size and resolution of every figure."""

    font_size: PositiveFloat = Field(description="base font size, in points")
    dpi: PositiveInt = Field(description="resolution of PNG files, in dots an inch")
