"""Guarantees of figures 1 to 7, on small runs of plain gradient descent made here:

- curves carry the numbers of the results, plateaus those of the theory, at their places
- Eq. 10, the flow and Eq. 21 are drawn over the runs, each where the results put it
- every panel has a letter, axes have labels; no text is below 6.5 points, outside the figure or on another
- the footnote states sizes and settings, names what we chose, and warns where the scale is not the paper's
- runs that a scale leaves out leave no trace and no error; the same inputs give the same bytes
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.figures.reading import overlaps, texts
from tests.linattn import synthetic
from tests.linattn.figure_inputs import INPUTS

from onset.papers.linattn.figures.panels import find_typical, format_number, mark_plateaus
from onset.papers.linattn.selection import plateau_snapshots, take_run, take_theory, take_winners
from onset.params.linattn import Figure as FigureSection
from onset.params.linattn import RunFigure

SIZES = {
    "fig1": (7.0, 3.2),
    "fig2": (7.0, 3.2),
    "fig3": (7.0, 5.2),
    "fig4": (7.0, 2.9),
    "fig5": (7.0, 3.1),
    "fig6": (7.0, 3.4),
    "fig7": (7.0, 3.1),
}
LETTERS = {
    "fig1": "abc",
    "fig2": "ab",
    "fig3": "abc",
    "fig4": "abc",
    "fig5": "ab",
    "fig6": "ab",
    "fig7": "abc",
}


def draw(name: str, inputs=None, scale: str = "test") -> Figure:
    width, height = SIZES[name]
    seed = {"seed": 0} if name in ("fig1", "fig3") else {}
    own = (RunFigure if seed else FigureSection)(width=width, height=height, **seed)
    job = synthetic.make_job(name, own, INPUTS[name]() if inputs is None else inputs, scale)
    return import_module(f"onset.papers.linattn.figures.{name}").draw(job)


drawn_once = cache(draw)


@pytest.fixture(scope="module", params=INPUTS)
def drawn(request):
    return request.param, drawn_once(request.param)


def panel(figure: Figure, letter: str):
    return next(a for a in figure.get_axes() if any(t.get_text() == letter for t in a.texts))


def curves(axes, least: int = 20) -> list[np.ndarray]:
    """Values of every line of more than `least` points."""
    return [np.asarray(line.get_ydata()) for line in axes.lines if len(line.get_ydata()) > least]


def levels(axes) -> list[float]:
    return [float(line.get_ydata()[0]) for line in axes.lines if line.get_label() == "_plateau"]


def has_curve(axes, values) -> bool:
    return any(len(c) == len(values) and np.array_equal(c, values) for c in curves(axes))


def shown(figure: Figure) -> list:
    """Texts that are drawn; ticks of the second axes on top that lie beyond their ends are not."""
    found, hidden = texts(figure), set()
    for top in (child for axes in figure.get_axes() for child in axes.child_axes):
        low, high = sorted(top.get_xlim())
        for tick in [*top.xaxis.get_major_ticks(), *top.xaxis.get_minor_ticks()]:
            if not low <= tick.get_loc() <= high:
                hidden |= {id(tick.label1), id(tick.label2)}
    return [text for text in found if id(text) not in hidden]


def footnote(figure: Figure) -> str:
    return figure.texts[-1].get_text().replace("\n", " ").replace("\xa0", " ")


def test_letters_labels_and_sizes_of_type(drawn):
    name, figure = drawn
    for letter in LETTERS[name]:
        assert panel(figure, letter)
    assert min(text.get_fontsize() for text in texts(figure)) >= 6.5
    for axes in figure.get_axes():
        if axes.lines and axes.axison:
            assert axes.get_xlabel()


def test_no_text_outside_or_on_another(drawn):
    _, figure = drawn
    width, height = figure.bbox.width, figure.bbox.height
    kept = shown(figure)
    for text in kept:
        box = text.get_window_extent()
        assert box.x0 >= -1 and box.x1 <= width + 1, text.get_text()
        assert box.y0 >= -1 and box.y1 <= height + 1, text.get_text()
    names = {text.get_text() for text in kept}
    assert [pair for pair in overlaps(figure) if set(pair) <= names] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fig1", ["D = 2", "N = 20", "our addition", "learning rate 0.03"]),
        ("fig2", ["drawn for D = 3", "H = 3", "R = 1"]),
        ("fig3", ["P = 500", "our choice", "is not known", "first convention"]),
        ("fig4", ["R divides m", "H = 5"]),
        ("fig5", ["our choice", "P = 100", "compare shapes"]),
        ("fig6", ["is not known", "our choice"]),
        ("fig7", ["our choice", "n + 1 tokens", "Eq. 23"]),
    ],
)
def test_footnote(name, words):
    figure = drawn_once(name)
    for word in words:
        assert word in footnote(figure)
    assert "smaller than the paper's" in footnote(figure)
    assert "smaller than the paper's" not in footnote(draw(name, scale="paper"))


def test_fig1_theory_over_runs():
    inputs, figure = INPUTS["fig1"](), drawn_once("fig1")
    theory = inputs["theory"].sel(task="base_task").plateau_loss.values[[0, 2]]
    for letter, label in (("a", "merged"), ("b", "mlp")):
        axes, run = panel(figure, letter), take_run(inputs["runs"], label)
        assert all(has_curve(axes, curve) for curve in run.loss.values)
        np.testing.assert_allclose(levels(axes), theory)
        steps = inputs["flow"].time.values / float(run.time_per_epoch)
        inside = (steps > 0) & (steps <= float(run.epoch[-1]))
        assert has_curve(axes, inputs["flow"].loss.sel(run="population").values[0, inside])
    axes, flow = panel(figure, "c"), inputs["flow"]
    for label in ("aligned", "white"):
        run = take_run(inputs["runs"], label)
        assert has_curve(axes, run.loss.values[0])
        inside = (flow.time > 0) & (flow.time <= float(run.epoch[-1] * run.time_per_epoch))
        assert has_curve(axes, flow.sigma_loss.sel(run=label).values[0, inside.values])
    assert not has_curve(axes, take_run(inputs["runs"], "aligned_half").loss.values[0])


def test_fig2_identity():
    axes = panel(drawn_once("fig2"), "b")
    for line in axes.lines:
        np.testing.assert_allclose(line.get_xdata(), line.get_ydata(), atol=1e-12)
    assert sum(len(line.get_xdata()) for line in axes.lines) > 100


def test_fig3_panels():
    inputs, figure = INPUTS["fig3"](), drawn_once("fig3")
    run = take_run(inputs["runs"], "set")
    theory = take_theory(inputs["theory"], run)
    assert all(has_curve(panel(figure, "a"), curve) for curve in run.loss.values)
    np.testing.assert_allclose(levels(panel(figure, "a")), theory.plateau_loss)
    b = panel(figure, "b")
    np.testing.assert_allclose(levels(b), theory.value)
    winners = take_winners(run, theory).sel(seed=0)
    for d in range(2):
        assert has_curve(b, winners.isel(direction=d).values)
        ode = inputs["flow"].ode_value.isel(direction=d).values
        line = next(
            ln for ln in b.lines if len(ln.get_ydata()) == len(ode) and np.allclose(ln.get_ydata(), ode)
        )
        # Where the equation is at v*/2, so is the head.
        half = np.interp(float(theory.value[d]) / 2, ode, line.get_xdata())
        at_half = np.interp(half, run.epoch, winners.isel(direction=d))
        assert abs(at_half / float(theory.value[d]) - 0.5) < 0.05
    maps = [axes for axes in figure.get_axes() if axes.images and axes.get_title()]
    assert len(maps) == len(plateau_snapshots(run, theory, 0)) == 3
    final = maps[-1].images[0].get_array()
    assert final.shape[0] == 3
    # Learned heads first: value, key and query of direction d on the diagonal, near v*.
    np.testing.assert_allclose([final[0, 0], final[0, 2], final[0, 5]], theory.value[0], rtol=0.15)
    np.testing.assert_allclose([final[1, 0], final[1, 3], final[1, 6]], theory.value[1], rtol=0.15)


def test_fig4_marks_multiples_of_the_rank():
    inputs, figure = INPUTS["fig4"](), drawn_once("fig4")
    theory = inputs["theory"].sel(task="square_task").plateau_loss.dropna("plateau").values
    for letter, label, R in (("a", "rank1", 1), ("b", "rank2", 2), ("c", "small4", 4)):
        axes, run = panel(figure, letter), take_run(inputs["runs"], label)
        np.testing.assert_allclose(levels(axes), theory[::R])
        assert all(has_curve(axes, curve) for curve in run.loss.values)


def test_fig5_softmax_over_linear():
    inputs, figure = INPUTS["fig5"](), drawn_once("fig5")
    for letter, model, linear in (("a", "merged", "merged"), ("b", "separate", "set")):
        axes = panel(figure, letter)
        assert has_curve(axes, inputs[model].loss.values[0])
        assert has_curve(axes, take_run(inputs[f"linear_{model}"], linear).loss.values[0])


def test_fig6_draws_every_start_in_order():
    inputs, figure = INPUTS["fig6"](), drawn_once("fig6")
    for letter, model in (("a", "merged"), ("b", "separate")):
        axes = panel(figure, letter)
        shown = [text.get_text() for text in axes.get_legend().get_texts()]
        runs = inputs["runs"]
        starts = sorted(float(s) for s in runs.init_std.values[runs.model.values == model])
        assert shown == [format_number(start) for start in starts]


def test_fig7_levels_are_those_of_the_next_token_loss():
    inputs, figure = INPUTS["fig7"](), drawn_once("fig7")
    theory = inputs["theory"].sel(task="base_task").next_token_plateau_loss.values[:3]
    np.testing.assert_allclose(levels(panel(figure, "a")), theory[[0, -1]])
    for letter in "bc":
        np.testing.assert_allclose(levels(panel(figure, letter)), theory)


@pytest.mark.parametrize(
    ("name", "label"),
    [("fig1", "mlp"), ("fig1", "white"), ("fig4", "rank2"), ("fig6", "merged_1"), ("fig7", "merged")],
)
def test_runs_may_be_left_out(name, label):
    inputs = INPUTS[name]()
    inputs["runs"] = synthetic.without_runs(inputs["runs"], label)
    draw(name, inputs).draw_without_rendering()


def test_seed_that_was_not_trained_is_an_error():
    own = RunFigure(width=7.0, height=5.0, seed=77)
    with pytest.raises(KeyError):
        import_module("onset.papers.linattn.figures.fig3").draw(
            synthetic.make_job("fig3", own, INPUTS["fig3"]())
        )


def test_same_bytes(tmp_path):
    for name in ("a.png", "b.png"):
        draw("fig3").savefig(tmp_path / name, metadata={"Software": None})
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_typical_seed_is_in_the_middle():
    runs = INPUTS["fig3"]()["population"]
    loss = take_run(runs, "paper").loss
    area = [
        np.trapezoid(c[1:], np.log(loss.epoch.values[1:])) for c in loss.transpose("seed", "epoch").values
    ]
    assert np.argsort(area)[2] == find_typical(loss)


def test_crowded_plateau_names_are_left_out():
    axes = Figure().subplots()
    axes.set_ylim(0, 1)
    mark_plateaus(axes, [1.0, 0.5, 0.49, 0.1, np.nan], 6.5)
    assert [text.get_text() for text in axes.texts] == ["0", "1", "3"]
    assert len(levels(axes)) == 4


@pytest.mark.parametrize(
    ("value", "text"), [(0.0314, "0.0314"), (5.57e-6, "5.57·10⁻⁶"), (1e-4, "10⁻⁴"), (0.5, "0.5"), (0, "0")]
)
def test_numbers(value, text):
    assert format_number(value) == text
