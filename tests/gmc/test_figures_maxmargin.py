"""Guarantees of figures 10 to 13, on six runs at the paper's size made here:

- thick curves are the results of the seed that the footnote names, thin ones those of all others
- laws of the theory have their slopes and end on the thick curve
- the seed is the first on whose data A1 to A4 hold, or the one asked for; the footnote says which and why
- letters, labels, sizes of type; no text outside the figure or on another
- seeds without rivals off the support or that fail assumptions, and vanished gradients, are drawn
- the footnote names what we chose and warns where the scale is not the paper's; the same bytes twice
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.figures.reading import PLOTTING, overlaps, panels, pdf, texts
from tests.gmc import small_maxmargin as small

from onset.job.context import Job
from onset.papers.gmc.maxmargin.selection import list_with_tail
from onset.params.gmc import MaxMarginFigure

LETTERS = {"fig10": "abc", "fig11": "abc", "fig12": "ab", "fig13": "abc"}


def draw(name: str, inputs=None, seed: int | None = None, scale: str = "paper") -> Figure:
    own = MaxMarginFigure(width=7.0, height=2.8, seed=seed)
    inputs = small.run_long() if inputs is None else inputs
    job = Job("gmc", name, scale, "-", own, {"plotting": PLOTTING}, inputs)
    return import_module(f"onset.papers.gmc.figures.{name}").draw(job)


drawn_once = cache(draw)


@pytest.fixture(scope="module", params=LETTERS)
def drawn(request):
    return request.param, drawn_once(request.param)


def curves(axes, width: float) -> list[np.ndarray]:
    return [np.asarray(line.get_ydata()) for line in axes.lines if line.get_linewidth() == width]


def law(axes) -> tuple[np.ndarray, np.ndarray]:
    (line,) = [
        one for one in axes.lines if one.get_linewidth() == 1.0 and not str(one.get_label()).startswith("_")
    ]
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def footnote(figure: Figure) -> str:
    return figure.texts[-1].get_text().replace("\n", " ").replace("\xa0", " ")


@pytest.mark.parametrize(
    ("name", "letter", "variable"),
    [
        ("fig10", "a", "loss"),
        ("fig10", "b", "cosine"),
        ("fig11", "b", "gradient2_increment"),
        ("fig11", "c", "gradient2"),
        ("fig12", "a", "h_deviation_max"),
        ("fig12", "a", "h_deviation_mean"),
        ("fig12", "b", "h_deviation_sum"),
        ("fig12", "b", "h_deviation_mean_sum"),
        ("fig13", "a", "tail_proxy"),
        ("fig13", "b", "tail_proxy_sum"),
        ("fig13", "c", "misaligned_share"),
    ],
)
@pytest.mark.parametrize("seed", [0, 3])
def test_curves_are_the_results(name, letter, variable, seed):
    inputs = small.run_long()
    values = inputs["descent"][variable]
    tail = list_with_tail(inputs["theory"]).tolist()
    shown = tail if name == "fig13" and letter in "ab" else values.seed.values.tolist()
    axes = panels(drawn_once(name, None, seed))[letter]

    def has(found, expected):
        return any(
            len(one) == len(expected) and np.array_equal(one, expected, equal_nan=True) for one in found
        )

    for one in shown:
        assert has(curves(axes, 1.5 if one == seed else 0.6), values.sel(seed=one).values), one
    assert has(curves(axes, 1.5), values.sel(seed=seed).values) == (seed in shown)


def test_norm_and_cumulative_shares():
    inputs = small.run_long()
    descent, theory = inputs["descent"], inputs["theory"]
    (norm,) = curves(panels(drawn_once("fig10"))["c"], 1.5)
    np.testing.assert_allclose(norm, (descent.norm / theory.norm).isel(seed=0))
    (share,) = curves(panels(drawn_once("fig11"))["a"], 1.5)
    sums = descent.gradient2_sum.isel(seed=0)
    np.testing.assert_allclose(share, sums / sums[-1])


@pytest.mark.parametrize(
    ("name", "letter", "variable", "power"),
    [
        ("fig10", "a", "loss", -1),
        ("fig11", "b", "gradient2_increment", -1),
        ("fig11", "c", "gradient2", -2),
    ],
)
def test_power_laws(name, letter, variable, power):
    x, y = law(panels(drawn_once(name))[letter])
    np.testing.assert_allclose(np.diff(np.log(y)) / np.diff(np.log(x)), power, rtol=1e-9)
    assert y[-1] == pytest.approx(float(small.run_long()["descent"][variable].isel(seed=0)[-1]))


def test_norm_grows_as_half_the_logarithm():
    axes = panels(drawn_once("fig10"))["c"]
    x, y = law(axes)
    np.testing.assert_allclose(np.diff(y) / np.diff(np.log(x)), 0.5, rtol=1e-9)
    assert y[-1] == pytest.approx(curves(axes, 1.5)[0][-1])


def test_letters_labels_and_sizes_of_type(drawn):
    name, figure = drawn
    assert set(panels(figure)) == set(LETTERS[name])
    assert min(text.get_fontsize() for text in texts(figure)) >= 6.5
    for axes in figure.get_axes():
        assert axes.get_xlabel() and axes.get_ylabel()


def assert_readable(figure: Figure) -> None:
    width, height = figure.bbox.width, figure.bbox.height
    for text in texts(figure):
        box = text.get_window_extent()
        assert box.x0 >= -1 and box.x1 <= width + 1, text.get_text()
        assert box.y0 >= -1 and box.y1 <= height + 1, text.get_text()
    assert overlaps(figure) == []


def test_no_text_outside_or_on_another(drawn):
    assert_readable(drawn[1])


@pytest.mark.parametrize("name", LETTERS)
def test_the_same_bytes_twice(name):
    assert pdf(draw(name), PLOTTING) == pdf(draw(name), PLOTTING)


def test_footnotes(drawn):
    _, figure = drawn
    told = footnote(figure)
    assert "d = 16, T = 4, n = 4, tokens of norm about 4, from W = 0 (our choice)" in told
    assert "learning rate 0.001 on Σ|r|²/2" in told
    assert "Thick: seed 0, the first on whose data A1–A4 hold" in told and "hold on 6 of 6 seeds" in told
    assert "Scale" not in told


def test_footnote_of_another_scale_and_seed():
    told = footnote(draw("fig10", seed=4, scale="ci"))
    assert "seed 4, chosen, A1–A4 hold" in told and "Scale ci: smaller than the paper's" in told


def fail_assumptions(inputs, seeds):
    inputs["theory"].holds.loc[{"assumption": "A4", "seed": seeds}] = False
    return inputs


@pytest.mark.parametrize("name", LETTERS)
def test_seeds_that_fail_assumptions(name):
    figure = draw(name, fail_assumptions(small.copy_inputs(), [0, 1]))
    assert "Thick: seed 2, the first on whose data A1–A4 hold" in footnote(figure)
    assert "A1–A4 hold on 4 of 6 seeds" in footnote(figure)
    figure = draw(name, fail_assumptions(small.copy_inputs(), list(range(6))))
    assert "Thick: seed 0, the first, A4 fail: A1–A4 hold on no seed" in footnote(figure)
    assert "seed 1, chosen, A4 fail" in footnote(
        draw(name, fail_assumptions(small.copy_inputs(), [1]), seed=1)
    )
    assert_readable(figure)


@pytest.mark.parametrize("name", LETTERS)
def test_one_seed_whose_rivals_are_all_in_the_support(name):
    inputs = small.copy_inputs()
    whole = [s for s in range(6) if s not in list_with_tail(inputs["theory"])]
    inputs = {role: dataset.sel(seed=whole[:1]) for role, dataset in inputs.items()}
    figure = draw(name, inputs)
    assert_readable(figure)
    if name == "fig13":
        assert f"on 1 of 1 seeds (seed {whole[0]} among them) every rival is a support" in footnote(figure)


@pytest.mark.parametrize("name", LETTERS)
def test_a_vanished_gradient_is_drawn(name):
    inputs = small.copy_inputs()
    late = {"iteration": slice(50, None), "seed": 0}
    for variable in ("loss", "gradient2", "tail_proxy"):
        inputs["descent"][variable].loc[late] = 0.0
    inputs["descent"]["gradient2_increment"].loc[{"doubling": slice(50, None), "seed": 0}] = 0.0
    inputs["descent"]["misaligned_share"].loc[{"seed": 0}] = np.nan
    assert_readable(draw(name, inputs))


def test_without_parameters_the_footnote_says_less():
    inputs = small.copy_inputs()
    del inputs["descent"].attrs["onset_params"]
    assert "learning rate" not in footnote(draw("fig12", inputs))
