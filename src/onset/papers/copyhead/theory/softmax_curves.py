"""The curve of softmax saddles at each level of the theory."""

from __future__ import annotations

from onset.papers.copyhead.theory.model import Form, Model
from onset.papers.copyhead.theory.saddle_curve import SaddleCurve
from onset.papers.copyhead.theory.softmax import trace_saddles
from onset.papers.copyhead.theory.softmax_dressed import trace_dressed_saddles


def trace_curve(model: Model, form: Form, P_max: float, points: int, bins: int) -> SaddleCurve:
    """All saddles up to beyond P_max at `points` + 1 states; `bins` is for the dressed theory alone."""
    if form == "dressed":
        return trace_dressed_saddles(model, P_max, points, bins)
    return trace_saddles(model, P_max, points, form)
