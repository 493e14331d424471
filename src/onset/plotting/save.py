"""Writing figures: the same bytes for the same inputs, with the recipe in the file's metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onset.store.record import replacing_with_record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from onset.params.plotting import Plotting

DATE = datetime(2000, 1, 1, tzinfo=UTC)
"""A fixed date, so that a rebuild gives the same bytes; when a figure was made is in its record."""


def save_figure(
    figure: Figure, path: Path, plotting: Plotting, spec: Mapping[str, Any], record: Mapping[str, Any]
) -> None:
    """Write a figure as PDF or PNG, by the extension of `path`, whole or not at all."""
    from onset.plotting.style import look as styled

    identity = f"onset {spec['paper']}/{spec['name']} scale {spec['scale']} recipe {spec['recipe']}"
    if path.suffix == ".png":
        metadata: dict[str, Any] = {"Title": spec["title"], "Description": identity, "Software": "onset"}
    else:
        metadata = {
            "Title": spec["title"],
            "Subject": identity,
            "Keywords": spec["recipe"],
            "Creator": "onset",
            "Producer": "matplotlib",
            "CreationDate": DATE,
            "ModDate": DATE,
        }
    with replacing_with_record(path, record) as temporary, styled(plotting), _glyphs_alone():
        settle_layout(figure)
        figure.savefig(temporary, format=path.suffix[1:], dpi=plotting.dpi, metadata=metadata)


def settle_layout(figure: Figure) -> None:
    """Lay the figure out now, and put its axes on a grid of a thousandth of a point.

    The solver of the layout visits its unknowns in an order that differs between runs, so positions differ in
    the last bit; where one falls half-way between two numbers of six decimals, a file would differ.
    """
    figure.draw_without_rendering()  # type: ignore[no-untyped-call]
    figure.set_layout_engine("none")
    width, height = (1000 * 72 * inches for inches in figure.get_size_inches())
    for axes in figure.get_axes():
        x0, y0, x1, y1 = axes.get_position(original=True).extents
        x0, x1, y0, y1 = round(x0 * width), round(x1 * width), round(y0 * height), round(y1 * height)
        place = (x0 / width, y0 / height, (x1 - x0) / width, (y1 - y0) / height)
        axes.set_position(place, which="original")


@contextmanager
def _glyphs_alone() -> Iterator[None]:
    """Embed glyphs without the tables that shape text, which a PDF has no use for.

    It places each glyph itself; to parse and cut those tables is most of what embedding a font takes.
    """
    from fontTools.subset import Options

    before = Options._drop_tables_default
    Options._drop_tables_default = [*before, "GDEF", "GPOS", "GSUB", "MATH", "kern"]
    try:
        yield
    finally:
        Options._drop_tables_default = before
