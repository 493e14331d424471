"""Guarantees of figures 8 to 14, on small results:

- they draw what the results hold: losses, plateaus of Eq. 19, flows, maps, heads, test losses
- panels have letters, axes have labels, no type is smaller than 6.5 points and no two texts overlap
- runs, flows and seeds that a scale leaves out leave no hole, and the order of runs does not matter
- the footnote names the seed, the settings and what is our choice
- two draws give the same bytes
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from tests.figures import reading
from tests.linattn import late_figure_inputs
from tests.linattn.synthetic import make_job, without_runs

from onset.papers.linattn.figures import fig9, rank_runs
from onset.papers.linattn.maps import drop_epochs, early_map
from onset.papers.linattn.selection import measure_contributions, take_run, take_task, take_theory
from onset.params.linattn import Figure, RunFigure

SIZES = {
    "fig8": (7.0, 3.8),
    "fig9": (7.0, 4.0),
    "fig10": (7.0, 4.2),
    "fig11": (7.0, 4.4),
    "fig12": (7.0, 4.4),
    "fig13": (7.0, 2.2),
    "fig14": (7.0, 4.4),
}
LETTERS = {"fig8": 4, "fig9": 5, "fig10": 3, "fig11": 6, "fig12": 6, "fig13": 3, "fig14": 4}
FIGURES = tuple(SIZES)


@pytest.fixture(scope="module")
def results():
    return {figure: make() for figure, make in late_figure_inputs.INPUTS.items()}


@pytest.fixture
def draw(results):
    def drawing(figure: str, seed: int = 0, **changed):
        width, height = SIZES[figure]
        single = figure not in ("fig8", "fig13")
        size = {"width": width, "height": height}
        own = RunFigure(**size, seed=seed) if single else Figure(**size)
        job = make_job(figure, own, results[figure] | changed)
        return importlib.import_module(f"onset.papers.linattn.figures.{figure}").draw(job)

    return drawing


def letters(figure) -> list[str]:
    return sorted(
        text.get_text()
        for axes in figure.get_axes()
        for text in axes.texts
        if len(text.get_text()) == 1 and text.get_fontweight() == "bold"
    )


def panel(figure, letter: str):
    for axes in figure.get_axes():
        if any(t.get_text() == letter and t.get_fontweight() == "bold" for t in axes.texts):
            return axes
    raise AssertionError(f"no panel {letter}")


def note(figure) -> str:
    return " ".join(text.get_text() for text in figure.texts).replace("\xa0", " ").replace("\n", " ")


@pytest.mark.parametrize("name", FIGURES)
def test_letters_labels_and_type(name, draw):
    figure = draw(name)
    assert letters(figure) == list("abcdefgh"[: LETTERS[name]])
    assert min(text.get_fontsize() for text in reading.texts(figure)) >= 6.5
    for axes in figure.get_axes():
        if axes.lines and axes.get_visible() and not axes.images:
            shared = axes.get_shared_y_axes().get_siblings(axes)
            assert any(other.get_ylabel() for other in shared) or name in ("fig8", "fig14")


@pytest.mark.parametrize("name", FIGURES)
def test_no_texts_overlap(name, draw):
    assert reading.overlaps(draw(name)) == []


@pytest.mark.parametrize("name", FIGURES)
def test_two_draws_give_the_same_bytes(name, draw):
    assert reading.pdf(draw(name), reading.PLOTTING) == reading.pdf(draw(name), reading.PLOTTING)


@pytest.mark.parametrize("name", FIGURES)
def test_footnotes_say_what_is_chosen(name, draw):
    text = note(draw(name))
    assert "Scale test: smaller than the paper's settings." in text
    assert "our choice" in text or "our own draws" in text or "as in the paper" in text
    if name not in ("fig8", "fig13"):
        assert "seed 0" in text


@pytest.mark.parametrize("name", ("fig8", "fig9", "fig11", "fig13"))
def test_order_of_runs_does_not_matter(name, draw, results):
    runs = results[name]["runs"]
    backwards = draw(name, runs=runs.isel(run=slice(None, None, -1)))
    for one, other in zip(draw(name).get_axes(), backwards.get_axes(), strict=True):
        assert one.get_title(loc="left") == other.get_title(loc="left")
        assert len(one.lines) == len(other.lines)


def test_high_dimensions(draw, results):
    figure = draw("fig8")
    titles = [axes.get_title(loc="left") for axes in figure.get_axes()]
    assert titles == ["ATTN_M, D = 4", "ATTN_M, D = 5", "ATTN_S, D = 4", "ATTN_S, D = 5"]
    axes, runs = panel(figure, "d"), results["fig8"]["runs"]
    run = take_run(runs, "another_separate")
    losses = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) == run.sizes["epoch"]]
    np.testing.assert_array_equal(np.stack(losses), run.loss.values)
    levels = take_theory(results["fig8"]["theory"], run).plateau_loss.values
    drawn = sorted((line.get_ydata()[0] for line in reading.lines(axes, "_plateau")), reverse=True)
    reached = levels > float(run.loss.min())
    np.testing.assert_allclose(drawn, levels[reached | (np.arange(6) == 5)])
    (merged,) = [panel(figure, "a")]
    assert len(reading.lines(merged, "_plateau")) == 2


def test_high_dimension_of_one_size(draw, results):
    runs = without_runs(results["fig8"]["runs"], "another_separate", "merged32")
    titles = [axes.get_title(loc="left") for axes in draw("fig8", runs=runs).get_axes()]
    assert titles == ["ATTN_M, D = 4", "ATTN_S, D = 4"]


def test_weights_of_merged_attention(draw, results):
    figure, runs = draw("fig9"), results["fig9"]["runs"]
    run = take_run(runs, "merged").sel(seed=0)
    expected = take_theory(results["fig9"]["theory"], run)
    a, b, c, d = (panel(figure, letter) for letter in "abcd")
    (first,) = reading.lines(a, "$A_{11}$")
    np.testing.assert_array_equal(first.get_ydata(), run.A_diagonal.isel(direction=0).values)
    assert len(reading.lines(a, "_flow")) == 2
    (points,) = reading.lines(b, "$\\Lambda^2$, set")
    A = run.A.values.astype(np.float64)
    cosine = (A * early_map(expected).values).sum((1, 2)) / np.linalg.norm(A, axis=(1, 2))
    np.testing.assert_allclose(points.get_ydata(), cosine, rtol=1e-12)
    assert reading.lines(b, "optimal map, population")
    for axes in (c, d):
        assert len([line for line in axes.lines if line.get_label().startswith("head")]) == 4
    late = [axes.images[0].get_array() for axes in figure.get_axes() if axes.images]
    np.testing.assert_allclose(late[1], A[-1], rtol=1e-12)
    np.testing.assert_allclose(late[3], np.diag(expected.late_map), rtol=1e-12)


def test_white_runs_are_not_what_figure_9_draws(results):
    runs, theory = results["fig9"]["runs"], results["fig9"]["theory"]
    assert {str(run.run.values) for run in fig9.take_pair(runs, theory, 0).values()} == {
        "merged",
        "population",
    }
    with pytest.raises(ValueError, match="not white"):
        fig9.take_pair(without_runs(runs, "merged", "population"), theory, 0)


def test_merged_weights_without_flow_or_population(draw, results):
    flow = results["fig9"]["flow"].isel(seed=slice(1, None))
    assert not reading.lines(panel(draw("fig9", flow=flow), "a"), "_flow")
    runs = without_runs(results["fig9"]["runs"], "population")
    labels = [line.get_label() for line in panel(draw("fig9", runs=runs), "b").lines]
    assert "optimal map, set" in labels and "optimal map, population" not in labels


def test_times_and_maps_after_drops(draw, results):
    figure, inputs = draw("fig10", seed=1), results["fig10"]
    run = take_run(inputs["runs"], "set")
    expected = take_theory(inputs["theory"], run)
    times = drop_epochs(run, expected).sel(seed=1).values
    marked = sorted(line.get_xdata()[0] for line in reading.lines(panel(figure, "a"), "_t"))
    np.testing.assert_allclose(marked, np.sort(times))
    images = [axes.images[0].get_array() for axes in figure.get_axes() if axes.images]
    assert len(images) == 6
    snapshot = int(np.flatnonzero(run.snapshot_epoch.values >= times[0])[0])
    np.testing.assert_array_equal(images[0], run.A.isel(seed=1, snapshot=snapshot).values)
    np.testing.assert_allclose(images[3], np.diag(np.where(np.arange(2) < 2, expected.late_map, 0)))
    heads = measure_contributions(run).isel(seed=1).transpose("snapshot", "head", "direction")
    np.testing.assert_allclose(images[4], heads.values[snapshot])


def test_scalar_equation_is_laid_over_at_half_of_its_value(draw, results):
    axes = panel(draw("fig10", seed=1), "b")
    (curve,) = reading.lines(axes, "Eq. 21")
    v = max(
        (line for line in axes.lines if line.get_label().startswith("head")),
        key=lambda line: np.interp(np.median(curve.get_xdata()), line.get_xdata(), line.get_ydata()),
    )
    star = float(take_task(results["fig10"]["theory"], "base_task").value[0])
    at = [np.interp(0.5 * star, *(line.get_ydata(), line.get_xdata())) for line in (curve,)]
    # By A_dd at an eighth of its optimum: as good as a head is alone.
    assert np.interp(at[0], v.get_xdata(), v.get_ydata()) == pytest.approx(0.5 * star, rel=0.1)


def test_a_direction_that_is_not_learned(draw, results):
    runs = results["fig10"]["runs"].copy(deep=True)
    runs.A_diagonal.values[..., 1] = 0.0
    figure = draw("fig10", runs=runs)
    assert "not learned" in {text.get_text() for axes in figure.get_axes() for text in axes.texts}
    assert len([axes for axes in figure.get_axes() if axes.images]) == 3


@pytest.mark.parametrize(("name", "seed"), (("fig11", 0), ("fig12", 1)))
def test_ranks(name, seed, draw, results):
    figure, runs = draw(name, seed=seed), results[name]["runs"]
    for column, label in enumerate(("rank2", "rank3", "rank4")):
        run = take_run(runs, label).sel(seed=seed)
        upper, lower = panel(figure, "abc"[column]), panel(figure, "def"[column])
        assert upper.get_title(loc="left") == f"R = {column + 2}"
        (loss,) = reading.lines(upper, "loss")
        np.testing.assert_array_equal(loss.get_ydata(), run.loss.values)
        assert len(reading.lines(upper, "_plateau")) == 5
        drawn = np.stack([line.get_ydata() for line in reading.lines(lower, "_head")])
        np.testing.assert_array_equal(drawn, np.abs(run.v.transpose("head", "epoch").values))
        # The flow holds seed 0 alone.
        assert bool(reading.lines(upper, "flow")) == (seed == 0)
        assert len(reading.lines(lower, "_flow")) == (3 if seed == 0 else 0)
    assert ("exact population flow" in note(figure)) == (seed == 0)


def test_labels_of_near_values_keep_apart():
    found = rank_runs.spread(np.array([2.1, np.nan, 2.0, 1.0]), 0.3)
    np.testing.assert_allclose(found, [2.3, np.nan, 2.0, 1.0])


def test_repeated_eigenvalues(draw, results):
    figure, runs = draw("fig13"), results["fig13"]["runs"]
    titles = [axes.get_title(loc="left") for axes in figure.get_axes()]
    assert titles == ["R = 1", "R = 2", "R = 4"]
    axes = panel(figure, "b")
    run = take_run(runs, "rank2")
    losses = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) == run.sizes["epoch"]]
    np.testing.assert_array_equal(np.stack(losses), run.loss.values)
    levels = take_theory(results["fig13"]["theory"], run).plateau_loss.values
    np.testing.assert_allclose([line.get_ydata()[0] for line in reading.lines(axes, "_plateau")], levels)


def test_mixtures(draw, results):
    figure, inputs = draw("fig14", seed=1), results["fig14"]
    theory = take_task(inputs["theory"], "white_task")
    for letter, share in zip("abcd", late_figure_inputs.SHARES, strict=True):
        axes = panel(figure, letter)
        assert axes.get_title(loc="left") == f"p = {share:g}"
        (training,) = reading.lines(axes, "training")
        np.testing.assert_array_equal(
            training.get_ydata(), inputs["runs"].loss.sel(share=share, seed=1).values
        )
        assert len(reading.lines(axes, "_seed")) == 3
        assert len(reading.lines(axes, "_known")) == (2 if share in (0, 1) else 0)
    known = {line.get_ydata()[0] for line in reading.lines(panel(figure, "a"), "_known")}
    assert known == {float(theory.in_weight_floor), float(theory.in_weight_in_context_loss)}


def test_mixture_of_one_share(draw, results):
    figure = draw("fig14", runs=results["fig14"]["runs"].sel(share=[0.2]))
    assert letters(figure) == ["a"]


@pytest.mark.parametrize("name", ("fig9", "fig10", "fig11", "fig14"))
def test_a_seed_that_was_not_trained(name, draw):
    with pytest.raises(KeyError):
        draw(name, seed=99)
