"""Guarantees of the common look:

- settings of matplotlib are as before after a figure was drawn, also after an error
- a user's own settings do not change a figure's bytes
- the PDF carries its fonts as outlines that can be edited (type 42), DejaVu Sans only
- the colour scale of maps is shared, starts at 0 and tells 1/L from 0
- a footnote is broken inside the page
"""

from __future__ import annotations

import re
import zlib

import matplotlib
import pytest
import xarray as xr
from matplotlib.figure import Figure
from tests.figures import reading
from tests.figures.reading import PLOTTING

from onset.papers.copyhead.figures import fig4
from onset.plotting.panels import add_footnote, attention_scale
from onset.plotting.style import axis_label, look, tint


def test_settings_are_restored():
    before = dict(matplotlib.rcParams)
    with pytest.raises(RuntimeError), look(PLOTTING):
        assert matplotlib.rcParams["pdf.fonttype"] == 42
        raise RuntimeError
    assert dict(matplotlib.rcParams) == before


def test_the_users_settings_do_not_enter(make_job):
    plain = reading.pdf(fig4.draw(make_job("fig4", [30, 42])), PLOTTING)
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True, "lines.linewidth": 7}):
        assert reading.pdf(fig4.draw(make_job("fig4", [30, 42])), PLOTTING) == plain


def test_fonts_of_the_pdf(make_job):
    raw = reading.pdf(fig4.draw(make_job("fig4", [30, 42])), PLOTTING)
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", raw, re.S)
    bodies = raw + b"".join(_inflated(s) for s in streams)
    names = set(re.findall(rb"/BaseFont /(?:[A-Z]{6}\+)?([A-Za-z-]+)", bodies))
    assert names and all(name.startswith(b"DejaVuSans") for name in names)
    assert b"/Subtype /Type3" not in bodies


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_attention_scale():
    scale = attention_scale([xr.DataArray([[-0.1, 0.2]]), xr.DataArray([[0.8, 0.0]])])
    assert (scale.vmin, scale.vmax) == (0.0, 0.8)
    assert scale(0.2) == pytest.approx(0.5)
    assert scale(-0.1) == 0.0


def test_footnote_stays_on_the_page():
    with look(PLOTTING):
        figure = Figure(figsize=(3.0, 2.0))
        share = add_footnote(figure, "Long words and W, M, 0123456789 capitals ABC. " * 8, 6.5)
        figure.draw_without_rendering()
        box = figure.texts[0].get_window_extent()
    assert box.x1 <= figure.bbox.x1 and box.y1 <= share * figure.bbox.y1


def test_axis_label_comes_from_attributes():
    assert axis_label({"long_name": "training sequences", "units": "1"}, "P") == "P, training sequences"
    assert axis_label({"long_name": "barrier", "units": "nat"}, "B") == "B, barrier (nat)"
    assert axis_label({}, "P") == "P"


def test_tint_mixes_with_white():
    assert tint("#000000", 0.25) == pytest.approx((0.75, 0.75, 0.75))
    assert tint("#FF0000", 1.0) == pytest.approx((1.0, 0.0, 0.0))
