"""Drawing the figures of small results, and finding what they show."""

from __future__ import annotations

import importlib
from functools import cache

from matplotlib.figure import Figure
from tests.sparse import synthetic_sparse

from onset.params.sparse import MapFigure, RunFigure, SeedFigure, SizeFigure

MAPS = {
    "fig2": (0, 60, 300, 600),
    "fig9": (0, 100, 300, 900),
    "fig11": (0, 70, 300, 600),
    "fig16": (0, 100, 200, 600),
    "fig18": (100, 400, 600),
    "fig19": (100, 400, 600),
    "fig21": (0, 100, 300, 600),
}
CURVES = ("fig10", "fig12", "fig13", "fig14", "fig15", "fig17", "fig20")
RUNS = {"fig13": "minimal", "fig14": "full", "fig17": "heads4", "fig18": "heads3", "fig19": "heads4"}
LETTERS = {"fig1": "abcd", "fig3": "ab", "fig4": "abcd", "fig5": "abcd", "fig8": "abcdef"}
LETTERS |= dict.fromkeys(CURVES, "ab") | dict.fromkeys(MAPS, "")
EVERY_CODE = ("fig1", "fig2", "fig3", "fig4", "fig5", "fig8", "fig10")
FIGURES = tuple(synthetic_sparse.INPUTS)
HEIGHTS = {"fig1": 4.6, "fig3": 2.9, "fig4": 4.6, "fig5": 2.8, "fig8": 3.9, "fig18": 2.6, "fig19": 2.6}


def section(figure: str, **own):
    size = {"width": 7.0, "height": HEIGHTS.get(figure, 2.2 if figure in MAPS else 2.8), "seed": 0} | own
    if figure == "fig4":
        return SeedFigure(**size)
    if figure == "fig5":
        return SizeFigure(**({"runs": ("n50", "n400", "n4000")} | size))
    size = {"run": RUNS.get(figure, "main")} | size
    if figure in MAPS or figure == "fig1":
        return MapFigure(**({"steps": MAPS.get(figure, (100, 300, 900))} | size))
    return RunFigure(**size)


def find_code(figure: str):
    module = "maps" if figure in MAPS else "curves" if figure in CURVES else figure
    return importlib.import_module(f"onset.papers.sparse.figures.{module}").draw


@cache
def make_inputs(figure: str):
    """Inputs of a figure, made once; not to be changed."""
    return synthetic_sparse.INPUTS[figure]()


def draw(figure: str, own: dict | None = None, **changed) -> Figure:
    """A figure with another section or other inputs."""
    inputs = make_inputs(figure) | changed
    return find_code(figure)(synthetic_sparse.make_job(figure, section(figure, **(own or {})), inputs))


@cache
def drawn(figure: str) -> Figure:
    """A figure as it is, drawn once; not to be changed."""
    return draw(figure)


def panel(figure, letter: str):
    for axes in figure.get_axes():
        if any(t.get_text() == letter and t.get_fontweight() == "bold" for t in axes.texts):
            return axes
    raise AssertionError(f"no panel {letter}")


def letters(figure) -> str:
    found = (t for axes in figure.get_axes() for t in axes.texts if t.get_fontweight() == "bold")
    return "".join(sorted(text.get_text() for text in found))


def note(figure) -> str:
    return " ".join(text.get_text() for text in figure.texts).replace("\xa0", " ").replace("\n", " ")


def list_maps(figure):
    return [axes for axes in figure.get_axes() if axes.images and axes.get_title().startswith("step")]
