"""Guarantees of the curves of all figures but 6 and 7, on small results:

- they draw what the results hold: curves of every seed, one of them thick, ends of stages, references
- acquired groups are ringed, best steps and nearest references marked where they are
- heads of figure 8 stand in the order of the groups that they end on, in every seed
- runs of one seed, of other lengths or numbers of heads, and without stages leave no hole
- panels have letters, axes have labels, no type is smaller than 6.5 points and no two texts overlap
- the footnote names chain, run, seeds and scale; a run, seed or step that is not there is an error
- two draws give the same bytes
"""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from tests.figures import reading
from tests.sparse.drawing import (
    CURVES,
    EVERY_CODE,
    FIGURES,
    LETTERS,
    RUNS,
    draw,
    drawn,
    letters,
    make_inputs,
    note,
    panel,
)

from onset.errors import OnsetError
from onset.measures.group_mass import acquisition_steps
from onset.papers.sparse.figures import fig5, fig8, panels
from onset.papers.sparse.selection import (
    best_steps,
    measure_excess,
    nearest_reference,
    order_by_size,
    stage_ends,
    take_KL,
    take_mass,
    take_run,
)
from onset.plotting.style import HEADS


@pytest.mark.parametrize("name", FIGURES)
def test_letters_labels_and_type(name):
    figure = drawn(name)
    assert letters(figure) == LETTERS[name]
    assert min(text.get_fontsize() for text in reading.texts(figure)) >= 6.5 - 1e-9
    for axes in figure.get_axes():
        if axes.lines and axes.axison and not axes.images:
            row = axes.get_shared_y_axes().get_siblings(axes)
            assert any(other.get_ylabel() for other in row) or not axes.yaxis.get_tick_params()["labelleft"]


@pytest.mark.parametrize("name", FIGURES)
def test_no_texts_overlap(name):
    assert reading.overlaps(drawn(name)) == []


@pytest.mark.parametrize("name", EVERY_CODE)
def test_two_draws_give_the_same_bytes(name):
    assert reading.pdf(draw(name), reading.PLOTTING) == reading.pdf(draw(name), reading.PLOTTING)


@pytest.mark.parametrize("name", FIGURES)
def test_footnotes_name_setting_and_scale(name):
    text = note(drawn(name))
    assert "Scale test: smaller than the paper's settings." in text
    assert "d = 20, T = 10" in text and "batch 128 (authors: 3000)" in text and "b₀ is inferred" in text


@pytest.mark.parametrize("name", EVERY_CODE)
def test_one_seed(name):
    single = {role: data.isel(seed=[0]) for role, data in make_inputs(name).items()}
    figure = draw(name, **single)
    assert not [line for axes in figure.get_axes() for line in reading.lines(axes, "_seed")]
    assert reading.overlaps(figure) == []


@pytest.mark.parametrize("name", EVERY_CODE)
def test_a_seed_that_was_not_trained(name):
    with pytest.raises(KeyError):
        draw(name, {"seed": 99})


@pytest.mark.parametrize("name", ("fig1", "fig2", "fig3", "fig8", "fig10"))
def test_a_run_that_is_not_there(name):
    with pytest.raises(KeyError):
        draw(name, {"run": "no such run"})


@pytest.mark.parametrize("name", ("fig1", "fig2"))
def test_a_step_without_maps(name):
    with pytest.raises(OnsetError, match="no attention maps of step 10 of run main; kept are 0"):
        draw(name, {"steps": (0, 10)})


@pytest.mark.parametrize("name", ["fig1", "fig3", *CURVES])
def test_divergences_and_ends_of_stages(name):
    figure = draw(name, {"seed": 0} if name in ("fig13", "fig14") else {"seed": 1})
    seed = 0 if name in ("fig13", "fig14") else 1
    run = take_run(make_inputs(name)["runs"], RUNS.get(name, "main"))
    axes = panel(figure, {"fig1": "c", "fig3": "a"}.get(name, "b"))
    KL = take_KL(run)
    for prefix in (1, 2, 3):
        (thick,) = reading.lines(axes, f"{prefix}")
        np.testing.assert_array_equal(thick.get_ydata(), KL.sel(seed=seed, prefix=prefix))
        np.testing.assert_array_equal(thick.get_xdata(), run["step"])
        assert thick.get_color() == panels.GROUPS[prefix - 1]
    assert len(reading.lines(axes, "_seed")) == 3 * (run.sizes["seed"] - 1)
    ends = [line.get_xdata()[0] for line in reading.lines(axes, "_stage")]
    assert ends == stage_ends(run, seed) and len(ends) == 2
    for end, prefix in zip(ends, (1, 2), strict=True):
        curve = KL.sel(seed=seed, prefix=prefix)
        after = curve.where(curve["step"] >= curve.idxmin("step"), drop=True)
        share = np.interp(end, curve["step"], curve) - float(curve.min())
        assert share / float(after.max() - curve.min()) == pytest.approx(0.1)


def test_excess_loss():
    run = take_run(make_inputs("fig10")["runs"], "main")
    (thick,) = reading.lines(panel(drawn("fig10"), "a"), "_loss")
    expected = run.loss.sel(seed=0).astype(np.float64) - float(run.teacher_loss.sel(seed=0))
    np.testing.assert_allclose(thick.get_ydata(), expected, rtol=1e-6)


