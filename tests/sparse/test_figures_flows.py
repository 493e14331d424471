"""Guarantees of figures 6 and 7, on short runs made here.

- every curve is the result: attention and value of every head at every feature, the loss and its terms
- a head keeps its colour in every panel and both figures; simplified flows are dashed in the colour of their
  head, from where their stage begins to where the next one does
- a line marks each beginning of a stage, a dotted one each plateau of the loss
- letters, labels, sizes of type; no text outside the figure or on another
- unfinished runs are drawn; a seed that was not followed is refused
- the footnote tells start, seed and what is our choice, and warns where the scale is not the paper's
- the same bytes twice
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np
import pytest
from matplotlib.colors import same_color, to_rgb
from matplotlib.figure import Figure
from tests.figures.reading import PLOTTING, overlaps, pdf, texts
from tests.sparse import small_flows as small

from onset.job.context import Job
from onset.papers.sparse.figures.fig7 import PALE
from onset.params.sparse import FlowFigure
from onset.plotting.style import HEADS, tint

LETTERS = {"fig6": "abcdefg", "fig7": "abcdef"}


def draw(name: str, seed: int = 0, run: str = "uniform", scale: str = "paper", inputs=None) -> Figure:
    own = FlowFigure(width=7.0, height=4.2, seed=seed, run=run)
    inputs = small.inputs() if inputs is None else inputs
    return import_module(f"onset.papers.sparse.figures.{name}").draw(
        Job("sparse", name, scale, "-", own, {"plotting": PLOTTING}, inputs)
    )


drawn_once = cache(draw)


def panels(figure: Figure) -> dict:
    return {
        text.get_text(): axes
        for axes in figure.get_axes()
        for text in axes.texts
        if text.get_text() in "abcdefg"
    }


def lines(axes, label: str) -> list:
    return [line for line in axes.lines if line.get_label() == label]


def footnote(figure: Figure) -> str:
    return figure.texts[-1].get_text().replace("\n", " ").replace("\xa0", " ")


def take(run: str = "uniform", seed: int = 0):
    return small.flow().sel(run=run, seed=seed).isel(time=slice(1, None))


@pytest.fixture(params=LETTERS)
def drawn(request):
    return request.param, drawn_once(request.param)


@pytest.mark.parametrize("name", LETTERS)
@pytest.mark.parametrize(("run", "seed"), [("uniform", 0), ("gaussian", 1)])
def test_heads_are_the_results(name, run, seed):
    flow, found = take(run, seed), panels(drawn_once(name, seed, run))
    for j in range(3):
        for letter, values in (("abc"[j], flow.s.isel(position=j)), ("def"[j], flow.V.isel(feature=j))):
            for k in range(3):
                (line,) = lines(found[letter], f"head {k + 1}")
                np.testing.assert_array_equal(line.get_xdata(), flow.time)
                np.testing.assert_array_equal(line.get_ydata(), values.sel(head=k))
                colour = to_rgb(HEADS[k]) if name == "fig6" else tint(HEADS[k], PALE)
                assert same_color(line.get_color(), colour)


def test_loss_and_its_terms():
    axes, flow = panels(drawn_once("fig6"))["g"], take()
    (line,) = lines(axes, "loss")
    np.testing.assert_array_equal(line.get_ydata(), flow.loss)
    for j in range(3):
        (line,) = lines(axes, f"term {j + 1}")
        np.testing.assert_array_equal(line.get_ydata(), flow.loss_term.isel(feature=j))
    levels = sorted(line.get_ydata()[0] for line in axes.lines if str(line.get_label()).startswith("plateau"))
    np.testing.assert_allclose(levels, [0.5, 1.945, 6.12105])


def test_simplified_flows_are_the_results():
    stages, found = small.stages().sel(run="uniform", seed=0), panels(drawn_once("fig7"))
    begins = [*stages.begin.values, np.inf]
    for stage, begin, end in zip((2, 3), begins[:-1], begins[1:], strict=True):
        one = stages.sel(stage=stage, system="cooperative").sel(time=slice(begin, end))
        for j in range(3):
            for letter, values in (("abc"[j], one.s), ("def"[j], one.V)):
                for k in range(3):
                    wanted = values.isel(feature=j).sel(head=k).values
                    wanted = np.where(wanted > 0, wanted, np.nan) if letter in "abc" else wanted
                    fitting = [
                        line
                        for line in lines(found[letter], f"cooperative {k + 1}")
                        if np.array_equal(line.get_ydata(), wanted, equal_nan=True)
                    ]
                    assert len(fitting) == 1
                    assert same_color(fitting[0].get_color(), HEADS[k]) and fitting[0].get_linestyle() == "--"
        free = int(one.free_head)
        reduced = stages.sel(stage=stage, system="reduced", head=free).sel(time=slice(begin, end))
        drawn = [line.get_ydata() for line in lines(found["d"], f"reduced {free + 1}")]
        assert any(np.array_equal(one, reduced.V.isel(feature=0)) for one in drawn)


def test_stages_are_marked(drawn):
    _, figure = drawn
    for axes in panels(figure).values():
        at = [line.get_xdata()[0] for line in lines(axes, "_stage")]
        np.testing.assert_allclose(at, take().boundary)


def test_letters_labels_and_type(drawn):
    name, figure = drawn
    found = panels(figure)
    assert "".join(sorted(found)) == LETTERS[name]
    assert all(axes.get_xlabel() for letter, axes in found.items() if letter in "defg")
    assert found["a"].get_ylabel() and found["d"].get_ylabel()
    assert all(axes.get_xscale() == "log" for axes in found.values())
    assert min(text.get_fontsize() for text in texts(figure)) >= 6.5


def test_texts_are_inside_and_apart(drawn):
    _, figure = drawn
    assert overlaps(figure) == []
    width, height = figure.bbox.size
    for text in texts(figure):
        box = text.get_window_extent()
        assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1, text.get_text()


def test_footnote(drawn):
    name, figure = drawn
    told = footnote(figure)
    assert "uniform noise on [0, 0.001]" in told and "seed 0, our choice" in told and "Scale" not in told
    other = footnote(draw(name, seed=1, run="gaussian", scale="ci"))
    assert "Gaussian noise of standard deviation 0.001" in other and "seed 1" in other
    assert "Scale ci: smaller than the paper's settings." in other


def test_same_bytes_twice(drawn):
    name, _ = drawn
    assert pdf(draw(name), PLOTTING) == pdf(draw(name), PLOTTING)


@pytest.mark.parametrize("name", LETTERS)
def test_a_run_whose_last_stage_is_not_reached(name):
    inputs = small.inputs()
    inputs["flow"]["boundary"].loc[{"stage": 3}] = np.nan
    for variable in ("begin", "V", "s"):
        inputs["stages"][variable].loc[{"stage": 3}] = np.nan
    found = panels(draw(name, inputs=inputs))
    assert len(lines(found["a"], "_stage")) == 1


@pytest.mark.parametrize("name", LETTERS)
def test_a_seed_that_was_not_followed(name):
    with pytest.raises(KeyError):
        draw(name, seed=9)
