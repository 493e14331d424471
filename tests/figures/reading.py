"""Reading a figure back: its lines by label, its texts, its bytes."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from onset.params.plotting import Plotting
from onset.plotting.save import settle_layout
from onset.plotting.style import look

PLOTTING = Plotting(font_size=8.0, dpi=100)


def lines(axes: Axes, label: str) -> list[Line2D]:
    """Lines of a panel under a label; those of error bars carry it in their container."""
    bars = [c.lines[0] for c in axes.containers if c.get_label() == label]
    return bars + [line for line in axes.lines if line.get_label() == label]


def panels(figure: Figure) -> dict[str, Axes]:
    """Panels by their letter, and all attention maps under `maps` by number."""
    found = {}
    for axes in figure.get_axes():
        for text in axes.texts:
            if text.get_text() in set("abcdef"):
                found[text.get_text()] = axes
    return found


def maps(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.get_axes() if axes.images]


def texts(figure: Figure) -> list[Text]:
    """Every text that is drawn, with its final place: tick labels outside the limits are not drawn."""
    figure.draw_without_rendering()
    hidden = {
        id(text)
        for axes in figure.get_axes()
        for axis in (axes.xaxis, axes.yaxis)
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        for text in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) - 1e-9 <= tick.get_loc() <= max(axis.get_view_interval()) + 1e-9
    }
    drawn = [
        t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip() and id(t) not in hidden
    ]
    return list({id(text): text for text in drawn}.values())


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of drawn texts whose boxes overlap by more than a pixel."""
    boxes = [(text.get_text(), text.get_window_extent().padded(-0.5)) for text in texts(figure)]
    return [(a, b) for i, (a, one) in enumerate(boxes) for b, other in boxes[i + 1 :] if one.overlaps(other)]


def pdf(figure: Figure, plotting: Plotting) -> bytes:
    buffer = io.BytesIO()
    date = datetime(2000, 1, 1, tzinfo=UTC)
    with look(plotting):
        settle_layout(figure)
        figure.savefig(buffer, format="pdf", metadata={"CreationDate": date, "ModDate": date})
    return buffer.getvalue()