def test_a_run_without_stages():
    still = make_inputs("fig10")["runs"].copy(deep=True)
    still["KL"][:] = still.KL.isel(step=[0]).values
    figure = draw("fig10", runs=still)
    assert not reading.lines(panel(figure, "b"), "_stage")
    assert stage_ends(take_run(still, "main"), 0) == []


def test_references_and_the_nearest():
    run = take_run(make_inputs("fig3")["runs"], "main")
    axes = panel(drawn("fig3"), "b")
    KL = take_KL(run, "context")
    for number, context in enumerate((2, 4, 6)):
        (thick,) = reading.lines(axes, f"{context}")
        np.testing.assert_array_equal(thick.get_ydata(), KL.sel(seed=0, context=context))
        assert thick.get_color() == panels.GROUPS[number]
    strips = [patch for patch in axes.patches if patch.get_label() == "_nearest"]
    nearest = nearest_reference(KL.sel(seed=0), "context")
    switches = KL["step"].values[1:][np.diff(nearest.values) != 0]
    begins = [patch.get_x() for patch in strips]
    np.testing.assert_array_equal(begins, [0, *switches])
    assert strips[-1].get_x() + strips[-1].get_width() == float(KL["step"][-1])
    assert [patch.get_facecolor()[:3] for patch in strips] == [to_rgb(c) for c in panels.GROUPS[:3]]


def test_sweeps_and_rings():
    figure = drawn("fig4")
    names = [[t.get_text() for t in panel(figure, x).get_legend().get_texts()] for x in "abcd"]
    assert names[0] == ["Xavier", "10⁻³", "10⁻⁶", "10⁻⁹", "0"]
    assert names[1] == ["m = 1", "m = 1.3", "m = 1.5"]
    assert names[2][:2] == ["no norm", "no residual"] and "5 heads" in names[3]
    run = take_run(make_inputs("fig4")["importance"], "m1.5")
    (curve,) = reading.lines(panel(figure, "b"), "m = 1.5")
    np.testing.assert_array_equal(curve.get_ydata(), measure_excess(run).sel(seed=0))
    rings = reading.lines(panel(figure, "b"), "_acquired")[2]
    np.testing.assert_array_equal(rings.get_xdata(), acquisition_steps(take_mass(run)).sel(seed=0))
    on_curve = np.interp(rings.get_xdata(), curve.get_xdata(), curve.get_ydata())
    np.testing.assert_allclose(rings.get_ydata(), on_curve)
    stalled = reading.lines(panel(figure, "a"), "_acquired")[-1]
    assert len(stalled.get_xdata()) == 1


def test_sizes_and_best_steps():
    runs, figure = make_inputs("fig5")["runs"], draw("fig5", {"seed": 2})
    assert order_by_size(runs) == ["n50", "n400", "n4000", "online"]
    ends = [t for t in panel(figure, "a").texts if t.get_fontweight() != "bold"]
    assert [t.get_text() for t in ends] == ["N = 50", "N = 400", "N = 4000", "fresh"]
    heights = [t.xy[1] for t in ends]
    assert (np.diff(heights) <= -fig5.APART + 1e-9).all()
    (best,) = reading.lines(panel(figure, "a"), "N = 400")
    excess = measure_excess(take_run(runs, "n400")).sel(seed=2).values
    np.testing.assert_array_equal(best.get_ydata(), np.minimum.accumulate(excess))
    for letter, label in zip("bcd", ("n50", "n400", "n4000"), strict=True):
        (line,) = reading.lines(panel(figure, letter), "_best")
        assert line.get_xdata()[0] == float(best_steps(take_run(runs, label)).sel(seed=2))


@pytest.mark.parametrize("count", (1, 2))
def test_fewer_sizes(count):
    figure = draw("fig5", {"runs": ("n50", "online")[:count]})
    assert letters(figure) == "abc"[: count + 1]


def test_heads_in_the_order_of_their_groups():
    run = take_run(make_inputs("fig8")["runs"], "main")
    figure = draw("fig8", {"seed": 1})
    mass, alignment = take_mass(run), run.value_alignment
    for column, letter in enumerate("abc"):
        axes = panel(figure, letter)
        head = (column - 1) % 3  # seed 1 has its heads turned by one
        assert axes.get_title() == f"head {head + 1}, ends on I({column + 1})"
        assert axes.title.get_color() == HEADS[head]
        (thick,) = reading.lines(axes, f"{column + 1}")
        expected = mass.sel(seed=1).isel(head=head, group=column)
        np.testing.assert_allclose(thick.get_ydata(), expected.clip(min=fig8.LEAST_MASS))
        thin = [line.get_ydata()[-1] for line in reading.lines(axes, "_seed")]
        assert np.mean(np.array(thin) > 0.7) == pytest.approx(1 / 3)
        (lower,) = reading.lines(panel(figure, "def"[column]), "2")
        np.testing.assert_array_equal(
            lower.get_ydata(), alignment.sel(seed=1).isel(head=head, group=1).astype(np.float64)
        )


def test_heads_that_share_a_group_stay_in_order():
    runs = make_inputs("fig8")["runs"].copy(deep=True)
    runs["mass"][..., 1, :] = runs.mass[..., 0, :].values
    assert fig8.order_heads(take_run(runs, "main"), 0) == [0, 1, 2]
