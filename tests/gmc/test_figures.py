"""Guarantees of figures 1, 2 and 5 to 8, on small results:

- they draw what the results hold: curves of every seed and their mean, floors, baselines, scores, maps
- the drawn sequence's target is the image of the match's successor up to the noise, and its posterior one
- runs that are short, of one seed, of another depth, or without maps leave no hole
- panels have letters, axes have labels, no type is smaller than 6.5 points and no two texts overlap
- the footnote names setting, seeds and scale; a seed or step that is not there is an error
- two draws give the same bytes
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from tests.figures import reading
from tests.gmc import synthetic_runs

from onset.errors import OnsetError
from onset.measures.emergence import crossing_step
from onset.papers.gmc.figures import fig1, panels
from onset.papers.gmc.selection import loss_progress, random_scores, take_best, take_levels
from onset.params.gmc import Figure, MapFigure, ScoreFigure

SIZES = {
    "fig1": (7.0, 3.3),
    "fig2": (7.0, 3.1),
    "fig5": (7.0, 4.7),
    "fig6": (7.0, 4.2),
    "fig7": (7.0, 3.8),
    "fig8": (7.0, 2.4),
}
LETTERS = {"fig1": 3, "fig2": 3, "fig5": 4, "fig6": 4, "fig7": 2, "fig8": 2}
FIGURES = tuple(SIZES)


@pytest.fixture(scope="module")
def results():
    return {figure: make() for figure, make in synthetic_runs.INPUTS.items()}


@pytest.fixture
def draw(results):
    def drawing(figure: str, own: dict | None = None, **changed):
        width, height = SIZES[figure]
        section = {"width": width, "height": height}
        if figure == "fig7":
            kind = ScoreFigure(**section, **({"before": 100, "after": 200, "seed": 0} | (own or {})))
        elif figure == "fig8":
            kind = MapFigure(**section, **({"step": synthetic_runs.STEPS, "seed": 0} | (own or {})))
        else:
            kind = Figure(**section)
        job = synthetic_runs.make_job(figure, kind, results[figure] | changed)
        return importlib.import_module(f"onset.papers.gmc.figures.{figure}").draw(job)

    return drawing


def panel(figure, letter: str):
    for axes in figure.get_axes():
        if any(t.get_text() == letter and t.get_fontweight() == "bold" for t in axes.texts):
            return axes
    raise AssertionError(f"no panel {letter}")


def letters(figure) -> list[str]:
    found = (t for axes in figure.get_axes() for t in axes.texts if t.get_fontweight() == "bold")
    return sorted(text.get_text() for text in found)


def note(figure) -> str:
    return " ".join(text.get_text() for text in figure.texts).replace("\xa0", " ").replace("\n", " ")


def levels_of(results, role="base"):
    return take_levels(results["fig5"]["floors"], role)


@pytest.mark.parametrize("name", FIGURES)
def test_letters_labels_and_type(name, draw):
    figure = draw(name)
    assert letters(figure) == list("abcdefgh"[: LETTERS[name]])
    assert min(text.get_fontsize() for text in reading.texts(figure)) >= 6.5
    for axes in figure.get_axes():
        if axes.lines and axes.get_visible() and axes.axison:
            row = axes.get_shared_y_axes().get_siblings(axes)
            assert any(other.get_ylabel() for other in row) or axes.images


@pytest.mark.parametrize("name", FIGURES)
def test_no_texts_overlap(name, draw):
    assert reading.overlaps(draw(name)) == []


@pytest.mark.parametrize("name", FIGURES)
def test_two_draws_give_the_same_bytes(name, draw):
    assert reading.pdf(draw(name), reading.PLOTTING) == reading.pdf(draw(name), reading.PLOTTING)


@pytest.mark.parametrize("name", FIGURES)
def test_footnotes_name_setting_and_scale(name, draw):
    text = note(draw(name))
    assert "Scale test: smaller than the paper's settings." in text
    assert "c = 1.1" in text and ("T = 8" in text or "8 tokens" in text)
    assert name == "fig1" or "3 seeds" in text or "Seeds by depth" in text


def test_the_target_is_the_successors_image_up_to_the_noise(results):
    test = results["fig1"]["test"]
    noise = test["targets"].values - fig1.predict_exactly(test)
    # 9,600 normal entries: their deviation is known to within 0.7 %, four times that is 3 %
    assert noise.std() == pytest.approx(0.1, rel=0.03)
    assert np.abs(noise).max() < 0.6
    wrong = test.assign(match=test["match"] + 1)
    assert (test["targets"].values - fig1.predict_exactly(wrong)).std() > 1


def test_the_sequence_that_is_drawn(draw, results):
    test = results["fig1"]["test"]
    sample = fig1.choose_sample(test)
    match = int(test["match"][sample])
    assert 1 <= match <= test.sizes["position"] - 5
    weights = fig1.weigh_candidates(test, sample)
    assert weights.sum() == pytest.approx(1) and weights.argmax() == match
    figure = draw("fig1")
    strips = [image.get_array().ravel() for image in panel(figure, "a").images]
    np.testing.assert_array_equal(np.stack(strips[:-1]), test["tokens"].values[sample].astype(np.float64))
    np.testing.assert_array_equal(strips[-1], test["targets"].values[sample].astype(np.float64))
    bars = panel(figure, "b").patches
    np.testing.assert_allclose([bar.get_height() for bar in bars], weights)
    (entries,) = reading.lines(panel(figure, "c"), "_entries")
    chosen = test["curve"].values
    np.testing.assert_allclose(entries.get_ydata(), test["targets"].values[chosen].ravel(), rtol=1e-6)


def test_a_short_context_can_be_drawn(results):
    test = results["fig1"]["test"]
    cut = test.isel(position=slice(6, None), sample=(test["match"] == 6).values).assign(
        match=("sample", np.zeros(int((test["match"] == 6).sum()), dtype=int))
    )
    assert fig1.choose_sample(cut) == 0


def test_loss_scores_and_lines(draw, results):
    figure, runs, levels = draw("fig2"), results["fig2"]["runs"], levels_of(results)
    loss, scores = panel(figure, "a"), panel(figure, "b")
    seeds = np.stack([line.get_ydata() for line in reading.lines(loss, "_seed")])
    np.testing.assert_array_equal(seeds, runs.test_loss.values.astype(np.float64))
    (mean,) = reading.lines(loss, "_loss")
    np.testing.assert_allclose(mean.get_ydata(), seeds.mean(0))
    for name in ("bayes_loss", "noise_floor", "uniform_loss"):
        (line,) = reading.lines(loss, panels.LEVELS[name][0])
        assert line.get_ydata()[0] == pytest.approx(float(levels[name]))
    for name in ("PTH", "IH_MC", "IH_Repeat"):
        (curve,) = reading.lines(scores, name)
        np.testing.assert_allclose(curve.get_ydata(), take_best(runs[name]).mean("seed"), rtol=1e-6)
        assert curve.get_color() == panels.SCORE_COLOURS[name]
        for kind, printed in (("exact", False), ("printed", True)):
            (line,) = reading.lines(scores, f"_{kind} {name}")
            assert line.get_ydata()[0] == random_scores(8, 8, printed)[name]
    (control,) = reading.lines(scores, "IH_Repeat_control")
    np.testing.assert_allclose(control.get_ydata(), random_scores(8, 8)["IH_Repeat"], rtol=1e-6)


def test_emergence_is_marked_at_the_median(draw, results):
    figure, runs, levels = draw("fig2"), results["fig2"]["runs"], levels_of(results)
    expected = float(np.median(crossing_step(loss_progress(runs.test_loss, levels))))
    for letter in "abc":
        (line,) = reading.lines(panel(figure, letter), "_emergence")
        assert line.get_xdata()[0] == pytest.approx(expected)
    (loss,) = reading.lines(panel(figure, "c"), "loss")
    at = np.interp(expected, loss.get_xdata(), loss.get_ydata())
    assert at == pytest.approx(0.5, abs=0.02)
    assert f"{expected:.0f} (median)" in note(figure)


def test_runs_that_never_drop(draw):
    figure = draw("fig2", runs=synthetic_runs.make_runs(learned=0.0, layers=1))
    assert not reading.lines(panel(figure, "a"), "_emergence")
    assert "never is half-way" in note(figure)


def test_sweeps(draw, results):
    figure = draw("fig5")
    names = [[t.get_text() for t in panel(figure, letter).get_legend().get_texts()] for letter in "abcd"]
    assert names == [
        ["c = 1.05", "c = 1.1", "c = 1.2"],
        ["T = 8", "T = 10"],
        ["d = 16", "d = 20"],
        ["Llama", "GPT-2"],
    ]
    (long,) = reading.lines(panel(figure, "b"), "T = 10")
    expected = 1 - loss_progress(results["fig5"]["long"].test_loss, levels_of(results, "long")).mean("seed")
    np.testing.assert_allclose(long.get_ydata(), expected)
    assert long.get_color() == panels.RUN_COLOURS["long"]
    assert len(reading.lines(panel(figure, "a"), "_emergence")) == 3


def test_a_setting_that_never_drops_has_no_mark(draw):
    figure = draw("fig5", wide=synthetic_runs.make_runs("wide", learned=0.0))
    assert len(reading.lines(panel(figure, "c"), "_emergence")) == 1


def test_depths(draw, results):
    figure = draw("fig6")
    loss = panel(figure, "a")
    for depth, role in (("1", "depth1"), ("2", "base"), ("32", "depth32")):
        (line,) = reading.lines(loss, depth)
        np.testing.assert_allclose(line.get_ydata(), results["fig6"][role].test_loss.mean("seed"), rtol=1e-6)
    (base,) = reading.lines(loss, "2")
    assert base.get_color() == panels.RUN_COLOURS["base"]
    assert "Stopped after 10 steps at this scale: 16, 32 layers." in note(figure)
    assert len(reading.lines(panel(figure, "d"), "_control")) == 6


def test_depths_that_are_all_whole(draw):
    whole = {f"depth{n}": synthetic_runs.make_runs(layers=n, seeds=1) for n in (16, 32)}
    assert "Stopped" not in note(draw("fig6", **whole))


def test_heads_before_and_after(draw, results):
    figure, runs = draw("fig7", {"seed": 1}), results["fig7"]["runs"].sel(seed=1)
    images = [axes.images[0].get_array() for axes in figure.get_axes() if axes.images]
    for row, name in enumerate(("PTH", "IH_MC", "IH_Repeat", "IH_Repeat_control")):
        for column, step in enumerate((100, 200)):
            np.testing.assert_array_equal(images[2 * row + column], runs[name].sel(step=step))
    assert "seed 1" in note(figure)
    assert panel(figure, "a").get_title().startswith("step 100, before the drop")


def test_many_heads_have_no_numbers(draw, results):
    runs = results["fig7"]["runs"]
    wide = runs.isel(head=np.arange(16) % 3).assign_coords(head=np.arange(16))
    written = [t for axes in draw("fig7", runs=wide).get_axes() if axes.images for t in axes.texts]
    assert {t.get_text() for t in written} == {"a", "b"}


def test_maps_and_the_marked_subdiagonals(draw, results):
    figure, runs = draw("fig8"), results["fig8"]["runs"]
    images = [axes for axes in figure.get_axes() if axes.images and axes.get_title(loc="left")]
    drawn = np.stack([axes.images[0].get_array() for axes in images])
    expected = runs.attention.sel(seed=0, map_step=synthetic_runs.STEPS)
    np.testing.assert_array_equal(np.asarray(drawn), expected.values.reshape(-1, 16, 16))
    for axes, offset, first in ((images[0], 1, 1), (images[3], 7, 8)):
        band = np.stack([line.get_xydata() for line in reading.lines(axes, "_band")])
        # The cells (q - offset, q) lie between the two lines, one to the left and one to the right.
        for q in range(first, 16):
            left, right = (np.interp(q, line[:, 1], line[:, 0], left=None) for line in band)
            assert left <= q - offset <= right
        assert {line.get_color() for line in reading.lines(axes, "_band")} == {
            panels.SCORE_COLOURS["PTH" if offset == 1 else "IH_Repeat"]
        }


def test_maps_of_other_shapes(draw):
    one = synthetic_runs.make_runs(layers=1)
    assert letters(draw("fig8", runs=one)) == ["a"]
    deep = draw("fig8", runs=synthetic_runs.make_runs(layers=4))
    assert "layer 3" in {t.get_text() for axes in deep.get_axes() for t in axes.texts}


@pytest.mark.parametrize(
    ("name", "own", "text"),
    (
        ("fig7", {"before": 101}, "step 101 was not evaluated"),
        ("fig8", {"step": 10}, "kept are 0, 400"),
    ),
)
def test_steps_that_are_not_there(name, own, text, draw):
    with pytest.raises(OnsetError, match=text):
        draw(name, own)


@pytest.mark.parametrize("name", ("fig7", "fig8"))
def test_a_seed_that_was_not_trained(name, draw):
    with pytest.raises(KeyError):
        draw(name, {"seed": 99})


@pytest.mark.parametrize("name", ("fig2", "fig5", "fig6"))
def test_one_seed(name, draw, results):
    single = {role: data.isel(seed=[0]) for role, data in results[name].items() if "seed" in data.dims}
    figure = draw(name, **single)
    assert not [line for axes in figure.get_axes() for line in reading.lines(axes, "_seed")]
    assert reading.overlaps(figure) == []
