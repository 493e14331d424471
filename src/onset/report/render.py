"""From what a report shows to its page."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from onset.pipeline.listing import spell_seconds
from onset.report.claims import OUTCOMES
from onset.report.entries import Report
from onset.report.graph import HEIGHT, WIDTH

KINDS = {
    "data": "data",
    "train": "training",
    "sample": "sampling",
    "simulate": "simulation",
    "theory": "theory",
    "figures": "figure",
    "tables": "table",
}
"""What a kind of step is called on the page."""


def render_page(report: Report) -> str:
    """The page as HTML, with its style and script inside; the same report gives the same text."""
    environment = _environment()
    read = environment.loader.get_source  # type: ignore[union-attr]
    return environment.get_template("index.html.j2").render(
        report=report,
        outcomes=list(OUTCOMES.values()),
        vacuous=OUTCOMES["vacuous"],
        kinds=KINDS,
        node_width=WIDTH,
        node_height=HEIGHT,
        style=Markup(read(environment, "style.css")[0]),
        script=Markup(read(environment, "filter.js")[0]),
    )


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("onset.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "seconds": spell_seconds,
        "code": mark_code,
        "sentence": end_sentence,
        "value": spell_value,
    }
    return environment


def mark_code(text: str) -> Markup:
    """Text with what stands between backticks set as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def end_sentence(text: str) -> str:
    """Text that begins with a capital and ends with a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def spell_value(value: Any) -> str:
    """A parameter as one would type it; `absent` where there is none."""
    return "absent" if value is None else json.dumps(value, ensure_ascii=False)
